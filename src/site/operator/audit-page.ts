// The audit log: every change with its actor, newest first, with filters. Ids of users are shown as addresses.

import type { AuditEntry, AuditFilter } from '../../service/store/audit.ts';
import type { Store } from '../../service/store/store.ts';
import { field, secondsTime, selectField } from '../account/fields.ts';
import { filterForm, filterSelect } from '../account/filter-form.ts';
import { sendPrivate } from '../account/frame.ts';
import { type SignedInRoutes, queryOf } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList } from '../tables.ts';
import { userLabel } from './user-label.ts';

type AuditStore = Pick<Store, 'audit' | 'users' | 'accounts'>;
/** The names of users and accounts, by id. */
type Names = ReadonlyMap<string, string>;

const PATH = '/operator/audit';
const PAGE_SIZE = 50;
const UUID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gu;
/** Prefixes of actions. */
const ACTIONS: Readonly<Record<string, string>> = {
  'account.': 'Accounts',
  'credits.': 'Credits',
  'incident.': 'Incidents',
  'key.': 'Keys',
  'member.': 'Members',
  'subscription.': 'Plans',
  'user.': 'Users',
  'webhook.': 'Webhooks',
};

const ACTING_AS = [
  ['', 'User or operator'],
  ['user', 'User'],
  ['operator', 'Operator'],
] as const;

export function addAuditPage(routes: SignedInRoutes, site: Site, store: AuditStore): void {
  routes.page({ path: PATH, permission: 'operate', tab: 'Audit log' }, async (visit) => {
    const filter = await filterOf(store, visit);
    // One more entry is read than shown, to find out whether there are older ones.
    const entries = filter === undefined ? [] : await store.audit.list({ ...filter, count: PAGE_SIZE + 1 });
    const shown = entries.slice(0, PAGE_SIZE);
    const last = shown.at(-1);
    const older = entries.length > PAGE_SIZE && last && olderQuery(visit, last);
    const accountId = queryOf(visit, 'account');
    const body = html`${accountId !== undefined && html`<p>For <a href="/operator/accounts/${encodeURIComponent(accountId)}">one account</a>. <a href="${PATH}">Show all</a></p>`}
${auditFilter(visit)}
${auditTable(shown, await namesIn(store, shown))}
${older && html`<p class="actions"><a class="button quiet" href="${PATH}?${older}">Older</a></p>`}`;
    return await sendPrivate(site, visit, { title: 'Audit log', body });
  });
}

/** Returns undefined when no user has the address that the operator typed. */
async function filterOf({ users }: AuditStore, visit: SignedInVisit): Promise<Omit<AuditFilter, 'count'> | undefined> {
  const before = Number(queryOf(visit, 'before'));
  const action = queryOf(visit, 'action') ?? '';
  const typed = queryOf(visit, 'actor')?.trim();
  const actor = typed === undefined ? undefined : await actorsOf(users, typed, visit);
  if (typed !== undefined && actor === undefined) return undefined;
  return {
    accountId: queryOf(visit, 'account'),
    action: Object.hasOwn(ACTIONS, action) ? action : undefined,
    actor,
    before: Number.isSafeInteger(before) && before > 0 ? before : undefined,
  };
}

/** Reads an address, or an actor as the log has it, such as `system` or `stripe`. */
async function actorsOf(users: Store['users'], typed: string, visit: SignedInVisit): Promise<string[] | undefined> {
  if (!typed.includes('@') || typed.includes(':')) return [typed];
  const user = await users.findByEmail(typed.toLowerCase());
  if (user === undefined) return undefined;
  // Operators act as users in their own account, and as operators elsewhere.
  const roles = ['user', 'operator'];
  const chosen = roles.filter((role) => role === queryOf(visit, 'as'));
  return (chosen.length > 0 ? chosen : roles).map((role) => `${role}:${user.id}`);
}

function auditFilter(visit: SignedInVisit): Html {
  const accountId = queryOf(visit, 'account');
  const fields = html`${accountId !== undefined && html`<input type="hidden" name="account" value="${accountId}">`}
${filterSelect({ name: 'action', label: 'Changes of', choices: Object.entries(ACTIONS), chosen: queryOf(visit, 'action') })}
${field({ name: 'actor', label: 'Made by (email)', value: queryOf(visit, 'actor') ?? '', autocomplete: 'off', required: false })}
${selectField({ name: 'as', label: 'Acting as', choices: ACTING_AS, chosen: queryOf(visit, 'as') })}`;
  return filterForm({ action: PATH, fields });
}

function olderQuery(visit: SignedInVisit, { seq }: AuditEntry): string {
  const query = new URLSearchParams({ before: String(seq) });
  for (const name of ['account', 'action', 'actor', 'as']) {
    const value = queryOf(visit, name);
    if (value !== undefined) query.set(name, value);
  }
  return query.toString();
}

/** A user or account that was deleted has no name. */
async function namesIn({ users, accounts }: AuditStore, entries: readonly AuditEntry[]): Promise<Names> {
  const ids = new Set(entries.flatMap(({ actor, subject }) => `${actor} ${subject}`.match(UUID) ?? []));
  const names = new Map<string, string>();
  for (const id of ids) {
    const user = await users.find(id);
    const name = user === undefined ? (await accounts.find(id))?.name : userLabel(user);
    if (name !== undefined) names.set(id, name);
  }
  return names;
}

/** Shows names instead of ids where they are known, else shortened ids. The tooltip has the full text. */
function readable(text: string, names: Names): Html {
  const shown = text
    .replaceAll(UUID, (id) => names.get(id) ?? `${id.slice(0, 8)}…`)
    .replace(/^operator:(?<name>.*@.*?)(?: \(operator\))?$/u, '$<name> as operator')
    .replace(/^(?:user|account):(?=.*@)/u, '');
  return html`<span title="${text}">${shown}</span>`;
}

function formatDetails(details: AuditEntry['details']): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

function auditTable(entries: readonly AuditEntry[], names: Names): Html {
  if (entries.length === 0) return html`<p>No entries.</p>`;
  return entryList(
    'Audit log',
    [
      { label: 'Action', place: 'lead' },
      { label: 'Time (UTC)', place: 'end' },
      { label: 'Actor', place: 'below', isName: true },
      { label: 'Subject', place: 'below-end', isName: true },
      { label: 'Details', place: 'across', isText: true },
      { label: 'No.', isNumber: true },
    ],
    entries.map(({ seq, at, actor, action, accountId, subject, details }) => ({
      cells: [
        action,
        secondsTime(at),
        readable(actor, names),
        accountId === null
          ? readable(subject, names)
          : html`<a href="/operator/accounts/${encodeURIComponent(accountId)}">${readable(subject, names)}</a>`,
        formatDetails(details),
        seq,
      ],
    })),
  );
}
