// The start page for operators: figures of the last 30 days, and what needs attention now.

import type { PlanBook } from '../../account/plans.ts';
import type { PlanCount } from '../../store/accounts/operator-data.ts';
import type { Store } from '../../store/store.ts';
import type { HealthReport } from '../../telemetry/health.ts';
import { count } from '../account/fields.ts';
import { sendPrivate } from '../account/frame.ts';
import { countDays, type DayCounts, dayAfter } from '../account/outcomes.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { usageChart } from '../account/usage-chart.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import { money } from '../plan/money.ts';
import { table } from '../tables.ts';

export interface OverviewDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'operator' | 'accounts'>;
  readonly plans: PlanBook;
  readonly health: () => HealthReport;
}

const DAYS = 30;

export function addOverviewPage(routes: SignedInRoutes, { site, store, plans, health }: OverviewDependencies): void {
  routes.page('/operator', async (visit) => {
    const today = new Date();
    const [from, to] = [dayAfter(today, 1 - DAYS), dayAfter(today, 0)];
    const days = countDays(await store.operator.days(from, to), new Date(from), DAYS);
    const signUps = (await store.operator.signUps(from, to)).reduce((sum, { accounts }) => sum + accounts, 0);
    const counts = await store.operator.plans();
    const { images, videos } = health().renderer;
    const figures: readonly (readonly [string, Html | string])[] = [
      ['Renders today', count(days.at(-1)?.delivered ?? 0)],
      ['Server errors', errorRate(days)],
      ['Waiting renders', `${count(images.waiting)} images, ${count(videos.waiting)} videos (this server)`],
      ['Sign-ups', count(signUps)],
      ['Accounts', count(await store.accounts.count())],
      ['Awaiting approval', pendingLink(await store.operator.pendingAccounts())],
      ['Monthly revenue', html`${money(revenue(counts, plans), plans.currency)} from paid subscriptions`],
    ];
    const body = html`<dl class="facts-list">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="small">Server errors and sign-ups cover the last ${DAYS} days. Revenue is what active subscriptions that Stripe collects cost per month, without taxes and discounts.</p>
<section aria-labelledby="days"><h2 id="days">Renders per day</h2>${usageChart(days)}</section>
<section aria-labelledby="plans"><h2 id="plans">Plans</h2>${planTable(counts, plans)}</section>`;
    return sendPrivate(site, visit, { title: 'Overview', path: '/operator', body });
  });
}

function pendingLink(accounts: number): Html | string {
  return accounts === 0 ? count(0) : html`<a href="/operator/accounts?state=pending">${count(accounts)}</a>`;
}

/** Counts only what reached a worker or should have, because rejected requests are the caller's fault. */
function errorRate(days: readonly DayCounts[]): string {
  const sum = (name: 'delivered' | 'test' | 'failed'): number => days.reduce((total, day) => total + day[name], 0);
  const failed = sum('failed');
  const all = sum('delivered') + sum('test') + failed;
  return `${all === 0 ? '0' : ((failed / all) * 100).toFixed(2)} % (${count(failed)} of ${count(all)})`;
}

function revenue(counts: readonly PlanCount[], plans: PlanBook): number {
  return counts
    .filter(({ provider }) => provider === 'stripe')
    .reduce((sum, { plan, accounts }) => sum + accounts * (plans.find(plan)?.monthlyPriceCents ?? 0), 0);
}

function planTable(counts: readonly PlanCount[], plans: PlanBook): Html {
  if (counts.length === 0) return html`<p>No account has a plan yet.</p>`;
  return table(
    'Plans',
    ['Plan', 'Paid through', 'Accounts'],
    counts.map(({ plan, provider, accounts }) => [
      html`<a href="/operator/accounts?plan=${encodeURIComponent(plan)}">${plans.find(plan)?.title ?? plan}</a>`,
      provider === 'manual' ? 'assigned' : provider,
      count(accounts),
    ]),
  );
}
