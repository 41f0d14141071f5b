// A number field with the limits of the API.

import { type Html, html } from '../html.ts';

interface NumberSchema {
  readonly type: 'integer' | 'number';
  readonly minimum?: number;
  readonly maximum?: number;
}

/** `when` names the condition under which the field is shown. */
export function numberField(
  label: string,
  name: string,
  { type, minimum = 0, maximum }: NumberSchema,
  { when, placeholder = '' }: { readonly when?: string; readonly placeholder?: string } = {},
): Html {
  const step = type === 'integer' ? '1' : 'any';
  return html`<label${when && html` data-when="${when}" hidden`}>${label} <input type="number" name="${name}" min="${minimum}"${maximum !== undefined && html` max="${maximum}"`} step="${step}" inputmode="${type === 'integer' ? 'numeric' : 'decimal'}" placeholder="${placeholder}"></label>`;
}
