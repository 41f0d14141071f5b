// The audit log: every change with its actor, newest first.

import type { AuditEntry, Store } from '../../store/store.ts';
import { time } from '../account/fields.ts';
import { sendPrivate } from '../account/frame.ts';
import { type SignedInRoutes, queryOf } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import { table } from '../tables.ts';
import type { Site } from '../page.ts';

const PAGE_SIZE = 50;

export function addAuditPage(routes: SignedInRoutes, site: Site, store: Pick<Store, 'audit'>): void {
  routes.page('/operator/audit', async (visit) => {
    const accountId = queryOf(visit, 'account');
    const before = Number(queryOf(visit, 'before'));
    const entries = await store.audit.list({
      accountId,
      before: Number.isSafeInteger(before) && before > 0 ? before : undefined,
      // One more than shown, to find out whether there are older entries.
      count: PAGE_SIZE + 1,
    });
    const shown = entries.slice(0, PAGE_SIZE);
    const last = shown.at(-1);
    const older = entries.length > PAGE_SIZE && last && new URLSearchParams({ before: String(last.seq) });
    if (older && accountId !== undefined) older.set('account', accountId);
    const body = html`${accountId !== undefined && html`<p>For <a href="/operator/accounts/${encodeURIComponent(accountId)}">one account</a>. <a href="/operator/audit">Show all</a></p>`}
${auditTable(shown)}
${older && html`<p class="actions"><a class="button quiet" href="/operator/audit?${older.toString()}">Older</a></p>`}`;
    return sendPrivate(site, visit, { title: 'Audit log', path: '/operator/audit', body });
  });
}

/** Shortens ids. The full text is in the tooltip. */
function shortened(text: string): Html {
  return html`<span title="${text}">${text.replaceAll(/([\da-f]{8})-[\da-f-]{27}/gu, '$1…')}</span>`;
}

function formatDetails(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

function auditTable(entries: readonly AuditEntry[]): Html {
  if (entries.length === 0) return html`<p>No entries.</p>`;
  return table(
    'Audit log',
    ['No.', 'Time (UTC)', 'Actor', 'Action', 'Subject', 'Details'],
    entries.map(({ seq, at, actor, action, accountId, subject, details }) => [
      seq,
      time(at),
      shortened(actor),
      action,
      accountId === null
        ? shortened(subject)
        : html`<a href="/operator/accounts/${encodeURIComponent(accountId)}">${shortened(subject)}</a>`,
      html`<span class="long">${formatDetails(details)}</span>`,
    ]),
  );
}
