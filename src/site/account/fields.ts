// Form fields and formats that the pages share.

import { type Content, type Html, html, withModule } from '../html.ts';

export interface Field {
  readonly name: string;
  /** Set where a page has several fields of the same name. Default: the name. */
  readonly id?: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'search';
  readonly value?: string;
  readonly autocomplete: string;
  readonly hint?: Content;
  /** The fault of the submitted value. */
  readonly fault?: string | undefined;
  readonly required?: boolean;
  readonly maxLength?: number;
}

export function field({ name, label, type = 'text', value = '', autocomplete, hint, fault, ...rest }: Field): Html {
  const id = rest.id ?? name;
  const described = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean);
  return html`<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${
    rest.maxLength !== undefined && html` maxlength="${rest.maxLength}"`
  }${type === 'password' && withModule('show-password.js', html` data-password`)}${rest.required !== false && html` required`}${fault !== undefined && html` aria-invalid="true" autofocus`}${
    described.length > 0 && html` aria-describedby="${described.join(' ')}"`
  }>
${fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>`}
${hint !== undefined && html`<p class="small" id="${id}-hint">${hint}</p>`}
</div>`;
}

/** A value with the text that readers see. */
export type Choice = readonly [value: string, text: string];

export interface Select {
  readonly name: string;
  /** Set where a page has several fields of the same name. Default: the name. */
  readonly id?: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: string | undefined;
}

export function selectField({ name, id = name, label, choices, chosen }: Select): Html {
  const option = ([value, text]: Choice): Html =>
    html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`;
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${name}">${choices.map(option)}</select></div>`;
}

/** An error above a form that was sent. It gets the focus, because screen readers don't announce what is there from the start. */
export function problem(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="problem" role="alert" tabindex="-1" autofocus>${text}</p>`;
}

/** What is wrong with the account, on every page that it concerns. */
export function standingProblem(text: string): Html {
  return html`<p class="problem">${text}</p>`;
}

/** Shows a time to the minute, in UTC. */
export function time(iso: string | null): Html {
  if (iso === null) return html`never`;
  return timeElement(iso, iso.slice(0, 16).replace('T', ' '));
}

/** To the second, in UTC, for logs. */
export function secondsTime(iso: string): Html {
  return timeElement(iso, iso.slice(0, 19).replace('T', ' '));
}

/** A day of the current billing period, without the year. */
export function day(at: Date): Html {
  return timeElement(at.toISOString(), DAY.format(at));
}

/** Its title shows the time in the visitor's zone. */
export function timeElement(iso: string, shown: string): Html {
  return withModule('local-times.js', html`<time datetime="${iso}">${shown}</time>`);
}

const DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });
const NUMBER = new Intl.NumberFormat('en');

export function count(value: number): string {
  return NUMBER.format(value);
}
