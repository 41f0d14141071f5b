// The form above a list that narrows it down. The filter is part of the URL.

import type { KeySummary } from '../../service/store/accounts/keys.ts';
import { type Content, type Html, html } from '../html.ts';
import { type Choice, type Select, selectField } from './fields.ts';

interface FilterForm {
  /** The path of the list. */
  readonly action: string;
  readonly fields: Content;
  readonly button?: string;
}

export function filterForm({ action, fields, button = 'Filter' }: FilterForm): Html {
  return html`<form class="filters" method="get" action="${action}" role="search">
${fields}
<button class="button quiet" type="submit">${button}</button>
</form>`;
}

/** A select whose first choice leaves the list as it is. */
export function filterSelect({ choices, ...rest }: Select): Html {
  return selectField({ ...rest, choices: [['', 'All'], ...choices] });
}

export function keySelect(keys: readonly KeySummary[], chosen: string | undefined): Html {
  const choices = keys.map(({ id, name, lastFour }): Choice => [id, `${name} (…${lastFour})`]);
  return filterSelect({ name: 'key', label: 'Key', choices, chosen });
}

export function dayField(day: string | undefined): Html {
  return html`<div class="field"><label for="day">Day (UTC)</label><input id="day" name="day" type="date" value="${day ?? ''}"></div>`;
}
