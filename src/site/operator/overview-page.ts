// The start page for operators: what needs attention now, and how the last 30 days went.

import type { PlanBook } from '../../service/account/plans.ts';
import type { PlanCount, SignUpDay } from '../../service/store/accounts/operator-data.ts';
import type { Store } from '../../service/store/store.ts';
import type { HealthReport } from '../../service/telemetry/health.ts';
import { count } from '../account/fields.ts';
import { sendPrivate } from '../account/frame.ts';
import { countDays, type DayCounts, dayAfter, type Series } from '../account/outcomes.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { usageChart } from '../account/usage-chart.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import { money } from '../plan/money.ts';
import { entryList } from '../tables.ts';
import { type Tile, tiles, weekChange } from '../tiles.ts';
import { attentionSection, mattersOf } from './attention.ts';

export interface OverviewDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'operator' | 'accounts'>;
  readonly plans: PlanBook;
  readonly health: () => HealthReport;
}

const DAYS = 30;
const PROVIDERS: Readonly<Record<PlanCount['provider'], string>> = {
  manual: 'No payment',
  stripe: 'Stripe',
  marketplace: 'Marketplace',
};

export function addOverviewPage(routes: SignedInRoutes, { site, store, plans, health }: OverviewDependencies): void {
  routes.page({ path: '/operator', permission: 'operate', tab: 'Overview' }, async (visit) => {
    const today = new Date();
    const [from, to] = [dayAfter(today, 1 - DAYS), dayAfter(today, 0)];
    const days = countDays(await store.operator.days(from, to), new Date(from), DAYS);
    const signUps = signUpsPerDay(await store.operator.signUps(from, to), days);
    const counts = await store.operator.plans();
    const report = health();
    const matters = mattersOf({
      report,
      today: days.at(-1),
      pendingAccounts: await store.operator.pendingAccounts(),
      failingWebhooks: await store.operator.failingWebhooks(),
      openIncidents: (await visit.openIncidents()).length,
    });
    const { images, videos } = report.renderer;
    const figures: readonly Tile[] = [
      { label: 'Delivered today', value: count(days.at(-1)?.delivered ?? 0), ...trendOf(days, 'delivered') },
      { label: 'Server errors', value: errorRate(days), ...trendOf(days, 'failed') },
      { label: 'Sign-ups', value: count(sumOf(signUps)), ...trendOfValues(signUps) },
      {
        label: 'Waiting renders',
        value: count(images.waiting + videos.waiting),
        note: `${count(images.waiting)} images, ${count(videos.waiting)} videos, on this server`,
      },
      {
        label: 'Accounts',
        value: html`<a href="/operator/accounts">${count(await store.accounts.count())}</a>`,
        note: `${count(sumOf(counts.map(({ accounts }) => accounts)))} with an active plan`,
      },
      {
        label: 'Monthly revenue',
        value: money(revenue(counts, plans), plans.currency),
        note: 'through Stripe, without taxes and discounts',
      },
    ];
    const body = html`${attentionSection(matters)}
${tiles(figures)}
<p class="small">Server errors and sign-ups are those of the last ${DAYS} days.</p>
<section aria-labelledby="days"><h2 id="days">Renders per day</h2>${usageChart(days)}</section>
<section aria-labelledby="plans"><h2 id="plans">Plans</h2>${planTable(counts, plans)}</section>`;
    return await sendPrivate(site, visit, { title: 'Overview', body });
  });
}

function trendOf(days: readonly DayCounts[], series: Series): Pick<Tile, 'trend' | 'note'> {
  return trendOfValues(days.map((day) => day[series]));
}

/** Today isn't over, so it would always look like a fall. */
function trendOfValues(values: readonly number[]): Pick<Tile, 'trend' | 'note'> {
  const trend = values.slice(0, -1);
  return { trend, note: weekChange(trend) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** One number per day, also for days without sign-ups. */
function signUpsPerDay(signUps: readonly SignUpDay[], days: readonly DayCounts[]): number[] {
  const known = new Map(signUps.map(({ day, accounts }) => [day, accounts]));
  return days.map(({ day }) => known.get(day) ?? 0);
}

/** Counts only what reached a worker or should have, because rejected requests are the caller's fault. */
function errorRate(days: readonly DayCounts[]): Html {
  const sum = (name: Series): number => sumOf(days.map((day) => day[name]));
  const failed = sum('failed');
  const all = sum('delivered') + sum('test') + failed;
  return html`${all === 0 ? '0' : ((failed / all) * 100).toFixed(2)} % <span class="small">${count(failed)} of ${count(all)}</span>`;
}

function revenue(counts: readonly PlanCount[], plans: PlanBook): number {
  return counts
    .filter(({ provider }) => provider === 'stripe')
    .reduce((sum, { plan, accounts }) => sum + accounts * (plans.find(plan)?.monthlyPriceCents ?? 0), 0);
}

function planTable(counts: readonly PlanCount[], plans: PlanBook): Html {
  if (counts.length === 0) return html`<p>No account has a plan yet.</p>`;
  return entryList(
    'Plans',
    [
      { label: 'Plan', place: 'lead' },
      { label: 'Paid through', place: 'below' },
      { label: 'Accounts', place: 'end', isNumber: true },
    ],
    counts.map(({ plan, provider, accounts }) => ({
      href: `/operator/accounts?plan=${encodeURIComponent(plan)}`,
      cells: [plans.find(plan)?.title ?? plan, PROVIDERS[provider], count(accounts)],
    })),
  );
}
