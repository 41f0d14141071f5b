// The account page: download all data, and delete the account.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { BrandObject, SavedFiles } from '../../service/brand/saved-files.ts';
import type { Billing } from '../../service/billing/billing.ts';
import { AppError } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { ExportedRow, ExportedRows } from '../../service/store/accounts/account-data.ts';
import type { Store } from '../../service/store/store.ts';
import { field, time } from '../account/fields.ts';
import { form, PRIVATE_HEADERS, seeOther, sendPrivate, shownEmail } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';

export interface AccountSettingsDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'accountData' | 'users'>;
  readonly billing: Billing;
  readonly identity: Identity;
  readonly sessionGuard: SessionGuard;
  readonly files: Pick<SavedFiles, 'read'>;
}

const PATH = '/dashboard/account';
const DELETE_PATH = '/dashboard/account/delete';
const OPERATOR_FAULT = 'Operators can’t delete their account. Ask another operator to make you a member first.';
const OTHER_OPERATOR_FAULT =
  'An operator of this server belongs to this account, so it can’t be deleted. Remove them from the account first.';

export function addAccountSettings(routes: SignedInRoutes, dependencies: AccountSettingsDependencies): void {
  const { site, store, identity } = dependencies;
  routes.page({ path: PATH, permission: 'own', tab: 'Account' }, async (visit) => {
    const { id, name, createdAt } = must(await store.accounts.find(visit.user.accountId), 'the account');
    const body = html`<dl class="facts-list">
<div><dt>Email</dt><dd>${shownEmail(visit)}</dd></div>
<div><dt>Name</dt><dd>${name}</dd></div>
<div><dt>Account ID</dt><dd><code>${id}</code></dd></div>
<div><dt>Created</dt><dd>${time(createdAt)}</dd></div>
</dl>
<section aria-labelledby="export"><h2 id="export">Your data</h2>
<p>Download everything that is stored about this account as JSON: users, keys without their secrets, usage, renders, requests, styles, logos and fonts, and the audit log.</p>
<p class="actions"><a class="button quiet" href="${PATH}/export.json" download>Download your data</a></p>
</section>
<section aria-labelledby="delete"><h2 id="delete">Delete account</h2>
<p>Ends your plan and deletes all data. This can’t be undone.</p>
<p class="actions"><a class="button danger" href="${DELETE_PATH}">Delete account…</a></p>
</section>`;
    return await sendPrivate(site, visit, { title: 'Account', body });
  });
  routes.page({ path: `${PATH}/export.json`, permission: 'own' }, async ({ user, request, reply }) => {
    await identity.throttle('export', user, request.ip);
    const headers = {
      ...PRIVATE_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="storybar-account.json"',
    };
    const batches = withContent(store.accountData.exported(user.accountId), dependencies.files);
    return reply.headers(headers).send(Readable.from(exportText(batches)));
  });
  addDeletion(routes, dependencies);
}

function addDeletion(routes: SignedInRoutes, dependencies: AccountSettingsDependencies): void {
  const { site, store, billing, identity, sessionGuard } = dependencies;
  const reasonAgainst = async ({ user }: SignedInVisit): Promise<string | undefined> => {
    if (user.role === 'operator') return OPERATOR_FAULT;
    const users = await store.users.list(user.accountId);
    return users.some(({ role }) => role === 'operator') ? OTHER_OPERATOR_FAULT : undefined;
  };
  const show = async (visit: SignedInVisit, fault?: string): Promise<FastifyReply> => {
    const why = await reasonAgainst(visit);
    const body = why === undefined ? deleteBody(visit, billing, fault) : html`<p>${why}</p>`;
    const status = fault === undefined ? 200 : 422;
    return await sendPrivate(site, visit, { title: 'Delete account', body, status });
  };

  routes.page({ path: DELETE_PATH, permission: 'own' }, async (visit) => await show(visit));
  routes.action({ path: DELETE_PATH, permission: 'own' }, async (visit, fields) => {
    const { user, request } = visit;
    const why = await reasonAgainst(visit);
    if (why !== undefined) throw new AppError('invalid_fields', why);
    if (!(await identity.checkPassword(user, fields.text('password'), request.ip))) {
      return await show(visit, 'Incorrect password.');
    }
    // Billing ends first, because an account that is gone must not be charged. If the server stops in between, the user
    // can repeat it.
    await billing.endNow(user.accountId);
    await store.accountData.erase(user.accountId, `user:${user.id}`);
    await sessionGuard.signOut(visit);
    return seeOther(visit, '/signin?done=account-deleted');
  });
}

function deleteBody(visit: SignedInVisit, { takesPayments }: Billing, fault: string | undefined): Html {
  return html`<ul>
<li>All API keys stop working, and all users of this account are signed out.</li>
${takesPayments && html`<li>Your plan ends now. The current period isn’t refunded. Invoices stay with the payment provider, as the law requires.</li>`}
<li>Users, keys, usage, renders and requests are deleted. Stored files follow within a day.</li>
</ul>
<p><a href="${PATH}/export.json" download>Download your data</a> first if you want to keep it.</p>
${form(
  visit,
  DELETE_PATH,
  html`<input type="hidden" name="username" value="${shownEmail(visit)}" autocomplete="username">
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', fault })}
<p class="actions"><button class="button danger" type="submit">Delete account</button>
<a class="button quiet" href="${PATH}">Back</a></p>`,
  'stacked',
)}`;
}

/** Adds the content of logos and fonts, in Base64. */
async function* withContent(
  batches: AsyncIterable<ExportedRows>,
  files: Pick<SavedFiles, 'read'>,
): AsyncGenerator<ExportedRows> {
  for await (const batch of batches) {
    const isFiles = batch.name === 'brand_files';
    yield isFiles ? { ...batch, rows: [] } : batch;
    if (!isFiles) continue;
    // One by one, because many large files would take much memory together.
    for (const row of batch.rows) yield { ...batch, rows: [{ ...row, content: await contentOf(row, files) }] };
  }
}

/** Returns null for a deleted file, and for one that can't be read, because the rest of the export doesn't need it. */
async function contentOf(row: ExportedRow, files: Pick<SavedFiles, 'read'>): Promise<string | null> {
  if (row['deleted_at'] !== null) return null;
  try {
    return (await files.read(row as unknown as BrandObject)).toString('base64');
  } catch (error) {
    if (error instanceof AppError && error.code === 'storage_unavailable') return null;
    throw error;
  }
}

/** Yields one JSON object with a list per section, written while it is read. */
async function* exportText(batches: AsyncIterable<ExportedRows>): AsyncGenerator<string> {
  yield `{"exported_at":${JSON.stringify(new Date().toISOString())}`;
  let section: string | undefined;
  let isFirst = true;
  for await (const { name, rows } of batches) {
    if (name !== section) {
      yield `${section === undefined ? '' : ']'},\n${JSON.stringify(name)}:[`;
      section = name;
      isFirst = true;
    }
    for (const row of rows) {
      yield `${isFirst ? '' : ','}\n${JSON.stringify(row)}`;
      isFirst = false;
    }
  }
  yield `${section === undefined ? '' : ']'}}\n`;
}
