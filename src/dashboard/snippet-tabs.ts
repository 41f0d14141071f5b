// Code in several languages, one shown at a time. Radio buttons and CSS do it, so it works without a script.

import type { Snippet } from './browser/snippets.ts';
import { type Html, html } from './html.ts';

/** `id` tells the groups of one page apart. */
export function snippetTabs(id: string, legend: string, snippets: readonly Snippet[]): Html {
  return html`<fieldset class="tabs" data-snippets="${id}">
<legend class="visually-hidden">${legend}</legend>
${snippets.map(
  (
    snippet,
    index,
  ) => html`<input type="radio" class="visually-hidden" name="tab-${id}" id="tab-${id}-${snippet.id}"${index === 0 && html` checked`}>
<label for="tab-${id}-${snippet.id}">${snippet.label}</label>
`,
)}
${snippets.map((snippet) => html`<div class="panel" data-language="${snippet.id}">${codeBlock(snippet.code, snippet.label)}</div>\n`)}
</fieldset>`;
}

/** The button appears with the script that makes it work. */
export function codeBlock(code: string, label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre><button type="button" class="copy" data-copy hidden>Copy</button></div>`;
}
