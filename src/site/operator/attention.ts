// What an operator should look at now. A pure function of figures that the overview has anyway.

import type { FailingWebhooks } from '../../service/store/accounts/operator-data.ts';
import type { HealthReport } from '../../service/telemetry/health.ts';
import { count } from '../account/fields.ts';
import type { DayCounts } from '../account/outcomes.ts';
import { type Html, html } from '../html.ts';

export interface Matter {
  readonly level: 'bad' | 'warn';
  readonly text: string;
  /** The page to go to, and what the link says. */
  readonly link: readonly [path: string, label: string];
}

export interface AttentionFigures {
  readonly report: HealthReport;
  /** Undefined if nothing is known about today. */
  readonly today: DayCounts | undefined;
  readonly pendingAccounts: number;
  readonly failingWebhooks: FailingWebhooks;
  readonly openIncidents: number;
}

/** From this share of today's renders on, server errors need attention, if there are a few of them. */
const ERROR_SHARE = 0.01;
const MIN_ERRORS = 5;
/** More renders than this per worker wait longer than callers like. */
const WAITING_PER_WORKER = 4;

/** The worst comes first. */
export function mattersOf(figures: AttentionFigures): Matter[] {
  const { report, today, pendingAccounts, failingWebhooks, openIncidents } = figures;
  const matters = [...serviceMatters(report), ...errorMatters(today)];
  if (openIncidents > 0) {
    const text = openIncidents === 1 ? 'An incident is open.' : `${count(openIncidents)} incidents are open.`;
    matters.push({
      level: 'warn',
      text: `${text} Tell customers how it goes.`,
      link: ['/operator/incidents', 'Incidents'],
    });
  }
  if (pendingAccounts > 0) {
    matters.push({
      level: 'warn',
      text: pendingAccounts === 1 ? '1 account awaits approval.' : `${count(pendingAccounts)} accounts await approval.`,
      link: ['/operator/accounts?state=pending', 'Review'],
    });
  }
  matters.push(...webhookMatters(failingWebhooks));
  return matters.toSorted((a, b) => Number(a.level === 'warn') - Number(b.level === 'warn'));
}

function webhookMatters({ endpoints, accountId }: FailingWebhooks): Matter[] {
  if (accountId === undefined) return [];
  const path = `/operator/accounts/${encodeURIComponent(accountId)}#webhooks`;
  return [
    {
      level: 'warn',
      text:
        endpoints === 1
          ? 'A webhook endpoint of a customer accepts nothing at the moment.'
          : `${count(endpoints)} webhook endpoints of customers accept nothing at the moment.`,
      link: [path, endpoints === 1 ? 'Account' : 'The one that fails longest'],
    },
  ];
}

function serviceMatters({ status, renderer: { images, videos, remote } }: HealthReport): Matter[] {
  const link = ['/operator/service', 'Service'] as const;
  const matters: Matter[] = [];
  if (status === 'starting') matters.push({ level: 'warn', text: 'This server is starting.', link });
  if (remote?.isConnected === false) {
    matters.push({ level: 'bad', text: 'NATS is unavailable, so workers on other machines get no renders.', link });
  }
  const missing = images.workers - images.ready + (videos.workers - videos.ready);
  if (status === 'ok' && missing > 0) {
    const workers = missing === 1 ? '1 render worker isn’t ready.' : `${count(missing)} render workers aren’t ready.`;
    matters.push({ level: 'warn', text: workers, link });
  }
  const waiting = images.waiting + videos.waiting;
  const workers =
    images.workers + videos.workers + (remote === undefined ? 0 : remote.workers.images + remote.workers.videos);
  if (waiting > workers * WAITING_PER_WORKER) {
    matters.push({ level: 'warn', text: `${count(waiting)} renders wait for ${count(workers)} workers.`, link });
  }
  return matters;
}

function errorMatters(today: DayCounts | undefined): Matter[] {
  if (today === undefined || today.failed < MIN_ERRORS) return [];
  const all = today.delivered + today.test + today.failed;
  if (today.failed / all < ERROR_SHARE) return [];
  const text = `${count(today.failed)} of today’s ${count(all)} renders ended with a server error.`;
  return [{ level: 'bad', text, link: ['/operator/service', 'Service'] }];
}

export function attentionSection(matters: readonly Matter[]): Html {
  if (matters.length === 0) return html`<p class="done">Nothing needs your attention.</p>`;
  return html`<section class="attention" aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
<ul>${matters.map(
    ({ level, text, link: [path, label] }) =>
      html`<li class="${level === 'bad' ? 'problem' : 'caution'}">${text} <a href="${path}">${label}</a></li>`,
  )}</ul></section>`;
}
