// The pages to list, create, edit, rotate and revoke API keys. The key itself is shown once, after it was created.

import type { FastifyReply } from 'fastify';
import { MAX_ORIGINS } from '../../service/account/web-origin.ts';
import { AppError } from '../../shared/errors.ts';
import { requestBaseUrl } from '../../service/http/transport/request-base-url.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { Store } from '../../service/store/store.ts';
import { type Html, html } from '../html.ts';
import { entryList } from '../tables.ts';
import type { ShownKey } from '../identity/new-key-cookie.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { type Choice, field, selectField, time } from './fields.ts';
import { form, seeOther, sendPrivate } from './frame.ts';
import { checkKeyForm, KeyChanges, type KeyFaults, type KeyForm, OVERLAPS, readKeyForm } from './key-changes.ts';
import { keyBlock } from './key-block.ts';
import { idOf, type SignedInRoutes } from './signed-in-routes.ts';
import { codeSection, keyCost, liveAccessNote } from './start-page.ts';

export interface KeyDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'keys' | 'accounts'>;
  readonly sessionGuard: SessionGuard;
  /** Base URL of the site; empty: taken from each request. */
  readonly publicUrl: string;
}

const PATH = '/dashboard/keys';
const NEW_KEY_PATH = '/dashboard/keys/new';

export function addKeyPages(routes: SignedInRoutes, { site, store, sessionGuard, publicUrl }: KeyDependencies): void {
  const changes = new KeyChanges(store);
  const baseUrlOf = ({ request }: SignedInVisit): string => publicUrl || (requestBaseUrl(request) ?? '');
  const showList = async (visit: SignedInVisit, typed: KeyForm, faults: KeyFaults): Promise<FastifyReply> => {
    const body = html`${liveAccessNote(visit)}${keyTable(await changes.list(visit.user))}${createForm(visit, typed, faults)}`;
    return await sendPrivate(site, visit, { title: 'Keys', body, status: statusOf(faults) });
  };
  const showKey = async (visit: SignedInVisit, key: KeySummary, typed: KeyForm, faults: KeyFaults) => {
    const body = keyBody(visit, key, typed, faults);
    return await sendPrivate(site, visit, { title: key.name, body, status: statusOf(faults) });
  };
  const showNewKey = (visit: SignedInVisit, newKey: ShownKey): FastifyReply => {
    sessionGuard.keepNewKey(visit, newKey);
    return seeOther(visit, NEW_KEY_PATH);
  };

  routes.page({ path: NEW_KEY_PATH, permission: 'develop' }, async (visit) => {
    const newKey = sessionGuard.newKey(visit.request);
    if (newKey === undefined) return seeOther(visit, PATH);
    const body = newKeyBody(visit, newKey, baseUrlOf(visit));
    return await sendPrivate(site, visit, { title: 'Your new key', body });
  });
  routes.action({ path: NEW_KEY_PATH, permission: 'develop' }, async (visit) => {
    sessionGuard.forgetNewKey(visit);
    return seeOther(visit, PATH);
  });
  routes.page(
    { path: PATH, permission: 'develop', tab: 'Keys' },
    async (visit) => await showList(visit, { name: '', origins: '' }, {}),
  );
  routes.action({ path: PATH, permission: 'develop' }, async (visit, fields) => {
    const typed = readKeyForm(fields);
    const checked = checkKeyForm(typed);
    if ('faults' in checked) return await showList(visit, typed, checked.faults);
    const mode = fields.text('mode') === 'test' ? 'test' : 'live';
    return showNewKey(visit, await changes.create(visit.user, mode, checked.name, checked.allowedOrigins));
  });
  routes.page({ path: `${PATH}/:id`, permission: 'develop' }, async (visit) => {
    const key = await changes.find(visit.user, idOf(visit));
    return showKey(visit, key, { name: key.name, origins: key.allowedOrigins.join('\n') }, {});
  });
  routes.action({ path: `${PATH}/:id`, permission: 'develop' }, async (visit, fields) => {
    const key = await changes.find(visit.user, idOf(visit));
    const typed = readKeyForm(fields);
    const checked = checkKeyForm(typed);
    if ('faults' in checked) return showKey(visit, key, typed, checked.faults);
    await changes.save(visit.user, key, checked.name, checked.allowedOrigins);
    return seeOther(visit, `${PATH}/${key.id}?done=key-saved`);
  });
  routes.action({ path: `${PATH}/:id/rotate`, permission: 'develop' }, async (visit, fields) => {
    const key = await changes.find(visit.user, idOf(visit));
    const overlap = fields.text('overlap');
    if (!Object.hasOwn(OVERLAPS, overlap)) throw new AppError('invalid_fields', 'Choose when the old key expires.');
    const { milliseconds } = OVERLAPS[overlap as keyof typeof OVERLAPS];
    return showNewKey(visit, await changes.rotate(visit.user, key, milliseconds));
  });
  routes.action({ path: `${PATH}/:id/revoke`, permission: 'develop' }, async (visit) => {
    await changes.revoke(visit.user, await changes.find(visit.user, idOf(visit)));
    return seeOther(visit, `${PATH}?done=key-revoked`);
  });
}

function statusOf(faults: KeyFaults): number {
  return Object.keys(faults).length > 0 ? 422 : 200;
}

function keyTable(keys: readonly KeySummary[]): Html {
  if (keys.length === 0) return html`<p>No API keys yet. Create one to get started.</p>`;
  return entryList(
    'Keys',
    [
      { label: 'Name', place: 'lead', isName: true },
      { label: 'Key', place: 'below' },
      { label: 'Origins', isName: true },
      { label: 'Status', place: 'end' },
      { label: 'Last used', place: 'below-end' },
    ],
    keys.map((key) => ({
      href: `${PATH}/${key.id}`,
      cells: [
        key.name,
        maskedKey(key),
        key.allowedOrigins.length === 0 ? 'server-side only' : key.allowedOrigins.join(', '),
        stateOf(key),
        time(key.lastUsedAt),
      ],
    })),
  );
}

export function maskedKey({ prefix, lastFour }: KeySummary): Html {
  return html`<code>${prefix}…${lastFour}</code>`;
}

const STATE_LEVELS: Readonly<Record<KeySummary['state'], string>> = {
  active: 'good',
  suspended: 'warn',
  revoked: 'bad',
};

export function stateOf({ state, mode, expiresAt }: KeySummary): Html {
  const prefix = mode === 'test' ? 'test, ' : '';
  if (state === 'active' && expiresAt !== null) return html`${prefix}expires ${time(expiresAt)}`;
  return html`${prefix}<span class="state ${STATE_LEVELS[state]}">${state}</span>`;
}

function createForm(visit: SignedInVisit, typed: KeyForm, faults: KeyFaults): Html {
  const missing = liveKeyFault(visit);
  return html`<section aria-labelledby="create">
<h2 id="create">Create API key</h2>
${form(
  visit,
  PATH,
  html`${nameField(typed, faults)}
<fieldset class="choices"><legend>Mode</legend>
<label><input type="radio" name="mode" value="live"${missing === undefined ? html` checked` : html` disabled`}> Live: uses credits${missing !== undefined && ` (${missing})`}</label>
<label><input type="radio" name="mode" value="test"${missing !== undefined && html` checked`}> Test: free, watermarked</label>
</fieldset>
${originsField(typed, faults)}
<p class="actions"><button class="button" type="submit">Create key</button></p>`,
  'stacked',
)}
</section>`;
}

/** Explains why the user can't create live keys yet. */
function liveKeyFault({ user, awaitsApproval }: SignedInVisit): string | undefined {
  if (user.unconfirmedEmail !== null) return 'confirm your email first';
  return awaitsApproval ? 'after an operator approves the account' : undefined;
}

function nameField({ name }: KeyForm, faults: KeyFaults): Html {
  const hint = 'For example, “Production” or “Shopify store”.';
  return field({
    name: 'name',
    label: 'Name',
    value: name,
    autocomplete: 'off',
    hint,
    fault: faults.name,
    maxLength: 80,
  });
}

function originsField({ origins }: KeyForm, { origins: fault }: KeyFaults): Html {
  return html`<div class="field">
<label for="origins">Allowed origins (optional)</label>
<textarea id="origins" name="origins" rows="3" spellcheck="false" placeholder="https://shop.example"${fault !== undefined && html` aria-invalid="true" autofocus`} aria-describedby="origins-hint${fault !== undefined && ' origins-fault'}">${origins}</textarea>
${fault !== undefined && html`<p class="fault" id="origins-fault">${fault}</p>`}
<p class="small" id="origins-hint">One per line, up to ${MAX_ORIGINS}. Leave empty for server-side use only.</p>
</div>`;
}

function newKeyBody(visit: SignedInVisit, newKey: ShownKey, baseUrl: string): Html {
  return html`<p>Copy your <strong>“${newKey.name}”</strong> key now. ${keyCost(newKey)} This page shows it until you click Done, for at most an hour.</p>
${keyBlock(newKey.key, 'Your new key')}
${form(visit, NEW_KEY_PATH, html`<p class="actions"><button class="button" type="submit">Done</button></p>`)}
${codeSection(baseUrl, newKey.key)}`;
}

function keyBody(visit: SignedInVisit, key: KeySummary, typed: KeyForm, faults: KeyFaults): Html {
  const facts = html`<dl class="facts-list">
<div><dt>Key</dt><dd>${maskedKey(key)}</dd></div>
<div><dt>Status</dt><dd>${stateOf(key)}</dd></div>
<div><dt>Created</dt><dd>${time(key.createdAt)}</dd></div>
<div><dt>Last used</dt><dd>${time(key.lastUsedAt)}</dd></div>
</dl>`;
  if (key.state === 'revoked') return html`${facts}<p>This key has been revoked.</p>`;
  return html`${facts}
${form(
  visit,
  `${PATH}/${key.id}`,
  html`${nameField(typed, faults)}${originsField(typed, faults)}
<p class="actions"><button class="button" type="submit">Save</button></p>`,
  'stacked',
)}
${key.expiresAt === null && rotateSection(visit, key)}
<section aria-labelledby="revoke">
<h2 id="revoke">Revoke key</h2>
<details class="twice"><summary>Revoke this key</summary>
<p>Requests with this key will fail immediately. This can’t be undone.</p>
${form(visit, `${PATH}/${key.id}/revoke`, html`<button class="button danger" type="submit">Revoke key</button>`)}
</details>
</section>`;
}

function rotateSection(visit: SignedInVisit, key: KeySummary): Html {
  const choices = Object.entries(OVERLAPS).map(([value, { label }]): Choice => [value, label]);
  return html`<section aria-labelledby="rotate">
<h2 id="rotate">Rotate key</h2>
<p>Create a replacement with the same settings. The old key keeps working while you switch.</p>
${form(
  visit,
  `${PATH}/${key.id}/rotate`,
  html`${selectField({ name: 'overlap', label: 'Old key expires', choices, chosen: 'day' })}
<p class="actions"><button class="button quiet" type="submit">Rotate key</button></p>`,
  'stacked',
)}
</section>`;
}
