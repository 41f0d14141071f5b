import { html } from './html.ts';

/** A scale of positions beside an image. It's hidden from screen readers, which read the position fields instead. */
export const RULER = html`<ol class="ruler" aria-hidden="true">${[0, 25, 50, 75, 100].map((at) => html`<li>${at}</li>`)}</ol>`;
