// The list of accounts: search, filters, and how much of their credits they have used.

import type { FastifyReply } from 'fastify';
import type { AccountState } from '../../account/access.ts';
import type { PlanBook } from '../../account/plans.ts';
import { must } from '../../primitives/must.ts';
import type { AccountSummary, Store } from '../../store/store.ts';
import { count, field, time } from '../account/fields.ts';
import { sendPrivate } from '../account/frame.ts';
import { queryOf } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { table } from '../tables.ts';
import { userLabel } from './user-label.ts';

export interface AccountListDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'users' | 'ledger'>;
  readonly plans: PlanBook;
}

const PATH = '/operator/accounts';
const PAGE_SIZE = 25;
const STATES: Readonly<Record<AccountState, string>> = {
  active: 'Active',
  inactive: 'Without a plan',
  suspended: 'Suspended',
};

export async function accountListPage(
  { site, store, plans }: AccountListDependencies,
  visit: SignedInVisit,
): Promise<FastifyReply> {
  const text = queryOf(visit, 'q') ?? '';
  const plan = queryOf(visit, 'plan');
  const state = (Object.keys(STATES) as AccountState[]).find((each) => each === queryOf(visit, 'state'));
  const search = { plan, state, after: queryOf(visit, 'after'), count: PAGE_SIZE + 1 };
  const ids = await store.users.searchAccounts(text, search);
  const rows = await Promise.all(ids.slice(0, PAGE_SIZE).map(async (id) => await accountRow(store, plans, id)));
  const last = ids[PAGE_SIZE - 1];
  const older = ids.length > PAGE_SIZE && last !== undefined;
  const query = new URLSearchParams({
    q: text,
    ...(plan !== undefined && { plan }),
    ...(state !== undefined && { state }),
    ...(older && { after: last }),
  });
  const body = html`${filterForm(plans, text, plan, state)}
${rows.length === 0 ? html`<p>No accounts found.</p>` : table('Accounts', ['Name', 'Users', 'Plan', 'Credits used', 'Status', 'Created'], rows)}
${older && html`<p class="actions"><a class="button quiet" href="${PATH}?${query.toString()}">Older</a></p>`}`;
  return sendPrivate(site, visit, { title: 'Accounts', path: PATH, body });
}

function filterForm(plans: PlanBook, text: string, plan: string | undefined, state: AccountState | undefined): Html {
  const option = (value: string, label: string, isSelected: boolean): Html =>
    html`<option value="${value}"${isSelected && html` selected`}>${label}</option>`;
  return html`<form class="filters" method="get" action="${PATH}" role="search">
${field({ name: 'q', label: 'Name, email or ID', type: 'search', value: text, autocomplete: 'off', required: false })}
<div class="field"><label for="plan">Plan</label><select id="plan" name="plan"><option value="">All</option>
${plans.plans.map(({ name, title }) => option(name, title, name === plan))}</select></div>
<div class="field"><label for="state">Status</label><select id="state" name="state"><option value="">All</option>
${Object.entries(STATES).map(([value, label]) => option(value, label, value === state))}</select></div>
<button class="button" type="submit">Search</button>
</form>`;
}

async function accountRow(
  store: AccountListDependencies['store'],
  plans: PlanBook,
  id: string,
): Promise<(Html | string)[]> {
  const account = must(await store.accounts.find(id), `the account ${id}`);
  const users = await store.users.list(id);
  return [
    html`<a href="${PATH}/${encodeURIComponent(id)}">${account.name}</a>`,
    users.map(userLabel).join(', '),
    account.subscription?.plan ?? 'none',
    await creditsUsed(store, plans, account),
    STATES[account.state],
    time(account.createdAt),
  ];
}

async function creditsUsed(
  { ledger }: Pick<Store, 'ledger'>,
  plans: PlanBook,
  { id, subscription }: AccountSummary,
): Promise<string> {
  const plan = subscription?.status === 'active' ? plans.find(subscription.plan) : undefined;
  if (subscription === undefined || plan === undefined) return '';
  const { used, limit } = await ledger.balance(id, subscription.period, plan.credits);
  return `${count(used)} of ${count(limit)}`;
}
