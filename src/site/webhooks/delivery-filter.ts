// The filter of webhook deliveries, which is part of the URL, and the form that sends failed ones again.

import { SENT_EVENTS } from '../../service/api/webhook-schemas.ts';
import { MAX_SENT_TOGETHER } from '../../service/webhooks/webhook-changes.ts';
import type { DeliveryFilter, WebhookDelivery, WebhookEndpoint } from '../../service/store/webhooks/webhook.ts';
import { type Choice, count } from '../account/fields.ts';
import { filterForm, filterSelect } from '../account/filter-form.ts';
import { form } from '../account/frame.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';

const STATUSES: Readonly<Record<WebhookDelivery['status'], string>> = {
  succeeded: 'Succeeded',
  pending: 'Waiting or retrying',
  failed: 'Failed',
};

/** An unknown value counts as none. */
export function deliveryFilterOf(valueOf: (name: string) => string | undefined): DeliveryFilter {
  const [event, status] = [valueOf('event'), valueOf('status') ?? ''];
  return {
    endpointId: valueOf('endpoint'),
    type: SENT_EVENTS.find((known) => known === event),
    status: Object.hasOwn(STATUSES, status) ? (status as WebhookDelivery['status']) : undefined,
  };
}

/** Returns the names and values of the filter in the URL. */
function partsOf({ endpointId, type, status }: DeliveryFilter): [name: string, value: string][] {
  const parts = { endpoint: endpointId ?? '', event: type ?? '', status: status ?? '' };
  return Object.entries(parts).filter(([, value]) => value !== '');
}

export function deliveryQuery(filter: DeliveryFilter, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams([...partsOf(filter), ...Object.entries(more)]).toString();
}

export function deliveryFilterForm(
  path: string,
  { endpointId, type, status }: DeliveryFilter,
  endpoints: readonly WebhookEndpoint[],
): Html {
  const urls: Record<string, string> = Object.fromEntries(endpoints.map(({ id, url }) => [id, url]));
  if (endpointId !== undefined) urls[endpointId] ??= 'Deleted endpoint';
  const events = SENT_EVENTS.map((event): Choice => [event, event]);
  const fields = html`${filterSelect({ name: 'endpoint', label: 'Endpoint', choices: Object.entries(urls), chosen: endpointId })}
${filterSelect({ name: 'event', label: 'Event', choices: events, chosen: type })}
${filterSelect({ name: 'status', label: 'Status', choices: Object.entries(STATUSES), chosen: status })}`;
  return filterForm({ action: path, fields });
}

/** The filter is sent along, so that only the deliveries which the page is about are sent again. */
export function resendForm(visit: SignedInVisit, action: string, filter: DeliveryFilter): Html {
  const hidden = partsOf(filter).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const isNarrow = filter.endpointId !== undefined || filter.type !== undefined;
  return html`<details class="as-table"><summary>Send failed webhooks again</summary>
<p>Sends ${isNarrow ? 'all failed deliveries that match the filter' : 'all failed deliveries of the last 30 days'} again, the newest
${count(MAX_SENT_TOGETHER)} at a time. Your server may have seen some of them: the <code>webhook-id</code> stays the same. Deliveries to disabled and deleted endpoints are left out.</p>
${form(visit, action, html`${hidden}<p class="actions"><button class="button quiet" type="submit">Send again</button></p>`)}
</details>`;
}
