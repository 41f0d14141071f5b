// Tabs with code in several languages, built from radio buttons and CSS so that they work without JavaScript.

import type { Snippet } from './browser/snippets.ts';
import { highlight } from './docs/highlight.ts';
import { type Html, html } from './html.ts';

const N8N_HINT = html`<p class="small">Copy this and paste it into the n8n canvas. It becomes a node.</p>`;

/** `id` must be unique within the page. */
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
${snippets.map((snippet) => html`<div class="panel" data-language="${snippet.id}">${codeBlock(snippet.code, snippet.label, snippet.id)}${snippet.id === 'n8n' && N8N_HINT}</div>\n`)}
</fieldset>`;
}

/** The script that handles the button also shows it. */
export function codeBlock(code: string, label: string, language = ''): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${highlight(code, language)}</code></pre><button type="button" class="copy" data-copy hidden>Copy</button></div>`;
}
