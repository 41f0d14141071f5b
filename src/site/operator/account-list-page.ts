// The list of accounts with search, filters and used credits, also as CSV.

import type { FastifyReply } from 'fastify';
import type { AccountState } from '../../service/account/access.ts';
import type { PlanBook } from '../../service/account/plans.ts';
import { must } from '../../shared/must.ts';
import type { AccountSummary } from '../../service/store/accounts/accounts.ts';
import type { Store } from '../../service/store/store.ts';
import { type CsvValue, toCsv } from '../account/csv.ts';
import { type Choice, count, field, time } from '../account/fields.ts';
import { filterForm, filterSelect } from '../account/filter-form.ts';
import { sendPrivate } from '../account/frame.ts';
import { queryOf } from '../account/signed-in-routes.ts';
import { sendCsv } from '../account/usage-page.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList, type ListColumn, type ListEntry } from '../tables.ts';
import { newAccountSection } from './invite-customers.ts';
import { userLabel } from './user-label.ts';

export interface AccountListDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'users' | 'ledger'>;
  readonly plans: PlanBook;
}

const PATH = '/operator/accounts';
export const CSV_PATH = '/operator/accounts.csv';
const PAGE_SIZE = 25;
const EXPORT_ACCOUNTS = 1_000;
const CSV_COLUMNS = ['id', 'name', 'users', 'plan', 'credits_used', 'credits', 'status', 'created_at'];
const STATES: Readonly<Record<AccountState, string>> = {
  active: 'Active',
  pending: 'Awaiting approval',
  inactive: 'Without a plan',
  suspended: 'Suspended',
};

const STATE_LEVELS: Readonly<Record<AccountState, string>> = {
  active: 'good',
  pending: 'warn',
  inactive: '',
  suspended: 'bad',
};

/** The search of the operator, as in the URL of the page. */
interface Search {
  readonly text: string;
  readonly plan: string | undefined;
  readonly state: AccountState | undefined;
}

function searchOf(visit: SignedInVisit): Search {
  return {
    text: queryOf(visit, 'q') ?? '',
    plan: queryOf(visit, 'plan'),
    state: (Object.keys(STATES) as AccountState[]).find((each) => each === queryOf(visit, 'state')),
  };
}

function queryFor({ text, plan, state }: Search, after?: string): string {
  const query = {
    q: text,
    ...(plan !== undefined && { plan }),
    ...(state !== undefined && { state }),
    ...(after !== undefined && { after }),
  };
  return new URLSearchParams(query).toString();
}

const COLUMNS: readonly ListColumn[] = [
  { label: 'Name', place: 'lead', isName: true },
  { label: 'Users', place: 'below', isName: true },
  { label: 'Plan' },
  { label: 'Credits used', place: 'below-end', isNumber: true },
  { label: 'Status', place: 'end' },
  { label: 'Created' },
];

export async function accountListPage(
  { site, store, plans }: AccountListDependencies,
  visit: SignedInVisit,
): Promise<FastifyReply> {
  const search = searchOf(visit);
  const { text, ...filter } = search;
  const page = { ...filter, after: queryOf(visit, 'after'), count: PAGE_SIZE + 1 };
  const ids = await store.users.searchAccounts(text, page);
  const rows = await Promise.all(ids.slice(0, PAGE_SIZE).map(async (id) => await accountRow(store, plans, id)));
  const last = ids[PAGE_SIZE - 1];
  const older = ids.length > PAGE_SIZE && last !== undefined;
  const body = html`${accountFilter(plans, search)}
${rows.length === 0 ? html`<p>No accounts found.</p>` : entryList('Accounts', COLUMNS, rows)}
${older && html`<p class="actions"><a class="button quiet" href="${PATH}?${queryFor(search, last)}">Older</a></p>`}
${rows.length > 0 && html`<p class="small"><a href="${CSV_PATH}?${queryFor(search)}">Export accounts (CSV)</a> (up to ${count(EXPORT_ACCOUNTS)})</p>`}
${newAccountSection(visit, plans)}`;
  return await sendPrivate(site, visit, { title: 'Accounts', body });
}

/** Exports the newest accounts that match the filters of the list. */
export async function accountCsv(
  { store, plans }: AccountListDependencies,
  visit: SignedInVisit,
): Promise<FastifyReply> {
  const { text, ...filter } = searchOf(visit);
  const ids = await store.users.searchAccounts(text, { ...filter, after: undefined, count: EXPORT_ACCOUNTS });
  const rows: CsvValue[][] = [];
  for (const id of ids) {
    const account = await store.accounts.find(id);
    // The account was deleted after the search.
    if (account === undefined) continue;
    const users = await store.users.list(id);
    const balance = await balanceOf(store, plans, account);
    rows.push([
      id,
      account.name,
      users.map(userLabel).join(' '),
      account.subscription?.plan ?? null,
      balance?.used ?? null,
      balance?.limit ?? null,
      account.state,
      account.createdAt,
    ]);
  }
  return sendCsv(visit, 'storybar-accounts.csv', toCsv(CSV_COLUMNS, rows));
}

function accountFilter(plans: PlanBook, { text, plan, state }: Search): Html {
  const titles = plans.plans.map(({ name, title }): Choice => [name, title]);
  const fields = html`${field({ name: 'q', label: 'Name, email or ID', type: 'search', value: text, autocomplete: 'off', required: false })}
${filterSelect({ name: 'plan', label: 'Plan', choices: titles, chosen: plan })}
${filterSelect({ name: 'state', label: 'Status', choices: Object.entries(STATES), chosen: state })}`;
  return filterForm({ action: PATH, fields, button: 'Search' });
}

async function accountRow(store: AccountListDependencies['store'], plans: PlanBook, id: string): Promise<ListEntry> {
  const account = must(await store.accounts.find(id), `the account ${id}`);
  const users = await store.users.list(id);
  return {
    href: `${PATH}/${encodeURIComponent(id)}`,
    cells: [
      account.name,
      users.map(userLabel).join(', '),
      planTitle(plans, account),
      await creditsUsed(store, plans, account),
      accountState(account),
      time(account.createdAt),
    ],
  };
}

function planTitle(plans: PlanBook, { subscription }: AccountSummary): string {
  if (subscription === undefined) return 'none';
  return plans.find(subscription.plan)?.title ?? subscription.plan;
}

export function accountState({ state }: AccountSummary): Html {
  return html`<span class="state ${STATE_LEVELS[state]}">${STATES[state]}</span>`;
}

async function creditsUsed(store: Pick<Store, 'ledger'>, plans: PlanBook, account: AccountSummary): Promise<string> {
  const balance = await balanceOf(store, plans, account);
  return balance === undefined ? '' : `${count(balance.used)} of ${count(balance.limit)}`;
}

/** Returns undefined without an active plan. */
async function balanceOf(
  { ledger }: Pick<Store, 'ledger'>,
  plans: PlanBook,
  { id, subscription }: AccountSummary,
): Promise<{ readonly used: number; readonly limit: number } | undefined> {
  const plan = subscription?.status === 'active' ? plans.find(subscription.plan) : undefined;
  if (subscription === undefined || plan === undefined) return undefined;
  return await ledger.balance(id, subscription.period, plan.credits);
}
