// The pages to list, create, test, rotate, disable and delete webhook endpoints.

import type { FastifyReply } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import type { CheckedEndpoint, WebhookChanges } from '../../service/webhooks/webhook-changes.ts';
import type { User } from '../../service/store/people/user.ts';
import { WEBHOOK_EVENTS } from '../../service/store/webhooks/webhook.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { OVERLAPS } from '../account/key-changes.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { liveAccessNote } from '../account/start-page.ts';
import { html } from '../html.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { assertConfirmed } from './assert-confirmed.ts';
import { deliveryTable } from './delivery-pages.ts';
import {
  accountSecretSection,
  createSection,
  dangerSections,
  editSection,
  type EndpointForm,
  endpointFacts,
  endpointTable,
  secretSection,
} from './endpoint-views.ts';

export interface WebhookPagesDependencies {
  readonly site: Site;
  readonly webhooks: WebhookChanges;
}

const WEBHOOKS_PATH = '/dashboard/webhooks';
const LATEST = 10;

export function addEndpointPages(routes: SignedInRoutes, { site, webhooks }: WebhookPagesDependencies): void {
  const showList = async (visit: SignedInVisit, typed: EndpointForm): Promise<FastifyReply> => {
    const { accountId } = visit.user;
    const isConfirmed = visit.user.unconfirmedEmail === null;
    const secrets = isConfirmed ? await webhooks.accountSecrets(accountId) : [];
    const body = html`${liveAccessNote(visit)}
<p>Storybar sends a signed request to your server when a stored render ends. <a href="/docs/webhooks">How to receive webhooks</a></p>
${endpointTable(await webhooks.list(accountId))}
<p><a href="${WEBHOOKS_PATH}/deliveries">All deliveries</a></p>
<div class="columns">${createSection(visit, typed)}
${isConfirmed && accountSecretSection(visit, secrets)}</div>`;
    const status = typed.fault === undefined ? 200 : 422;
    return await sendPrivate(site, visit, { title: 'Webhooks', body, status });
  };

  routes.page(
    { path: WEBHOOKS_PATH, permission: 'develop', tab: 'Webhooks' },
    async (visit) => await showList(visit, { url: '', events: [] }),
  );
  routes.action({ path: WEBHOOKS_PATH, permission: 'develop' }, async (visit, fields) => {
    const typed = readEndpointForm(fields);
    assertConfirmed(visit.user);
    const checked = checkForm(webhooks, typed);
    if ('fault' in checked) return await showList(visit, checked);
    try {
      const { endpoint } = await webhooks.create(visit.user.accountId, checked, actorOf(visit.user));
      return seeOther(visit, `${WEBHOOKS_PATH}/${endpoint.id}?done=webhook-created`);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'too_many_webhooks') throw error;
      return await showList(visit, { ...typed, fault: error.message });
    }
  });
  routes.action({ path: `${WEBHOOKS_PATH}/secret/rotate`, permission: 'develop' }, async (visit, fields) => {
    assertConfirmed(visit.user);
    await webhooks.rotateAccountSecret(visit.user.accountId, overlapOf(fields), actorOf(visit.user));
    return seeOther(visit, `${WEBHOOKS_PATH}?done=webhook-rotated`);
  });
  addEndpointPage(routes, { site, webhooks });
}

function addEndpointPage(routes: SignedInRoutes, { site, webhooks }: WebhookPagesDependencies): void {
  const path = `${WEBHOOKS_PATH}/:id`;
  const action = (
    name: string,
    note: string,
    run: (user: User, id: string, fields: FormFields) => Promise<unknown>,
  ) => {
    routes.action({ path: `${path}/${name}`, permission: 'develop' }, async (visit, fields) => {
      await run(visit.user, idOf(visit), fields);
      return seeOther(visit, `${WEBHOOKS_PATH}${name === 'delete' ? '' : `/${idOf(visit)}`}?done=${note}`);
    });
  };

  const show = async (visit: SignedInVisit, typed?: EndpointForm): Promise<FastifyReply> => {
    const { accountId } = visit.user;
    const endpoint = await webhooks.find(accountId, idOf(visit));
    const deliveries = await webhooks.listDeliveries(accountId, { limit: LATEST, endpointId: endpoint.id });
    const test = html`<button class="button" type="submit">Send test event</button>`;
    const body = html`${endpointFacts(endpoint)}
<section aria-labelledby="deliveries">
<div class="section-head"><h2 id="deliveries">Latest deliveries</h2><a href="${WEBHOOKS_PATH}/deliveries?endpoint=${endpoint.id}">All deliveries of this endpoint</a></div>
<div data-refresh aria-live="polite">${deliveryTable(deliveries)}</div></section>
<div class="columns">${editSection(visit, endpoint, typed ?? endpoint)}
${secretSection(visit, endpoint, await webhooks.secrets(accountId, endpoint.id))}</div>
${dangerSections(visit, endpoint)}`;
    return await sendPrivate(site, visit, {
      title: 'Webhook endpoint',

      actions: endpoint.isEnabled && form(visit, `${WEBHOOKS_PATH}/${endpoint.id}/test`, test),
      body,
      modules: ['refresh.js'],
      status: typed?.fault === undefined ? 200 : 422,
    });
  };
  routes.page({ path, permission: 'develop' }, async (visit) => await show(visit));
  routes.action({ path, permission: 'develop' }, async (visit, fields) => {
    const typed = readEndpointForm(fields);
    assertConfirmed(visit.user);
    const checked = checkForm(webhooks, typed);
    if ('fault' in checked) return await show(visit, checked);
    await webhooks.update(visit.user.accountId, idOf(visit), checked, actorOf(visit.user));
    return seeOther(visit, `${WEBHOOKS_PATH}/${idOf(visit)}?done=webhook-changed`);
  });
  action('test', 'webhook-test', async (user, id) => {
    assertConfirmed(user);
    await webhooks.sendTest(user.accountId, id);
  });
  action('enable', 'webhook-enabled', async (user, id) => {
    assertConfirmed(user);
    await webhooks.setEnabled(user.accountId, id, true, actorOf(user));
  });
  action('disable', 'webhook-disabled', async (user, id) => {
    await webhooks.setEnabled(user.accountId, id, false, actorOf(user));
  });
  action('rotate', 'webhook-rotated', async (user, id, fields) => {
    assertConfirmed(user);
    await webhooks.rotate(user.accountId, id, overlapOf(fields), actorOf(user));
  });
  action('delete', 'webhook-deleted', async (user, id) => await webhooks.remove(user.accountId, id, actorOf(user)));
}

function readEndpointForm(fields: FormFields): EndpointForm {
  return { url: fields.text('url'), events: WEBHOOK_EVENTS.filter((event) => fields.text(event) !== '') };
}

/** Returns the form with what is wrong in it, in the words of the page instead of those of the API. */
function checkForm(
  webhooks: WebhookChanges,
  typed: EndpointForm,
): CheckedEndpoint | (EndpointForm & { readonly fault: string }) {
  try {
    return webhooks.check(typed.url, typed.events, 'The URL');
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_fields') throw error;
    return { ...typed, fault: error.message };
  }
}

function overlapOf(fields: FormFields): number {
  const overlap = fields.text('overlap');
  if (!Object.hasOwn(OVERLAPS, overlap)) throw new AppError('invalid_fields', 'Choose when the old secret expires.');
  return OVERLAPS[overlap as keyof typeof OVERLAPS].milliseconds;
}

function actorOf({ id }: User): string {
  return `user:${id}`;
}
