// The pages of webhook deliveries: a list, and one delivery with every attempt, its request and its response.

import { AppError } from '../../shared/errors.ts';
import type { WebhookChanges } from '../../service/webhooks/webhook-changes.ts';
import type {
  DeliveryDetails,
  DeliveryFilter,
  WebhookAttempt,
  WebhookDelivery,
} from '../../service/store/webhooks/webhook.ts';
import { count, secondsTime, time } from '../account/fields.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { idOf, queryOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Content, type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList } from '../tables.ts';
import { factsList } from '../tiles.ts';
import { assertConfirmed } from './assert-confirmed.ts';
import { deliveryFilterForm, deliveryFilterOf, deliveryQuery, resendForm } from './delivery-filter.ts';

const PATH = '/dashboard/webhooks/deliveries';
const PAGE_SIZE = 50;

export function addDeliveryPages(
  routes: SignedInRoutes,
  { site, webhooks }: { readonly site: Site; readonly webhooks: WebhookChanges },
): void {
  routes.page({ path: PATH, permission: 'develop' }, async (visit) => {
    const { accountId } = visit.user;
    const filter = deliveryFilterOf((name) => queryOf(visit, name));
    const page = { ...filter, limit: PAGE_SIZE + 1, after: queryOf(visit, 'after') };
    const found = await webhooks.listDeliveries(accountId, page).catch((error: unknown) => {
      // The link leads to an older page whose deliveries have been deleted.
      if (error instanceof AppError && error.code === 'invalid_fields') return [];
      throw error;
    });
    const body = html`${deliveryFilterForm(PATH, filter, await webhooks.list(accountId))}
<div data-refresh>${deliveryTable(found.slice(0, PAGE_SIZE), deliveryQuery(filter) === '' ? undefined : 'No deliveries match the filter.')}</div>${pager(found, filter)}
${found.some(({ status }) => status === 'failed') && resendForm(visit, `${PATH}/resend`, filter)}
<p class="small">Deliveries are kept for 30 days. <a href="/dashboard/webhooks">Back to webhooks</a></p>`;
    return await sendPrivate(site, visit, { title: 'Webhook deliveries', body, modules: ['refresh.js'] });
  });
  routes.page({ path: `${PATH}/:id`, permission: 'develop' }, async (visit) => {
    const body = detailsBody(visit, await webhooks.findDelivery(visit.user.accountId, idOf(visit)));
    return await sendPrivate(site, visit, { title: 'Webhook delivery', body, modules: ['refresh.js'] });
  });
  routes.action({ path: `${PATH}/resend`, permission: 'develop' }, async (visit, fields) => {
    assertConfirmed(visit.user);
    const filter = deliveryFilterOf((name) => fields.text(name) || undefined);
    const { endpointId, type } = filter;
    const sent = await webhooks.sendFailedAgain(visit.user.accountId, { endpointId, type });
    // Those that are sent no longer match a filter of failed ones.
    const shown = { endpointId, type, status: sent === 0 ? filter.status : undefined };
    const done = sent === 0 ? 'webhooks-not-resent' : 'webhooks-resent';
    return seeOther(visit, `${PATH}?${deliveryQuery(shown, { done })}`);
  });
  routes.action({ path: `${PATH}/:id/resend`, permission: 'develop' }, async (visit) => {
    assertConfirmed(visit.user);
    const { id } = await webhooks.sendAgain(visit.user.accountId, idOf(visit));
    return seeOther(visit, `${PATH}/${id}?done=webhook-resent`);
  });
}

export function deliveryTable(deliveries: readonly WebhookDelivery[], ifNone = 'No deliveries yet.'): Html {
  if (deliveries.length === 0) return html`<p>${ifNone}</p>`;
  return entryList(
    'Webhook deliveries',
    [
      { label: 'Event', place: 'lead' },
      { label: 'Status', place: 'end' },
      { label: 'Time (UTC)', place: 'below-end' },
      { label: 'URL', place: 'below', isName: true },
      { label: 'Attempts', isNumber: true },
      { label: 'Response', isNumber: true },
    ],
    deliveries.map((delivery) => ({
      href: `${PATH}/${delivery.id}`,
      cells: [
        delivery.type,
        stateOf(delivery),
        time(delivery.createdAt),
        delivery.url,
        count(delivery.attempts),
        delivery.lastStatus ?? '',
      ],
    })),
  );
}

function stateOf({ status, attempts }: WebhookDelivery): Html {
  if (status === 'pending') return html`<span class="state warn">${attempts === 0 ? 'waiting' : 'retrying'}</span>`;
  return html`<span class="state ${status === 'succeeded' ? 'good' : 'bad'}">${status}</span>`;
}

function pager(found: readonly WebhookDelivery[], filter: DeliveryFilter): Html | undefined {
  const last = found[PAGE_SIZE - 1];
  if (found.length <= PAGE_SIZE || last === undefined) return undefined;
  return html`<p class="actions"><a class="button quiet" href="${PATH}?${deliveryQuery(filter, { after: last.id })}">Older</a></p>`;
}

function detailsBody(visit: SignedInVisit, { delivery, body, attempts }: DeliveryDetails): Html {
  const { id, url, endpointId, messageId, type, status, dueAt, createdAt, finishedAt, lastError } = delivery;
  const facts: readonly (readonly [string, Content])[] = [
    ['Event', html`<code>${type}</code>`],
    ['Status', stateOf(delivery)],
    ['URL', html`<code>${url}</code>`],
    ['Endpoint', endpointId === undefined ? 'from the request' : endpointLink(endpointId)],
    ['Created (UTC)', secondsTime(createdAt)],
    ...(finishedAt === undefined ? [] : [['Finished (UTC)', secondsTime(finishedAt)] as const]),
    ...(status === 'pending' ? [['Next attempt (UTC)', secondsTime(dueAt)] as const] : []),
    ...(lastError === undefined ? [] : [['Last error', lastError] as const]),
    ['Webhook ID', html`<code>${messageId}</code>`],
  ];
  const again = html`<p class="actions"><button class="button" type="submit">Send again</button></p>`;
  return html`${factsList(facts)}
${form(visit, `${PATH}/${id}/resend`, again)}
<section aria-labelledby="body"><h2 id="body">Request body</h2>
${block(JSON.stringify(JSON.parse(body), undefined, 2), 'Request body')}</section>
<div data-refresh aria-live="polite">${attempts.map(attemptSection)}</div>
<p><a href="${PATH}">Back to all deliveries</a></p>`;
}

function endpointLink(endpointId: string): Html {
  return html`<a href="/dashboard/webhooks/${endpointId}"><code>${endpointId}</code></a>`;
}

function attemptSection(attempt: WebhookAttempt): Html {
  const { at, durationMs, status, error, requestHeaders, contentType, response } = attempt;
  const headers = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
  const id = `attempt-${at}`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">Attempt at ${secondsTime(at)} UTC</h2>
<p><span class="state ${error === undefined ? 'good' : 'bad'}">${status ?? 'failed'}</span> after ${count(Math.round(durationMs))} ms. ${error}</p>
<details class="as-table"><summary>Request headers</summary>${block(headers.join('\n'), `Request headers of the attempt at ${at}`)}</details>
${
  status !== undefined &&
  html`<details class="as-table"><summary>Response</summary>
<p class="small">${contentType ?? 'no content type'}, first 2,048 bytes</p>
${block(response === '' ? '(empty)' : response, `Response of the attempt at ${at}`)}</details>`
}
</section>`;
}

function block(text: string, label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre></div>`;
}
