// Operator pages to search accounts, view one, approve, suspend or resume it, change its plan, and add credits.

import type { FastifyReply } from 'fastify';
import type { PlanBook } from '../../service/account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import type { AccountSummary } from '../../service/store/accounts/accounts.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { Store } from '../../service/store/store.ts';
import type { WebhookEndpoint } from '../../service/store/webhooks/webhook.ts';
import { type Choice, count, field, selectField, standingProblem, time } from '../account/fields.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { maskedKey, stateOf } from '../account/key-pages.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { creditsSection, renderTable } from '../account/usage-page.ts';
import { type Html, html } from '../html.ts';
import { entryList } from '../tables.ts';
import { factsList } from '../tiles.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import { endpointState } from '../webhooks/endpoint-views.ts';
import { accountCsv, accountListPage, accountState, CSV_PATH } from './account-list-page.ts';
import { addInvitePages, type InviteDependencies, inviteSection } from './invite-customers.ts';
import { accountViews } from './account-views.ts';
import { userLabel } from './user-label.ts';

export interface AccountPagesDependencies extends InviteDependencies {
  readonly store: Store;
}

const PATH = '/operator/accounts';
const LATEST_RENDERS = 10;
const MAX_GRANT = 1_000_000;
const MAX_REASON = 200;

export function addAccountPages(routes: SignedInRoutes, dependencies: AccountPagesDependencies): void {
  const { store, plans } = dependencies;
  routes.page(
    { path: PATH, permission: 'operate', tab: 'Accounts' },
    async (visit) => await accountListPage(dependencies, visit),
  );
  routes.page({ path: CSV_PATH, permission: 'operate' }, async (visit) => await accountCsv(dependencies, visit));
  addInvitePages(routes, dependencies);
  routes.page({ path: `${PATH}/:id`, permission: 'operate' }, async (visit) => await accountPage(dependencies, visit));
  const back = (visit: SignedInVisit, { id }: AccountSummary, done: string): FastifyReply =>
    seeOther(visit, `${PATH}/${encodeURIComponent(id)}?done=${done}`);
  routes.action({ path: `${PATH}/:id/suspend`, permission: 'operate' }, async (visit) => {
    const account = await findAccount(store, visit);
    if (account.id === visit.user.accountId) {
      throw new AppError('invalid_fields', "You can't suspend your own account.");
    }
    await store.accounts.setSuspended(account.id, true, actorOf(visit));
    return back(visit, account, 'suspended');
  });
  routes.action({ path: `${PATH}/:id/approve`, permission: 'operate' }, async (visit) => {
    const account = await findAccount(store, visit);
    await store.accounts.approve(account.id, actorOf(visit));
    return back(visit, account, 'account-approved');
  });
  routes.action({ path: `${PATH}/:id/resume`, permission: 'operate' }, async (visit) => {
    const account = await findAccount(store, visit);
    await store.accounts.setSuspended(account.id, false, actorOf(visit));
    return back(visit, account, 'account-resumed');
  });
  routes.action({ path: `${PATH}/:id/credits`, permission: 'operate' }, async (visit, fields) => {
    const account = await findAccount(store, visit);
    const credits = Number(fields.text('credits'));
    const reason = fields
      .text('reason')
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim();
    if (!Number.isSafeInteger(credits) || credits < 1 || credits > MAX_GRANT) {
      throw new AppError('invalid_fields', `Credits must be a whole number from 1 to ${count(MAX_GRANT)}.`);
    }
    if (reason === '' || reason.length > MAX_REASON) {
      throw new AppError('invalid_fields', `Enter a reason of up to ${MAX_REASON} characters.`);
    }
    await store.accounts.approve(account.id, actorOf(visit));
    const granted = await store.operator.grantCredits(account.id, credits, reason, actorOf(visit));
    if (granted === undefined) throw new AppError('invalid_fields', 'This account has no active plan.');
    return back(visit, account, 'credits-granted');
  });
  routes.action({ path: `${PATH}/:id/plan`, permission: 'operate' }, async (visit, fields) => {
    const account = await findAccount(store, visit);
    const plan = fields.text('plan');
    if (plans.find(plan) === undefined) throw new AppError('invalid_fields', "This plan doesn't exist.");
    const lock = planLock(account);
    if (lock !== undefined) throw new AppError('invalid_fields', lock);
    const when = fields.text('when') === 'next period' ? 'next period' : 'now';
    // Assigning a plan decides what the account may use, so it includes approval.
    await store.accounts.approve(account.id, actorOf(visit));
    await store.accounts.subscribe(account.id, plan, when, actorOf(visit));
    return back(visit, account, 'account-plan');
  });
}

async function findAccount(store: Store, visit: SignedInVisit): Promise<AccountSummary> {
  const account = await store.accounts.find(idOf(visit));
  if (account === undefined) throw new AppError('not_found', "This account doesn't exist.");
  return account;
}

function actorOf({ user }: SignedInVisit): string {
  return `operator:${user.id}`;
}

/** Explains why the operator can't change the plan. Returns undefined when they can. */
function planLock({ subscription }: AccountSummary): string | undefined {
  if (subscription?.provider === 'marketplace') return 'This plan is managed by the marketplace.';
  if (subscription?.provider === 'stripe' && subscription.status === 'active') {
    return 'This plan is paid through Stripe. Change it there.';
  }
  return undefined;
}

async function accountPage(dependencies: AccountPagesDependencies, visit: SignedInVisit): Promise<FastifyReply> {
  const { site, store, plans } = dependencies;
  const account = await findAccount(store, visit);
  const { id } = account;
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const users = await store.users.list(id);
  const keys = await store.keys.list(id);
  const renders = await store.usage.latest(id, LATEST_RENDERS);
  const endpoints = await store.webhookEndpoints.list(id);
  const body = html`${account.awaitsApproval && approval(visit, account)}
<div class="columns"><div>${factsList([
    ['Status', accountState(account)],
    ['Users', users.map(userLabel).join(', ') || 'none'],
    ['Created', time(account.createdAt)],
    ['ID', html`<code>${id}</code>`],
  ])}</div>
${await creditsSection(store, plans, account)}</div>
<div class="columns">
${account.subscription?.status === 'active' && grantSection(visit, account)}
${planSection(visit, plans, account)}
${inviteSection(visit, id)}
</div>
<div class="columns"><section aria-labelledby="keys"><h2 id="keys">Keys</h2>
${keys.length === 0 ? html`<p>No keys.</p>` : keyList(keys)}
</section>
<section aria-labelledby="latest"><h2 id="latest">Latest renders</h2>
${renders.length === 0 ? html`<p>No renders.</p>` : renderTable(renders, `${path}/requests`)}
</section></div>
${endpoints.length > 0 && html`<section aria-labelledby="webhooks"><h2 id="webhooks">Webhooks</h2>${endpointList(endpoints)}</section>`}
${suspension(visit, account)}`;
  return await sendPrivate(site, visit, { title: account.name, views: accountViews(id), body });
}

function keyList(keys: readonly KeySummary[]): Html {
  return entryList(
    'Keys',
    [
      { label: 'Name', place: 'lead', isName: true },
      { label: 'Key', place: 'below' },
      { label: 'Status', place: 'end' },
      { label: 'Last used', place: 'below-end' },
    ],
    keys.map((key) => ({ cells: [key.name, maskedKey(key), stateOf(key), time(key.lastUsedAt)] })),
  );
}

/** Only the host, because paths and queries of webhooks often contain secrets. */
function endpointList(endpoints: readonly WebhookEndpoint[]): Html {
  return entryList(
    'Webhook endpoints',
    [
      { label: 'Host', place: 'lead', isName: true },
      { label: 'Status', place: 'end' },
      { label: 'Created', place: 'below' },
      { label: 'Failing since (UTC)', place: 'below-end' },
    ],
    endpoints.map((endpoint) => ({
      cells: [
        new URL(endpoint.url).host,
        endpointState(endpoint),
        time(endpoint.createdAt),
        endpoint.failingSince === undefined ? '–' : time(endpoint.failingSince),
      ],
    })),
  );
}

function approval(visit: SignedInVisit, { id }: AccountSummary): Html {
  return html`<div class="caution">
<p>This account awaits your approval: its user’s email address isn’t confirmed, or the same mailbox has other accounts. It has test keys only. Approving it turns on live keys and the credits of its plan, and so does adding credits or changing its plan.</p>
${form(visit, `${PATH}/${encodeURIComponent(id)}/approve`, html`<button class="button" type="submit">Approve account</button>`)}
</div>`;
}

function suspension(visit: SignedInVisit, { id, state }: AccountSummary): Html {
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const heading = html`<h2 id="suspension">Suspension</h2>`;
  if (state === 'suspended') {
    const resume = form(visit, `${path}/resume`, html`<button class="button" type="submit">Resume account</button>`);
    return html`<section aria-labelledby="suspension">${heading}<p>The keys of this account don’t work.</p>${resume}</section>`;
  }
  return html`<section aria-labelledby="suspension">${heading}<details class="twice"><summary>Suspend this account</summary>
<p>Its keys stop working immediately, until you resume it. Its users can still sign in.</p>
${form(visit, `${path}/suspend`, html`<button class="button danger" type="submit">Suspend account</button>`)}
</details></section>`;
}

function grantSection(visit: SignedInVisit, { id }: AccountSummary): Html {
  const reason = { name: 'reason', label: 'Reason', autocomplete: 'off', maxLength: MAX_REASON };
  return html`<section class="card" aria-labelledby="grant"><h2 id="grant">Add credits</h2>
<p>They count in the current billing period only. The reason is part of the audit log.</p>
${form(
  visit,
  `${PATH}/${encodeURIComponent(id)}/credits`,
  html`<div class="field"><label for="added-credits">Credits</label><input id="added-credits" name="credits" type="number" min="1" max="${MAX_GRANT}" required></div>
${field(reason)}
<p class="actions"><button class="button quiet" type="submit">Add credits</button></p>`,
  'stacked',
)}
</section>`;
}

function planSection(visit: SignedInVisit, plans: PlanBook, account: AccountSummary): Html {
  const lock = planLock(account);
  const choices = plans.plans.map(({ name, title }): Choice => [name, title]);
  const content =
    lock === undefined
      ? form(
          visit,
          `${PATH}/${encodeURIComponent(account.id)}/plan`,
          html`${selectField({ name: 'plan', label: 'Plan', choices, chosen: account.subscription?.plan })}
<fieldset class="choices"><legend>Effective</legend>
<label><input type="radio" name="when" value="now" checked> Immediately</label>
<label><input type="radio" name="when" value="next period"> Next billing period</label>
</fieldset>
<p class="actions"><button class="button quiet" type="submit">Change plan</button></p>`,
          'stacked',
        )
      : standingProblem(lock);
  return html`<section class="card" aria-labelledby="plan-heading"><h2 id="plan-heading">Plan</h2>${content}</section>`;
}
