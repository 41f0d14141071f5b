// The usage page: credits, renders per day, key and type, and the latest renders, with CSV exports.

import type { FastifyReply } from 'fastify';
import { allowedBroken, type DeliveryCounts } from '../../account/broken-delivery.ts';
import type { PlanBook } from '../../account/plans.ts';
import { may } from '../../account/roles.ts';
import { must } from '../../primitives/must.ts';
import type { AccountSummary } from '../../store/accounts/accounts.ts';
import type { KeySummary } from '../../store/accounts/keys.ts';
import type { RenderSummary } from '../../store/ledger/usage.ts';
import type { UsageDetail } from '../../store/ledger/usage-details.ts';
import type { Store } from '../../store/store.ts';
import { type Html, html } from '../html.ts';
import { entryList } from '../tables.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { keylessLabel } from '../usage/key-label.ts';
import { keyUsageTable } from '../usage/key-usage.ts';
import { matches, type UsageFilter, usageFilterForm, usageFilterOf, usageQuery } from '../usage/usage-filter.ts';
import { toCsv } from './csv.ts';
import { count, day, standingProblem, time } from './fields.ts';
import { PRIVATE_HEADERS, sendPrivate } from './frame.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';
import { liveAccessNote } from './start-page.ts';
import { countDays, dayAfter, outcomeLabel } from './outcomes.ts';
import { creditMeter, usageChart } from './usage-chart.ts';

export interface UsageDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'ledger' | 'usage' | 'keys'>;
  readonly plans: PlanBook;
}

const OWN_PATH = '/dashboard';
const LATEST_RENDERS = 20;
const EXPORT_DAYS = 366;
const EXPORT_RENDERS = 10_000;

export function addUsagePages(routes: SignedInRoutes, { site, store, plans }: UsageDependencies): void {
  routes.page(OWN_PATH, async (visit) => {
    const { accountId } = visit.user;
    const account = must(await store.accounts.find(accountId), `the account ${accountId}`);
    const body = html`${liveAccessNote(visit)}${stateOf(account)}
${await usageBody({ store, plans }, visit, account, OWN_PATH)}`;
    return sendPrivate(site, visit, { title: 'Usage', path: OWN_PATH, body });
  });
  routes.page('/dashboard/usage/days.csv', async (visit) => {
    const today = new Date();
    const [from, to] = [dayAfter(today, 1 - EXPORT_DAYS), dayAfter(today, 0)];
    const days = await store.usage.days(visit.user.accountId, from, to);
    const rows = days.map((row) => [row.day, row.mode, row.outcome, row.renders, row.credits]);
    return sendCsv(visit, 'storybar-days.csv', toCsv(['day', 'mode', 'outcome', 'renders', 'credits'], rows));
  });
  routes.page('/dashboard/usage/keys.csv', async (visit) => {
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
  routes.page('/dashboard/usage/renders.csv', async (visit) => {
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
  return html`${await creditsSection(store, plans, account)}
${await rangeSection(store, visit, account, path)}
${latestSection(await store.usage.latest(account.id, LATEST_RENDERS), path)}`;
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
  return html`<section aria-labelledby="credits">
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

/**
 * Shows usage per day and per key for the chosen range. The chart of all keys and types also has requests that were
 * never rendered.
 */
async function rangeSection(
  store: Pick<Store, 'usage' | 'keys'>,
  visit: SignedInVisit,
  account: AccountSummary,
  path: string,
): Promise<Html> {
  const { id, subscription } = account;
  const isOwn = path === OWN_PATH;
  const period = subscription?.period;
  const filter = usageFilterOf(visit, period, new Date());
  const keys = await store.keys.list(id);
  const details = await detailsOf(store, id, filter);
  const isFiltered = filter.keyId !== undefined || filter.kind !== undefined;
  const rows = isFiltered ? details : await store.usage.days(id, filter.from, filter.to);
  return html`<section aria-labelledby="days">
<h2 id="days">Renders per day</h2>
${usageFilterForm(path, filter, keys, period)}
${usageChart(countDays(rows, new Date(filter.from), filter.days))}
${isFiltered && html`<p class="small">Requests that were rejected before rendering aren’t part of this chart.</p>`}
${isOwn && html`<p class="small"><a href="/dashboard/usage/days.csv">Export daily usage (CSV)</a></p>`}
</section>
${keysSection(details, keys, filter, { isOwn, hasLinks: isOwn && may(visit.user.accountRole, 'develop'), keyless: keylessLabel(account) })}`;
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
<h2 id="per-key">Usage per key</h2>
${keyUsageTable(details, keys, labels)}
${isOwn && html`<p class="small"><a href="/dashboard/usage/keys.csv?${usageQuery(filter)}">Export usage per key, type and day (CSV)</a></p>`}
</section>`;
}

function latestSection(renders: readonly RenderSummary[], path: string): Html {
  return html`<section aria-labelledby="latest">
<h2 id="latest">Latest renders</h2>
${renders.length === 0 ? html`<p>No renders yet. Follow the <a href="/docs/quickstart">quickstart</a> to make your first call.</p>` : renderTable(renders, path === OWN_PATH ? '/dashboard/requests' : path.replace(/usage$/u, 'requests'))}
${renders.length > 0 && path === OWN_PATH && html`<p class="small"><a href="/dashboard/usage/renders.csv">Export renders (CSV)</a> (latest ${count(EXPORT_RENDERS)}). Times are in UTC.</p>`}
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
