// The usage page: credits, renders per day, key and type, and the latest renders, with CSV exports.

import type { FastifyReply } from 'fastify';
import { allowedBroken, type DeliveryCounts } from '../../service/account/broken-delivery.ts';
import type { PlanBook } from '../../service/account/plans.ts';
import { may } from '../../service/account/roles.ts';
import { must } from '../../shared/must.ts';
import type { AccountSummary } from '../../service/store/accounts/accounts.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { RenderSummary } from '../../service/store/ledger/usage.ts';
import type { UsageDetail } from '../../service/store/ledger/usage-details.ts';
import type { Store } from '../../service/store/store.ts';
import { type Html, html } from '../html.ts';
import { entryList } from '../tables.ts';
import { tiles } from '../tiles.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { keylessLabel } from '../usage/key-label.ts';
import { keyUsageTable } from '../usage/key-usage.ts';
import {
  matches,
  rangeLabel,
  type UsageFilter,
  usageFilterForm,
  usageFilterOf,
  usageQuery,
} from '../usage/usage-filter.ts';
import { toCsv } from './csv.ts';
import { count, day, standingProblem, time } from './fields.ts';
import { PRIVATE_HEADERS, sendPrivate } from './frame.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';
import { liveAccessNote, START_PATH } from './start-page.ts';
import { countDays, type DayCounts, dayAfter, outcomeLabel, type Series } from './outcomes.ts';
import { creditMeter, usageChart } from './usage-chart.ts';

export interface UsageDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'ledger' | 'usage' | 'keys'>;
  readonly plans: PlanBook;
}

const OWN_PATH = '/dashboard';
const LATEST_RENDERS = 10;
const LONGEST_RANGE = 90;
const EXPORT_DAYS = 366;
const EXPORT_RENDERS = 10_000;

export function addUsagePages(routes: SignedInRoutes, { site, store, plans }: UsageDependencies): void {
  routes.page({ path: OWN_PATH, permission: 'view', tab: 'Usage' }, async (visit) => {
    const { accountId } = visit.user;
    const account = must(await store.accounts.find(accountId), `the account ${accountId}`);
    const body = html`${liveAccessNote(visit)}${stateOf(account)}
${await usageBody({ store, plans }, visit, account, OWN_PATH)}`;
    return await sendPrivate(site, visit, { title: 'Usage', body });
  });
  routes.page({ path: '/dashboard/usage/days.csv', permission: 'view' }, async (visit) => {
    const today = new Date();
    const [from, to] = [dayAfter(today, 1 - EXPORT_DAYS), dayAfter(today, 0)];
    const days = await store.usage.days(visit.user.accountId, from, to);
    const rows = days.map((row) => [row.day, row.mode, row.outcome, row.renders, row.credits]);
    return sendCsv(visit, 'storybar-days.csv', toCsv(['day', 'mode', 'outcome', 'renders', 'credits'], rows));
  });
  routes.page({ path: '/dashboard/usage/keys.csv', permission: 'view' }, async (visit) => {
    const { accountId } = visit.user;
    const account = must(await store.accounts.find(accountId), `the account ${accountId}`);
    const filter = usageFilterOf(visit, account.subscription?.period, new Date());
    const details = await detailsOf(store, accountId, filter);
    const names = new Map((await store.keys.list(accountId)).map(({ id, name }) => [id, name]));
    const rows = details.map(({ day: at, keyId, kind, mode, outcome, renders, credits }) => {
      return [at, keyId, names.get(keyId ?? '') ?? null, kind, mode, outcome, renders, credits];
    });
    const header = ['day', 'key_id', 'key_name', 'kind', 'mode', 'outcome', 'renders', 'credits'];
    return sendCsv(visit, 'storybar-keys.csv', toCsv(header, rows));
  });
  routes.page({ path: '/dashboard/usage/renders.csv', permission: 'view' }, async (visit) => {
    const renders = await store.usage.latest(visit.user.accountId, EXPORT_RENDERS);
    const header = ['id', 'created_at', 'kind', 'mode', 'state', 'outcome', 'credits', 'duration_ms'];
    const rows = renders.map((render) => {
      const { id, createdAt, kind, mode, state, outcome, credits, durationMs } = render;
      return [id, createdAt, kind, mode, state, outcome, credits, durationMs];
    });
    return sendCsv(visit, 'storybar-renders.csv', toCsv(header, rows));
  });
}

/** `path` is the path of the page. Only the customer's own page has exports and links to keys. */
export async function usageBody(
  { store, plans }: Omit<UsageDependencies, 'site'>,
  visit: SignedInVisit,
  account: AccountSummary,
  path: string,
): Promise<Html> {
  const latest = await store.usage.latest(account.id, LATEST_RENDERS);
  const credits = await creditsSection(store, plans, account);
  // Without renders there is nothing to draw, and the next step is more useful than an empty chart.
  if (latest.length === 0 && (await isUnused(store, account))) {
    return html`<div class="columns">${credits}${path === OWN_PATH && may(visit.user.accountRole, 'develop') ? firstSteps() : html`<p>No renders yet.</p>`}</div>`;
  }
  return await rangeBody(store, visit, { account, path, credits, latest });
}

/** True if the account has sent nothing lately, not even a request that was rejected. */
async function isUnused({ usage }: Pick<Store, 'usage'>, { id }: AccountSummary): Promise<boolean> {
  const today = new Date();
  return (await usage.days(id, dayAfter(today, -LONGEST_RANGE), dayAfter(today, 0))).length === 0;
}

function firstSteps(): Html {
  return html`<section class="card" aria-labelledby="first-steps"><h2 id="first-steps">First steps</h2>
<ol class="steps">
<li><a href="${START_PATH}">Send your first request</a>, with a test key: it’s free, and the page has the code.</li>
<li><a href="/playground">Try captions in the playground</a>, and copy the code of what you see.</li>
<li><a href="/dashboard/keys">Create a live key</a> when your integration works. Its renders have no watermark.</li>
<li><a href="/dashboard/webhooks">Add a webhook</a> if you render videos, so that you needn’t ask whether they are ready.</li>
</ol></section>`;
}

function stateOf({ state }: AccountSummary): Html | undefined {
  if (state === 'suspended') return standingProblem('This account is suspended. Contact support.');
  if (state !== 'inactive') return undefined;
  return html`<p class="problem"><a href="/dashboard/plan">Choose a plan</a> to activate your API keys.</p>`;
}

/** Shows the credits of the current billing period. Returns undefined without an active plan. */
export async function creditsSection(
  store: Pick<Store, 'ledger'>,
  plans: PlanBook,
  { id, subscription }: AccountSummary,
): Promise<Html | undefined> {
  const plan = subscription && plans.find(subscription.plan);
  if (subscription === undefined || plan === undefined || subscription.status !== 'active') return undefined;
  const { used, reserved, limit } = await store.ledger.balance(id, subscription.period, plan.credits);
  const deliveries = await store.ledger.deliveries(id, subscription.period);
  return html`<section class="card" aria-labelledby="credits">
<h2 id="credits">Credits</h2>
<p class="figure"><strong>${count(used)}</strong> of ${count(limit)} credits used (${plan.title})</p>
${creditMeter(used, limit)}
<p class="small">Resets ${day(subscription.period.endsAt)}.${
    limit > plan.credits && html` ${count(limit - plan.credits)} credits were added to this period.`
  }${reserved > 0 && html` ${count(reserved)} reserved for renders in progress.`}</p>
${brokenDeliveries(deliveries)}
</section>`;
}

/** The section is shown from the first broken delivery on. */
function brokenDeliveries(deliveries: DeliveryCounts): Html | undefined {
  const { brokenFree, brokenCharged } = deliveries;
  if (brokenFree + brokenCharged === 0) return undefined;
  return html`<p class="small">Broken downloads in this period: ${count(brokenFree + brokenCharged)}, of which ${count(brokenCharged)} charged.
The first ${count(allowedBroken(deliveries))} are always free; see <a href="/docs/limits#credits">Limits and credits</a>.</p>`;
}

interface UsageView {
  readonly account: AccountSummary;
  readonly path: string;
  readonly credits: Html | undefined;
  readonly latest: readonly RenderSummary[];
}

/**
 * Shows usage per day and per key for the chosen range. The chart of all keys and types also has requests that were
 * never rendered.
 */
async function rangeBody(
  store: Pick<Store, 'usage' | 'keys'>,
  visit: SignedInVisit,
  { account, path, credits, latest }: UsageView,
): Promise<Html> {
  const { id, subscription } = account;
  const isOwn = path === OWN_PATH;
  const period = subscription?.period;
  const filter = usageFilterOf(visit, period, new Date());
  const keys = await store.keys.list(id);
  const details = await detailsOf(store, id, filter);
  const isFiltered = filter.keyId !== undefined || filter.kind !== undefined;
  const rows = isFiltered ? details : await store.usage.days(id, filter.from, filter.to);
  const days = countDays(rows, new Date(filter.from), filter.days);
  const labels = {
    isOwn,
    hasLinks: isOwn && may(visit.user.accountRole, 'develop'),
    keyless: keylessLabel(account),
  };
  return html`<div class="columns">${credits}${rangeTiles(days, rangeLabel(filter))}</div>
<section aria-labelledby="days">
<div class="section-head"><h2 id="days">Renders per day</h2>${isOwn && html`<a href="/dashboard/usage/days.csv">Export (CSV)</a>`}</div>
${usageFilterForm(path, filter, keys, period)}
${usageChart(days)}
${isFiltered && html`<p class="small">Requests that were rejected before rendering aren’t part of this chart.</p>`}
</section>
<div class="columns">${keysSection(details, keys, filter, labels)}
${latestSection(latest, path)}</div>
<p class="small">Times are in UTC. An export of renders has the latest ${count(EXPORT_RENDERS)}.</p>`;
}

/** What became of the renders in the range. The credits are about the billing period instead. */
function rangeTiles(days: readonly DayCounts[], range: string): Html {
  const values = (series: Series): number[] => days.map((each) => each[series]);
  const sum = (series: Series): number => values(series).reduce((total, value) => total + value, 0);
  // Today isn't over, so it would always look like a fall.
  const trend = (series: Series): number[] => values(series).slice(0, -1);
  const all = sum('delivered') + sum('test') + sum('refused') + sum('failed');
  const share = (part: number): string =>
    all === 0 ? 'no requests' : `${((part / all) * 100).toFixed(1)} % of requests`;
  return tiles([
    {
      label: `Delivered, ${range}`,
      value: count(sum('delivered')),
      trend: trend('delivered'),
      note: 'without test renders',
    },
    { label: `Test renders, ${range}`, value: count(sum('test')), trend: trend('test'), note: 'free' },
    { label: `Rejected, ${range}`, value: count(sum('refused')), note: share(sum('refused')) },
    { label: `Server errors, ${range}`, value: count(sum('failed')), note: share(sum('failed')) },
  ]);
}

async function detailsOf(
  { usage }: Pick<Store, 'usage'>,
  accountId: string,
  filter: UsageFilter,
): Promise<UsageDetail[]> {
  const details = await usage.details(accountId, filter.from, filter.to);
  return details.filter((detail) => matches(filter, detail));
}

function keysSection(
  details: readonly UsageDetail[],
  keys: readonly KeySummary[],
  filter: UsageFilter,
  { isOwn, ...labels }: { isOwn: boolean; hasLinks: boolean; keyless: string },
): Html {
  return html`<section aria-labelledby="per-key">
<div class="section-head"><h2 id="per-key">Usage per key</h2>${isOwn && html`<a href="/dashboard/usage/keys.csv?${usageQuery(filter)}">Export (CSV)</a>`}</div>
${keyUsageTable(details, keys, labels)}
</section>`;
}

function latestSection(renders: readonly RenderSummary[], path: string): Html {
  const isOwn = path === OWN_PATH;
  return html`<section aria-labelledby="latest">
<div class="section-head"><h2 id="latest">Latest renders</h2>${isOwn && html`<a href="/dashboard/usage/renders.csv">Export (CSV)</a>`}</div>
${renders.length === 0 ? html`<p>No renders yet.</p>` : renderTable(renders, isOwn ? '/dashboard/requests' : path.replace(/usage$/u, 'requests'))}
</section>`;
}

/** `requests` is the path of the request log, which has more about each of them. */
export function renderTable(renders: readonly RenderSummary[], requests: string): Html {
  return entryList(
    'Latest renders',
    [
      { label: 'Time', place: 'lead' },
      { label: 'Render', place: 'below' },
      { label: 'Type' },
      { label: 'Status', place: 'end' },
      { label: 'Duration', place: 'below-end', isNumber: true },
      { label: 'Credits', isNumber: true },
    ],
    renders.map(({ id, createdAt, kind, mode, state, outcome, durationMs, credits }) => ({
      href: `${requests}/${id}`,
      cells: [
        time(createdAt),
        html`<code title="${id}">${id.slice(0, 8)}</code>`,
        `${kind}${mode === 'test' ? ', test' : ''}`,
        state === 'reserved' ? 'In progress' : outcomeLabel(outcome),
        durationMs === null ? '' : `${count(durationMs)} ms`,
        count(state === 'settled' ? credits : 0),
      ],
    })),
  );
}

export function sendCsv({ reply }: SignedInVisit, name: string, text: string): FastifyReply {
  return reply
    .headers({
      ...PRIVATE_HEADERS,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    })
    .send(text);
}
