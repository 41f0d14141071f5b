// Keys: listed, made, renamed, restricted to pages, replaced and revoked. A key itself is on one page, once.

import type { FastifyReply } from 'fastify';
import { MAX_ORIGINS } from '../../account/web-origin.ts';
import { AppError } from '../../errors.ts';
import type { KeySummary, Store } from '../../store/store.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { field, table, time } from './fields.ts';
import { form, seeOther, sendPrivate } from './frame.ts';
import { checkKeyForm, type KeyForm, KeyChanges, OVERLAPS, readKeyForm } from './key-changes.ts';
import { idOf, type SignedInRoutes } from './signed-in-routes.ts';

export interface KeyDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'keys'>;
}

type Faults = { readonly name?: string; readonly origins?: string };

const PATH = '/dashboard/keys';

export function addKeyPages(routes: SignedInRoutes, { site, store }: KeyDependencies): void {
  const changes = new KeyChanges(store);
  const list = async (visit: SignedInVisit, typed: KeyForm, faults: Faults): Promise<FastifyReply> => {
    const body = html`${keyTable(await changes.list(visit.user))}${createForm(visit, typed, faults)}`;
    return sendPrivate(site, visit, { title: 'Keys', path: PATH, body, status: statusOf(faults) });
  };
  const one = (visit: SignedInVisit, key: KeySummary, typed: KeyForm, faults: Faults): FastifyReply => {
    const body = keyBody(visit, key, typed, faults);
    return sendPrivate(site, visit, { title: key.name, path: `${PATH}/${key.id}`, body, status: statusOf(faults) });
  };
  const show = (visit: SignedInVisit, name: string, key: string): FastifyReply =>
    sendPrivate(site, visit, { title: 'Your new key', path: PATH, body: newKey(name, key) });

  routes.page(PATH, async (visit) => await list(visit, { name: '', origins: '' }, {}));
  routes.action(PATH, async (visit, fields) => {
    const typed = readKeyForm(fields);
    const checked = checkKeyForm(typed);
    if ('faults' in checked) return await list(visit, typed, checked.faults);
    const mode = fields.text('mode') === 'test' ? 'test' : 'live';
    return show(visit, checked.name, await changes.create(visit.user, mode, checked.name, checked.allowedOrigins));
  });
  routes.page(`${PATH}/:id`, async (visit) => {
    const key = await changes.find(visit.user, idOf(visit));
    return one(visit, key, { name: key.name, origins: key.allowedOrigins.join('\n') }, {});
  });
  routes.action(`${PATH}/:id`, async (visit, fields) => {
    const key = await changes.find(visit.user, idOf(visit));
    const typed = readKeyForm(fields);
    const checked = checkKeyForm(typed);
    if ('faults' in checked) return one(visit, key, typed, checked.faults);
    await changes.save(visit.user, key, checked.name, checked.allowedOrigins);
    return seeOther(visit, `${PATH}/${key.id}?done=key-saved`);
  });
  routes.action(`${PATH}/:id/rotate`, async (visit, fields) => {
    const key = await changes.find(visit.user, idOf(visit));
    const overlap = fields.text('overlap');
    if (!Object.hasOwn(OVERLAPS, overlap)) throw new AppError('invalid_fields', 'Choose how long the old key works.');
    const { milliseconds } = OVERLAPS[overlap as keyof typeof OVERLAPS];
    return show(visit, key.name, await changes.rotate(visit.user, key, milliseconds));
  });
  routes.action(`${PATH}/:id/revoke`, async (visit) => {
    await changes.revoke(visit.user, await changes.find(visit.user, idOf(visit)));
    return seeOther(visit, `${PATH}?done=key-revoked`);
  });
}

function statusOf(faults: Faults): number {
  return Object.keys(faults).length > 0 ? 422 : 200;
}

function keyTable(keys: readonly KeySummary[]): Html {
  if (keys.length === 0) return html`<p>No keys yet. The first one takes a name and a click.</p>`;
  return table(
    'Keys',
    ['Name', 'Key', 'For', 'State', 'Last used'],
    keys.map((key) => [
      html`<a href="${PATH}/${key.id}">${key.name}</a>`,
      maskedKey(key),
      key.allowedOrigins.length === 0 ? 'servers' : key.allowedOrigins.join(', '),
      stateOf(key),
      time(key.lastUsedAt),
    ]),
  );
}

export function maskedKey({ prefix, lastFour }: KeySummary): Html {
  return html`<code>${prefix}…${lastFour}</code>`;
}

export function stateOf({ state, mode, expiresAt }: KeySummary): Html {
  const kind = mode === 'test' ? 'test, ' : '';
  if (state === 'active' && expiresAt !== null) return html`${kind}works until ${time(expiresAt)}`;
  return html`${kind}${state}`;
}

function createForm(visit: SignedInVisit, typed: KeyForm, faults: Faults): Html {
  return html`<section aria-labelledby="create">
<h2 id="create">A new key</h2>
${form(
  visit,
  PATH,
  html`${nameField(typed, faults)}
<fieldset class="choices"><legend>Kind</legend>
<label><input type="radio" name="mode" value="live" checked> Live: renders cost credits</label>
<label><input type="radio" name="mode" value="test"> Test: free, with a watermark</label>
</fieldset>
${originsField(typed, faults)}
<p class="actions"><button class="button" type="submit">Create key</button></p>`,
  'stacked',
)}
</section>`;
}

function nameField({ name }: KeyForm, faults: Faults): Html {
  const hint = 'Where you use it, for example “shop, production”.';
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

function originsField({ origins }: KeyForm, { origins: fault }: Faults): Html {
  return html`<div class="field">
<label for="origins">Web pages that may use it</label>
<textarea id="origins" name="origins" rows="3" spellcheck="false" placeholder="https://shop.example"${fault !== undefined && html` aria-invalid="true"`} aria-describedby="origins-hint${fault !== undefined && ' origins-fault'}">${origins}</textarea>
${fault !== undefined && html`<p class="fault" id="origins-fault">${fault}</p>`}
<p class="small" id="origins-hint">Origins, one a line, at most ${MAX_ORIGINS}. Leave it empty for a key that only servers use.</p>
</div>`;
}

function newKey(name: string, key: string): Html {
  return html`<p>This is <strong>${name}</strong>. Copy it now: it is shown only this once, and kept nowhere.</p>
<div class="code new-key"><pre tabindex="0" aria-label="Your new key"><code>${key}</code></pre><button class="copy" type="button" data-copy hidden>Copy</button></div>
<p class="actions"><a class="button" href="${PATH}">I have copied it</a></p>`;
}

function keyBody(visit: SignedInVisit, key: KeySummary, typed: KeyForm, faults: Faults): Html {
  const facts = html`<dl class="facts-list">
<div><dt>Key</dt><dd>${maskedKey(key)}</dd></div>
<div><dt>State</dt><dd>${stateOf(key)}</dd></div>
<div><dt>Created</dt><dd>${time(key.createdAt)}</dd></div>
<div><dt>Last used</dt><dd>${time(key.lastUsedAt)}</dd></div>
</dl>`;
  if (key.state === 'revoked') return html`${facts}<p>A revoked key stays revoked.</p>`;
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
<h2 id="revoke">Revoke</h2>
<details class="twice"><summary>Revoke this key</summary>
<p>It stops working at once, for good. Whatever uses it gets 401.</p>
${form(visit, `${PATH}/${key.id}/revoke`, html`<button class="button" type="submit">Yes, revoke it</button>`)}
</details>
</section>`;
}

function rotateSection(visit: SignedInVisit, key: KeySummary): Html {
  const options = Object.entries(OVERLAPS).map(
    ([value, { label }]) => html`<option value="${value}"${value === 'day' && html` selected`}>${label}</option>`,
  );
  return html`<section aria-labelledby="rotate">
<h2 id="rotate">Replace</h2>
<p>You get a new key like this one. The old one goes on for a while, so that you can change over in peace.</p>
${form(
  visit,
  `${PATH}/${key.id}/rotate`,
  html`<div class="field"><label for="overlap">The old key works for</label>
<select id="overlap" name="overlap">${options}</select></div>
<p class="actions"><button class="button quiet" type="submit">Replace this key</button></p>`,
  'stacked',
)}
</section>`;
}
