// The pages of stored renders: asynchronous ones, and results with a link. There is a list with filters, and a page for
// one render and its actions.

import { AppError } from '../../shared/errors.ts';
import { ERRORS } from '../../shared/error-table.ts';
import type { RenderActions } from '../../service/renders/render-actions.ts';
import { parseResult } from '../../service/renders/render-result.ts';
import { resultPath } from '../../service/renders/render-view.ts';
import { must } from '../../shared/must.ts';
import {
  RENDER_STATUSES,
  type RenderPage,
  type RenderRecord,
  type RenderStatus,
} from '../../service/store/renders/render.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { Store } from '../../service/store/store.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList } from '../tables.ts';
import { factsList } from '../tiles.ts';
import { MARKETPLACE_LABEL } from '../usage/key-label.ts';
import { type Choice, count, time } from './fields.ts';
import { dayField, filterForm, filterSelect, keySelect } from './filter-form.ts';
import { form, seeOther, sendPrivate } from './frame.ts';
import { bytesLabel } from './request-pages.ts';
import { idOf, queryOf, type SignedInRoutes } from './signed-in-routes.ts';

export interface RenderPagesDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'renders' | 'keys'>;
  readonly renderActions: RenderActions;
}

const PATH = '/dashboard/renders';
const PAGE_SIZE = 50;
const LABELS: Readonly<Record<RenderStatus, { readonly label: string; readonly level: string }>> = {
  queued: { label: 'Queued', level: '' },
  rendering: { label: 'Rendering', level: '' },
  succeeded: { label: 'Succeeded', level: 'good' },
  failed: { label: 'Failed', level: 'bad' },
  canceled: { label: 'Canceled', level: 'warn' },
};

export function addRenderPages(routes: SignedInRoutes, { site, store, renderActions }: RenderPagesDependencies): void {
  routes.page({ path: PATH, permission: 'develop', tab: 'Renders' }, async (visit) => {
    const { accountId } = visit.user;
    const keys = await store.keys.list(accountId);
    const keyId = queryOf(visit, 'key');
    const scope = { accountId, ...(keyId !== undefined && { keyId }) };
    const found = await store.renders.list(scope, { ...filterOf(visit), limit: PAGE_SIZE + 1 });
    const body = html`${renderFilter(visit, keys)}${renderTable(found.slice(0, PAGE_SIZE), keys)}${pager(visit, found)}`;
    return await sendPrivate(site, visit, { title: 'Renders', body });
  });
  routes.page({ path: `${PATH}/:id`, permission: 'develop' }, async (visit) => {
    const { accountId } = visit.user;
    const render = await store.renders.find({ accountId }, idOf(visit));
    if (render === undefined) throw notFound();
    const body = renderBody(visit, render, await store.keys.list(accountId));
    return await sendPrivate(site, visit, { title: 'Render', body });
  });
  routes.action({ path: `${PATH}/:id/cancel`, permission: 'develop' }, async (visit) => {
    const render = await renderActions.cancel(visit.user.accountId, idOf(visit));
    if (render === undefined) throw notFound();
    return seeOther(visit, `${PATH}/${render.id}?done=render-${render.status === 'canceled' ? 'canceled' : 'ended'}`);
  });
  routes.action({ path: `${PATH}/:id/delete`, permission: 'develop' }, async (visit) => {
    if (await renderActions.remove(visit.user.accountId, idOf(visit)))
      return seeOther(visit, `${PATH}?done=render-deleted`);
    throw notFound();
  });
}

function notFound(): AppError {
  return new AppError('not_found', "This render doesn't exist. It may have been deleted.");
}

function filterOf(visit: SignedInVisit): Omit<RenderPage, 'limit'> {
  const status = queryOf(visit, 'status');
  const day = queryOf(visit, 'day');
  return {
    status: RENDER_STATUSES.find((known) => known === status),
    day: day !== undefined && /^\d{4}-\d{2}-\d{2}$/u.test(day) ? day : undefined,
    after: queryOf(visit, 'after'),
  };
}

/** Returns the current filters as a query string, with changes. */
function queryWith(visit: SignedInVisit, changes: Readonly<Record<string, string>>): string {
  const current = Object.fromEntries(['status', 'key', 'day'].map((name) => [name, queryOf(visit, name) ?? '']));
  const entries = Object.entries({ ...current, ...changes }).filter(([, value]) => value !== '');
  return new URLSearchParams(entries).toString();
}

function renderFilter(visit: SignedInVisit, keys: readonly KeySummary[]): Html {
  const statuses = RENDER_STATUSES.map((status): Choice => [status, LABELS[status].label]);
  const fields = html`${filterSelect({ name: 'status', label: 'Status', choices: statuses, chosen: queryOf(visit, 'status') })}
${keySelect(keys, queryOf(visit, 'key'))}
${dayField(queryOf(visit, 'day'))}`;
  return filterForm({ action: PATH, fields });
}

function renderTable(renders: readonly RenderRecord[], keys: readonly KeySummary[]): Html {
  if (renders.length === 0) {
    return html`<p>No renders found. <a href="/docs/asynchronous">Asynchronous renders</a> and results with a link appear here.</p>`;
  }
  return entryList(
    'Renders',
    [
      { label: 'Render', place: 'lead' },
      { label: 'Status', place: 'end' },
      { label: 'Created (UTC)', place: 'below' },
      { label: 'Source' },
      { label: 'Key', isName: true },
      { label: 'Credits', isNumber: true },
      { label: 'Result', place: 'below-end' },
    ],
    renders.map((render) => ({
      href: `${PATH}/${render.id}`,
      cells: [
        html`<code>${render.id.slice(0, 8)}</code>`,
        statusLabel(render),
        time(render.createdAt.toISOString()),
        sourceOf(render),
        keyName(render, keys),
        render.credits === undefined ? '–' : count(render.credits),
        resultLink(render, 'Open') ?? problemCode(render) ?? '–',
      ],
    })),
  );
}

function statusLabel({ status, progress }: RenderRecord): Html {
  const { label, level } = LABELS[status];
  return html`<span class="state ${level}">${label}</span>${status === 'rendering' && ` ${Math.floor(progress * 100)} %`}`;
}

function sourceOf({ sourceType, mode }: RenderRecord): string {
  return `${sourceType ?? 'URL'}${mode === 'test' ? ', test' : ''}`;
}

function keyName({ keyId }: RenderRecord, keys: readonly KeySummary[]): string {
  return keys.find(({ id }) => id === keyId)?.name ?? (keyId === undefined ? MARKETPLACE_LABEL : 'deleted key');
}

/** Returns undefined if the render has no result, or the result has expired or is sent to a URL. */
function resultLink({ output, result, target }: RenderRecord, label: string): Html | undefined {
  if (output === undefined || target !== undefined || output.expiresAt.getTime() <= Date.now()) return undefined;
  const href = resultPath(output, parseResult(must(result, 'the facts of a result')));
  return html`<a href="${href}" rel="noreferrer">${label}</a>`;
}

function problemCode({ error }: RenderRecord): Html | undefined {
  const code = codeOf(error);
  return code === undefined ? undefined : html`<a href="/docs/errors#${code}"><code>${code}</code></a>`;
}

function codeOf(error: string | undefined): string | undefined {
  return error === undefined ? undefined : (JSON.parse(error) as { readonly code: string }).code;
}

function pager(visit: SignedInVisit, found: readonly RenderRecord[]): Html {
  const last = found[PAGE_SIZE - 1];
  const older = found.length > PAGE_SIZE && last && queryWith(visit, { after: last.id });
  const isChanging = found.some(({ finishedAt }) => finishedAt === undefined);
  return html`${
    (older || isChanging) &&
    html`<p class="actions">${isChanging && html`<a class="button quiet" href="${PATH}?${queryWith(visit, {})}">Refresh</a>`}
${older && html`<a class="button quiet" href="${PATH}?${older}">Older</a>`}</p>`
  }
<p class="small">Uploaded files are deleted when a render ends, results when they expire, and the record after 30 days.
Requests that wait for their bytes aren’t stored; see <a href="/dashboard/requests">Requests</a>.</p>`;
}

function renderBody(visit: SignedInVisit, render: RenderRecord, keys: readonly KeySummary[]): Html {
  const { startedAt, finishedAt, credits, batchId } = render;
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Status', statusLabel(render)],
    ['Created (UTC)', time(render.createdAt.toISOString())],
    ['Started (UTC)', startedAt && time(startedAt.toISOString())],
    ['Ended (UTC)', finishedAt && time(finishedAt.toISOString())],
    ['Source', sourceOf(render)],
    ['Key', keyName(render, keys)],
    ['Credits', credits === undefined ? 'charged when it succeeds' : count(credits)],
    ['Render ID', html`<code>${render.id}</code>`],
    ['Batch ID', batchId === undefined ? undefined : html`<code>${batchId}</code>`],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  return html`${factsList(known)}
${render.status === 'rendering' && progressMeter(render)}
${resultSection(render)}
${problemSection(render)}
${finishedAt === undefined ? cancelSection(visit, render) : deleteSection(visit, render)}
<p><a href="${PATH}">Back to all renders</a></p>`;
}

function progressMeter({ progress }: RenderRecord): Html {
  const percent = Math.floor(progress * 100);
  return html`<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="${percent} percent are rendered.">
<rect class="whole" width="100" height="4"/><rect class="part" width="${percent}" height="4"/></svg>`;
}

function resultSection(render: RenderRecord): Html | undefined {
  const { output, result } = render;
  if (output === undefined || result === undefined) return undefined;
  const { width, height, duration, warnings, headers } = parseResult(result);
  const link = resultLink(render, 'Open the result');
  const size = `${width} × ${height} pixels${duration === null ? '' : `, ${duration.toFixed(1)} s`}`;
  return html`<section aria-labelledby="result"><h2 id="result">Result</h2>
<p>${headers['content-type']}, ${size}, ${bytesLabel(output.bytes)}</p>
${warnings.length > 0 && html`<p>Warnings: ${warnings.join(', ')}. See <a href="/docs#warnings">what they mean</a>.</p>`}
${
  link
    ? html`<p>${link}. The link needs no key and works until ${time(output.expiresAt.toISOString())} UTC. Anyone who has it can open it.</p>`
    : html`<p>The result expired at ${time(output.expiresAt.toISOString())} UTC and was deleted.</p>`
}
</section>`;
}

function problemSection({ error }: RenderRecord): Html | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  const { detail } = JSON.parse(must(error, 'the error of the render')) as { readonly detail?: string };
  const title = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].title : code;
  return html`<section aria-labelledby="problem"><h2 id="problem">${title}</h2>
<p>${detail ?? ''}</p>
<p>How to fix it: <a href="/docs/errors#${code}"><code>${code}</code></a></p>
</section>`;
}

function cancelSection(visit: SignedInVisit, { id }: RenderRecord): Html {
  return html`<section aria-labelledby="cancel"><h2 id="cancel">Cancel render</h2>
<p>A canceled render costs nothing.</p>
${form(
  visit,
  `${PATH}/${id}/cancel`,
  html`<p class="actions"><button class="button quiet" type="submit">Cancel render</button>
<a class="button quiet" href="${PATH}/${id}">Refresh</a></p>`,
)}
</section>`;
}

function deleteSection(visit: SignedInVisit, { id, status }: RenderRecord): Html {
  const warning =
    status === 'succeeded' ? 'Its link stops working immediately. This can’t be undone.' : 'This can’t be undone.';
  return html`<section aria-labelledby="delete"><h2 id="delete">Delete render</h2>
<details class="twice"><summary>Delete this render</summary>
<p>${warning}</p>
${form(visit, `${PATH}/${id}/delete`, html`<button class="button danger" type="submit">Delete render</button>`)}
</details>
</section>`;
}
