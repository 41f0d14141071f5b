import { type Html, html } from '../html.ts';

/** Shows a new key with a button to copy it. */
export function keyBlock(key: string, label: string): Html {
  return html`<div class="code new-key"><pre tabindex="0" role="group" aria-label="${label}"><code>${key}</code></pre><button class="copy" type="button" data-copy hidden>Copy</button></div>`;
}
