import { html } from './html.ts';

/** Positions from top to bottom, beside a picture. Those who cannot see it have the numbers in the fields. */
export const RULER = html`<ol class="ruler" aria-hidden="true">${[0, 25, 50, 75, 100].map((at) => html`<li>${at}</li>`)}</ol>`;
