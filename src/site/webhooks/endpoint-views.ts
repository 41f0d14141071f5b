// The views of webhook endpoints.

import { MAX_ENDPOINTS } from '../../service/webhooks/webhook-changes.ts';
import { WEBHOOK_EVENTS, type WebhookEndpoint, type WebhookSecret } from '../../service/store/webhooks/webhook.ts';
import { type Choice, field, selectField, time } from '../account/fields.ts';
import { form } from '../account/frame.ts';
import { keyBlock } from '../account/key-block.ts';
import { OVERLAPS } from '../account/key-changes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import { entryList } from '../tables.ts';
import { factsList } from '../tiles.ts';

const PATH = '/dashboard/webhooks';

/** The fields as typed. */
export interface EndpointForm {
  readonly url: string;
  readonly events: readonly string[];
  readonly fault?: string;
}

export function endpointTable(endpoints: readonly WebhookEndpoint[]): Html {
  if (endpoints.length === 0) return html`<p>No webhook endpoints yet. Add one below, then send it a test event.</p>`;
  return entryList(
    'Webhook endpoints',
    [
      { label: 'URL', place: 'lead', isName: true },
      { label: 'Events', place: 'below', isName: true },
      { label: 'Status', place: 'end' },
      { label: 'Created (UTC)', place: 'below-end' },
    ],
    endpoints.map((endpoint) => ({
      href: `${PATH}/${endpoint.id}`,
      cells: [endpoint.url, eventsOf(endpoint), endpointState(endpoint), time(endpoint.createdAt)],
    })),
  );
}

function eventsOf({ events }: WebhookEndpoint): string {
  return events.length === 0 ? 'all' : events.join(', ');
}

export function endpointState({ isEnabled, failingSince }: WebhookEndpoint): Html {
  if (!isEnabled) return html`<span class="state bad">disabled</span>`;
  return failingSince === undefined
    ? html`<span class="state good">enabled</span>`
    : html`<span class="state warn">failing</span>`;
}

export function createSection(visit: SignedInVisit, typed: EndpointForm): Html {
  return html`<section class="card" aria-labelledby="create">
<h2 id="create">Add endpoint</h2>
${form(visit, PATH, endpointFields(typed, `A public http or https URL. Up to ${MAX_ENDPOINTS} endpoints.`, 'Add endpoint'), 'stacked')}
</section>`;
}

export function editSection(visit: SignedInVisit, { id }: WebhookEndpoint, typed: EndpointForm): Html {
  const hint = 'A public http or https URL. Waiting webhooks go to the new one.';
  return html`<section class="card" aria-labelledby="edit">
<h2 id="edit">URL and events</h2>
${form(visit, `${PATH}/${id}`, endpointFields(typed, hint, 'Save'), 'stacked')}
</section>`;
}

function endpointFields({ url, events, fault }: EndpointForm, hint: string, button: string): Html {
  return html`${field({ name: 'url', label: 'URL', value: url, autocomplete: 'off', hint, fault, maxLength: 2_048 })}
<fieldset class="choices"><legend>Events</legend>
${WEBHOOK_EVENTS.map(
  (event) =>
    html`<label><input type="checkbox" name="${event}"${events.includes(event) && html` checked`}> <code>${event}</code></label>\n`,
)}<p class="small">None selected: all of them, including future ones.</p>
</fieldset>
<p class="actions"><button class="button quiet" type="submit">${button}</button></p>`;
}

export function endpointFacts(endpoint: WebhookEndpoint): Html {
  const { id, url, createdAt, failingSince, disabledAt, disabledReason } = endpoint;
  const facts: readonly (readonly [string, Html | string])[] = [
    ['URL', html`<code>${url}</code>`],
    ['Events', eventsOf(endpoint)],
    ['Status', endpointState(endpoint)],
    ...(failingSince === undefined ? [] : [['Failing since (UTC)', time(failingSince)] as const]),
    ...(disabledAt === undefined ? [] : [['Disabled (UTC)', time(disabledAt)] as const]),
    ['Created (UTC)', time(createdAt)],
    ['ID', html`<code>${id}</code>`],
  ];
  const reason =
    disabledReason === 'gone'
      ? 'The endpoint responded with 410 (Gone), so it was disabled.'
      : disabledReason === 'failing' && 'The endpoint accepted nothing for five days, so it was disabled.';
  return html`${factsList(facts)}
${reason && html`<p class="caution">${reason}</p>`}`;
}

export function secretSection(
  visit: SignedInVisit,
  endpoint: WebhookEndpoint,
  secrets: readonly WebhookSecret[],
): Html {
  return html`<section class="card" aria-labelledby="secret">
<h2 id="secret">Signing secret</h2>
<p>Webhooks to this endpoint are signed with this secret. Your server needs it to verify them.</p>
${secretBlocks(secrets)}
${rotateForm(visit, `${PATH}/${endpoint.id}/rotate`)}
</section>`;
}

/** The section for the secret of `webhook_url` in requests. */
export function accountSecretSection(visit: SignedInVisit, secrets: readonly WebhookSecret[]): Html {
  return html`<section class="card" aria-labelledby="account-secret">
<h2 id="account-secret">Secret for <code>webhook_url</code></h2>
<p>Webhooks to a URL that a request names are signed with this secret of your account.</p>
${secretBlocks(secrets)}
${rotateForm(visit, `${PATH}/secret/rotate`)}
</section>`;
}

function secretBlocks(secrets: readonly WebhookSecret[]): Html {
  const [current, ...old] = secrets;
  return html`<details class="as-table"><summary>Show secret</summary>
${current && keyBlock(current.secret, 'Signing secret')}
${old.map(({ expiresAt }) => html`<p class="small">The previous secret is used too until ${time(expiresAt ?? null)} UTC.</p>`)}
</details>`;
}

function rotateForm(visit: SignedInVisit, action: string): Html {
  const choices = Object.entries(OVERLAPS).map(([value, { label }]): Choice => [value, label]);
  return html`<details class="as-table"><summary>Rotate secret</summary>
<p>Creates a new secret. Until the old one expires, webhooks are signed with both.</p>
${form(
  visit,
  action,
  html`${selectField({ name: 'overlap', label: 'Old secret expires', choices, chosen: 'day' })}
<p class="actions"><button class="button quiet" type="submit">Rotate secret</button></p>`,
  'stacked',
)}</details>`;
}

export function dangerSections(visit: SignedInVisit, { id, isEnabled }: WebhookEndpoint): Html {
  const submit = (name: string, label: string, className: string): Html =>
    form(visit, `${PATH}/${id}/${name}`, html`<button class="button ${className}" type="submit">${label}</button>`);
  const disable = html`<details class="as-table"><summary>Disable this endpoint</summary>
<p>Nothing is sent to it until you enable it again. Waiting deliveries end.</p>
${submit('disable', 'Disable endpoint', 'quiet')}
</details>`;
  return html`<section aria-labelledby="change">
<h2 id="change">Disable or delete</h2>
${isEnabled ? disable : submit('enable', 'Enable endpoint', '')}
<details class="twice"><summary>Delete this endpoint</summary>
<p>Waiting deliveries end. This can’t be undone.</p>
${submit('delete', 'Delete endpoint', 'danger')}
</details>
</section>`;
}
