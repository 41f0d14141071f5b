// The usage page: credits, renders per day and the latest renders, with CSV exports.

import type { FastifyReply } from 'fastify';
import { allowedBroken, type DeliveryCounts } from '../../account/broken-delivery.ts';
import type { PlanBook } from '../../account/plans.ts';
import { must } from '../../primitives/must.ts';
import type { AccountSummary, RenderSummary, Store } from '../../store/store.ts';
import { type Html, html } from '../html.ts';
import { table } from '../tables.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { toCsv } from './csv.ts';
import { count, day, problem, time } from './fields.ts';
import { PRIVATE_HEADERS, sendPrivate } from './frame.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';
import { countDays, dayAfter, outcomeLabel } from './outcomes.ts';
import { creditMeter, usageChart } from './usage-chart.ts';

export interface UsageDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'ledger' | 'usage'>;
  readonly plans: PlanBook;
}

const CHART_DAYS = 30;
const LATEST_RENDERS = 20;
const EXPORT_DAYS = 366;
const EXPORT_RENDERS = 10_000;

export function addUsagePages(routes: SignedInRoutes, { site, store, plans }: UsageDependencies): void {
  routes.page('/dashboard', async (visit) => {
    const { accountId } = visit.user;
    const account = must(await store.accounts.find(accountId), `the account ${accountId}`);
    const body = html`${stateOf(account)}
${await creditsSection(store, plans, account)}
${await chartSection(store, accountId)}
${latestSection(await store.usage.latest(accountId, LATEST_RENDERS))}`;
    return sendPrivate(site, visit, { title: 'Usage', path: '/dashboard', body });
  });
  routes.page('/dashboard/usage/days.csv', async (visit) => {
    const today = new Date();
    const [from, to] = [dayAfter(today, 1 - EXPORT_DAYS), dayAfter(today, 0)];
    const days = await store.usage.days(visit.user.accountId, from, to);
    const rows = days.map((row) => [row.day, row.mode, row.outcome, row.renders, row.credits]);
    return sendCsv(visit, 'storybar-days.csv', toCsv(['day', 'mode', 'outcome', 'renders', 'credits'], rows));
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

function stateOf({ state }: AccountSummary): Html | undefined {
  if (state === 'suspended') return problem('This account is suspended. Contact support.');
  if (state !== 'inactive') return undefined;
  return html`<p class="problem"><a href="/dashboard/plan">Choose a plan</a> to activate your API keys.</p>`;
}

/** The credits of the current billing period; undefined without an active plan. */
export async function creditsSection(
  store: Pick<Store, 'ledger'>,
  plans: PlanBook,
  { id, subscription }: AccountSummary,
): Promise<Html | undefined> {
  const plan = subscription && plans.find(subscription.plan);
  if (subscription === undefined || plan === undefined || subscription.status !== 'active') return undefined;
  const { used, reserved } = await store.ledger.balance(id, subscription.period, plan.credits);
  const deliveries = await store.ledger.deliveries(id, subscription.period);
  return html`<section aria-labelledby="credits">
<h2 id="credits">Credits</h2>
<p class="figure"><strong>${count(used)}</strong> of ${count(plan.credits)} credits used (${plan.title})</p>
${creditMeter(used, plan.credits)}
<p class="small">Resets ${day(subscription.period.endsAt)}.${
    reserved > 0 && html` ${count(reserved)} reserved for renders in progress.`
  }</p>
${brokenDeliveries(deliveries)}
</section>`;
}

/** Shown from the first broken delivery on. */
function brokenDeliveries(deliveries: DeliveryCounts): Html | undefined {
  const { brokenFree, brokenCharged } = deliveries;
  if (brokenFree + brokenCharged === 0) return undefined;
  return html`<p class="small">Broken downloads in this period: ${count(brokenFree + brokenCharged)}, of which ${count(brokenCharged)} charged.
The first ${count(allowedBroken(deliveries))} are always free; see <a href="/docs/limits#credits">Limits and credits</a>.</p>`;
}

async function chartSection(store: Pick<Store, 'usage'>, accountId: string): Promise<Html> {
  const today = new Date();
  const from = dayAfter(today, 1 - CHART_DAYS);
  const rows = await store.usage.days(accountId, from, dayAfter(today, 0));
  return html`<section aria-labelledby="days">
<h2 id="days">Renders per day</h2>
${usageChart(countDays(rows, new Date(from), CHART_DAYS))}
<p class="small"><a href="/dashboard/usage/days.csv">Export daily usage (CSV)</a></p>
</section>`;
}

function latestSection(renders: readonly RenderSummary[]): Html {
  return html`<section aria-labelledby="latest">
<h2 id="latest">Latest renders</h2>
${renders.length === 0 ? html`<p>No renders yet. Follow the <a href="/docs/quickstart">quickstart</a> to make your first call.</p>` : renderTable(renders)}
${renders.length > 0 && html`<p class="small"><a href="/dashboard/usage/renders.csv">Export renders (CSV)</a> (latest ${count(EXPORT_RENDERS)}). Times are in UTC.</p>`}
</section>`;
}

export function renderTable(renders: readonly RenderSummary[]): Html {
  return table(
    'Latest renders',
    ['Time', 'Render', 'Type', 'Status', 'Duration', 'Credits'],
    renders.map(({ id, createdAt, kind, mode, state, outcome, durationMs, credits }) => [
      time(createdAt),
      html`<code>${id}</code>`,
      `${kind}${mode === 'test' ? ', test' : ''}`,
      state === 'reserved' ? 'In progress' : outcomeLabel(outcome),
      durationMs === null ? '' : `${count(durationMs)} ms`,
      count(state === 'settled' ? credits : 0),
    ]),
  );
}

function sendCsv({ reply }: SignedInVisit, name: string, text: string): FastifyReply {
  return reply
    .headers({
      ...PRIVATE_HEADERS,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    })
    .send(text);
}
