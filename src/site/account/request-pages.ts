// The log of API requests: a list with filters, one request in detail, and an export as CSV.

import type { FastifyReply } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import { FAULTS } from '../../service/api/faults.ts';
import { ERRORS } from '../../shared/error-table.ts';
import { must } from '../../shared/must.ts';
import type { LoggedRequest, RequestFilter } from '../../service/store/requests/request-log.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { Store } from '../../service/store/store.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList, table } from '../tables.ts';
import { factsList } from '../tiles.ts';
import { MARKETPLACE_LABEL, PLAYGROUND_LABEL } from '../usage/key-label.ts';
import { toCsv } from './csv.ts';
import { type Choice, count, field, problem, secondsTime } from './fields.ts';
import { dayField, filterForm, filterSelect, keySelect } from './filter-form.ts';
import { PRIVATE_HEADERS, seeOther, sendPrivate, type Tab } from './frame.ts';
import { type PageRoute, queryOf, type SignedInRoutes } from './signed-in-routes.ts';

export interface RequestPagesDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'requests' | 'keys' | 'renders'>;
}

const PATH = '/dashboard/requests';
const PAGE_SIZE = 50;
const EXPORT_SIZE = 10_000;
/** Requests that only ask whether a render has ended, which programs send again and again. */
const POLLS = ['GET /v1/renders/:id', 'GET /v1/batches/:id'];
const STATUSES: Readonly<Record<string, { label: string; range: readonly [number, number] }>> = {
  ok: { label: 'Delivered (2xx)', range: [200, 299] },
  rejected: { label: 'Rejected (4xx)', range: [400, 499] },
  failed: { label: 'Server error (5xx)', range: [500, 599] },
};

/** The account whose requests a page shows, and the location of the page. */
interface RequestView {
  readonly accountId: string;
  readonly path: string;
  readonly title: string;
  /** The pages about the same account. */
  readonly views?: readonly Tab[];
  /** Content above the page. */
  readonly before?: Html;
}

interface RequestViewRoutes {
  /** The list; a request is one level below. */
  readonly route: PageRoute;
  readonly baseOf: (visit: SignedInVisit) => Promise<RequestView>;
}

export function addRequestPages(routes: SignedInRoutes, dependencies: RequestPagesDependencies): void {
  addRequestViews(routes, dependencies, {
    route: { path: PATH, permission: 'view', tab: 'Requests' },
    baseOf: async ({ user }) => ({ accountId: user.accountId, path: PATH, title: 'Requests' }),
  });
  routes.page({ path: '/dashboard/requests.csv', permission: 'view' }, async (visit) => {
    const filter = { ...filterOf(visit), count: EXPORT_SIZE };
    return sendCsv(visit, await dependencies.store.requests.list(visit.user.accountId, filter));
  });
}

export function addRequestViews(
  routes: SignedInRoutes,
  { site, store }: RequestPagesDependencies,
  { route, baseOf }: RequestViewRoutes,
): void {
  const isOwn = route.path === PATH;
  routes.page(route, async (visit) => {
    const view = await baseOf(visit);
    const id = queryOf(visit, 'id')?.trim();
    if (id !== undefined && (await store.requests.find(view.accountId, id)) !== undefined) {
      return seeOther(visit, `${view.path}/${id}`);
    }
    const keys = await store.keys.list(view.accountId);
    const found = await store.requests.list(view.accountId, { ...filterOf(visit), count: PAGE_SIZE + 1 });
    const body = html`${view.before}${requestFilter(visit, view.path, keys)}
${id !== undefined && problem(`No request of the last 30 days has the ID ${id}.`)}
<div data-refresh>${requestTable(found.slice(0, PAGE_SIZE), keys, view.path)}</div>${pager(visit, found, view.path, isOwn)}`;
    return await sendPrivate(site, visit, { ...view, body, modules: ['refresh.js'] });
  });
  routes.page({ path: `${route.path}/:request`, permission: route.permission }, async (visit) => {
    const view = await baseOf(visit);
    const request = await store.requests.find(view.accountId, requestIdOf(visit));
    if (request === undefined) throw new AppError('not_found', "This request isn't in the log.");
    const isStored = isOwn && (await store.renders.find({ accountId: view.accountId }, request.id)) !== undefined;
    const keys = await store.keys.list(view.accountId);
    const body = html`${view.before}${requestBody(request, keys, view.path, isStored)}`;
    return await sendPrivate(site, visit, { title: 'Request', body });
  });
}

function requestIdOf({ request }: SignedInVisit): string {
  return must((request.params as { request?: string }).request, 'the id of the request in the path');
}

function filterOf(visit: SignedInVisit): Omit<RequestFilter, 'count'> {
  const [at, id] = queryOf(visit, 'before')?.split(',') ?? [];
  const day = queryOf(visit, 'day');
  return {
    statuses: STATUSES[queryOf(visit, 'status') ?? '']?.range,
    keyId: queryOf(visit, 'key'),
    day: day !== undefined && /^\d{4}-\d{2}-\d{2}$/u.test(day) ? day : undefined,
    quietPaths: queryOf(visit, 'polls') === undefined ? POLLS : undefined,
    before: at !== undefined && id !== undefined ? { at, id } : undefined,
  };
}

/** Returns the current filters as a query string, with changes. */
function queryWith(visit: SignedInVisit, changes: Readonly<Record<string, string>>): string {
  const current = Object.fromEntries(
    ['status', 'key', 'day', 'polls'].map((name) => [name, queryOf(visit, name) ?? '']),
  );
  const entries = Object.entries({ ...current, ...changes }).filter(([, value]) => value !== '');
  return new URLSearchParams(entries).toString();
}

function requestFilter(visit: SignedInVisit, path: string, keys: readonly KeySummary[]): Html {
  const statuses = Object.entries(STATUSES).map(([value, { label }]): Choice => [value, label]);
  const fields = html`${filterSelect({ name: 'status', label: 'Status', choices: statuses, chosen: queryOf(visit, 'status') })}
${keySelect(keys, queryOf(visit, 'key'))}
${dayField(queryOf(visit, 'day'))}
${field({ name: 'id', label: 'Request or render ID', value: queryOf(visit, 'id') ?? '', autocomplete: 'off', required: false })}
<label class="check"><input type="checkbox" name="polls" value="on"${queryOf(visit, 'polls') !== undefined && html` checked`}> Polling</label>`;
  return filterForm({ action: path, fields });
}

function requestTable(requests: readonly LoggedRequest[], keys: readonly KeySummary[], path: string): Html {
  if (requests.length === 0) {
    return html`<p>No requests found. New requests appear here within a few seconds. <a href="/dashboard/start">Send your first request</a></p>`;
  }
  return entryList(
    'Requests',
    [
      { label: 'Status', place: 'lead' },
      { label: 'Time (UTC)', place: 'end' },
      { label: 'Endpoint', place: 'below' },
      { label: 'Key', isName: true },
      { label: 'Duration', place: 'below-end', isNumber: true },
      { label: 'Size', isNumber: true },
      { label: 'Credits', isNumber: true },
    ],
    requests.map((request) => ({
      href: `${path}/${request.id}`,
      cells: [
        statusLabel(request),
        secondsTime(request.at),
        html`<code>${request.path}</code>`,
        keyName(request, keys),
        `${count(request.durationMs)} ms`,
        bytesLabel(request.bytesOut),
        count(request.credits),
      ],
    })),
  );
}

function statusLabel({ status, code }: LoggedRequest): Html {
  const level = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return html`<span class="state ${level}">${status}</span> ${code}`;
}

function keyName({ keyId, path }: LoggedRequest, keys: readonly KeySummary[]): string {
  if (keyId !== null) return keys.find(({ id }) => id === keyId)?.name ?? 'deleted key';
  return path.includes(' /playground/') ? PLAYGROUND_LABEL : MARKETPLACE_LABEL;
}

export function bytesLabel(bytes: number): string {
  return bytes < 100_000 ? `${count(Math.ceil(bytes / 1_000))} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function pager(visit: SignedInVisit, found: readonly LoggedRequest[], path: string, isOwn: boolean): Html {
  const last = found[PAGE_SIZE - 1];
  const older = found.length > PAGE_SIZE && last && queryWith(visit, { before: `${last.at},${last.id}` });
  return html`${older && html`<p class="actions"><a class="button quiet" href="${path}?${older}">Older</a></p>`}
<p class="small">${isOwn && html`<a href="/dashboard/requests.csv?${queryWith(visit, {})}">Export (CSV)</a> (latest ${count(EXPORT_SIZE)}). `}
Requests are kept for 30 days, at most 100,000, and of refused ones at most 300 per minute. Captions and files are never logged.</p>`;
}

function requestBody(request: LoggedRequest, keys: readonly KeySummary[], path: string, isStored: boolean): Html {
  const facts: readonly (readonly [string, Html | string])[] = [
    ['Status', statusLabel(request)],
    ['Time (UTC)', secondsTime(request.at)],
    ['Endpoint', html`<code>${request.path}</code>`],
    ['Key', keyName(request, keys)],
    ['Duration', `${count(request.durationMs)} ms`],
    ['Received', bytesLabel(request.bytesIn)],
    ['Sent', bytesLabel(request.bytesOut)],
    ['Credits', count(request.credits)],
    ['Request ID', html`<code>${request.id}</code>`],
    ...(isStored ? [['Render', html`<a href="/dashboard/renders/${request.id}">Status and result</a>`] as const] : []),
  ];
  return html`${factsList(facts)}
${problemSection(request)}
<p><a href="${path}">Back to all requests</a></p>`;
}

function problemSection({ code, faults }: LoggedRequest): Html | undefined {
  if (code === null) return undefined;
  const title = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].title : code;
  const meaning = (fault: string): string => (Object.hasOwn(FAULTS, fault) ? FAULTS[fault as keyof typeof FAULTS] : '');
  return html`<section aria-labelledby="problem"><h2 id="problem">${title}</h2>
<p>How to fix it: <a href="/docs/errors#${code}"><code>${code}</code></a></p>
${
  faults.length > 0 &&
  table(
    'Field errors',
    ['Field', 'Code', 'Meaning'],
    faults.map((fault) => [
      html`<code>${fault.pointer}</code>`,
      html`<code>${fault.code}</code>`,
      html`<span class="long">${meaning(fault.code)}</span>`,
    ]),
  )
}
</section>`;
}

function sendCsv({ reply }: SignedInVisit, requests: readonly LoggedRequest[]): FastifyReply {
  const header = ['id', 'at', 'key_id', 'path', 'status', 'code', 'duration_ms', 'credits', 'bytes_in', 'bytes_out'];
  const rows = requests.map(({ id, at, keyId, path, status, code, durationMs, credits, bytesIn, bytesOut }) => [
    id,
    at,
    keyId,
    path,
    status,
    code,
    durationMs,
    credits,
    bytesIn,
    bytesOut,
  ]);
  const headers = {
    ...PRIVATE_HEADERS,
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="storybar-requests.csv"',
  };
  return reply.headers(headers).send(toCsv(header, rows));
}
