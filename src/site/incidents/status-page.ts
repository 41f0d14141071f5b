// The public status page: what this server sees now, and what the operator reported in the last 90 days. Also as a feed.

import type { Incident } from '../../service/store/incidents/incidents.ts';
import type { HealthReport } from '../../service/telemetry/health.ts';
import { escape, type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { HISTORY_DAYS, historyBars, type HistoryDay, IMPACT_LABELS, incidentArticle } from './incident-views.ts';

export const STATUS_PATH = '/status';
export const FEED_PATH = '/status.atom';

/** What the status page is about, also for the search of the documentation. */
export const STATUS_SUMMARY = {
  title: 'Status - Storybar',
  description: 'The current state of the service, its uptime, and its incidents and outages of the last 90 days.',
  path: STATUS_PATH,
} as const;

export interface StatusFacts {
  readonly report: HealthReport;
  /** Newest first. Undefined if the database can't be read at the moment. */
  readonly incidents: readonly Incident[] | undefined;
  readonly history: readonly HistoryDay[];
}

export function statusPage({ report, incidents, history }: StatusFacts): Page {
  const parts = partsOf(report, incidents !== undefined);
  const open = incidents?.filter(({ endedAt }) => endedAt === null) ?? [];
  const past = incidents?.filter(({ endedAt }) => endedAt !== null) ?? [];
  return {
    ...STATUS_SUMMARY,
    styles: ['docs.css', 'account.css'],
    body: html`<article class="narrow plain-page status"><h1>Status</h1>
${verdict(
  parts.every(({ isUp }) => isUp),
  open,
)}
${open.length > 0 && html`<h2 class="visually-hidden">Open incidents</h2>`}${open.map(incidentArticle)}
<dl class="facts-list">${parts.map(
      ({ name, isUp }) =>
        html`<div><dt>${name}</dt><dd>${isUp ? html`<span class="state good">Operational</span>` : html`<span class="state bad">Unavailable</span>`}</dd></div>`,
    )}</dl>
<p class="small">As seen by the server that sent this page (version ${report.version}, up for ${upFor(report.uptimeSeconds)}). Reload to check again.</p>
<h2 id="history">Last ${HISTORY_DAYS} days</h2>
${
  incidents === undefined
    ? html`<p>The history can’t be loaded at the moment.</p>`
    : html`${historyBars(history)}
${past.length === 0 ? html`<p>No past incidents.</p>` : past.map(incidentArticle)}`
}
<p class="small">Incidents are reported by the people who run this service. <a href="${FEED_PATH}">Subscribe to the feed</a></p></article>`,
  };
}

function partsOf({ status, renderer }: HealthReport, hasDatabase: boolean): { name: string; isUp: boolean }[] {
  return [
    { name: 'API', isUp: status === 'ok' && hasDatabase },
    { name: 'Image rendering', isUp: renderer.images.ready > 0 || (renderer.remote?.workers.images ?? 0) > 0 },
    { name: 'Video rendering', isUp: renderer.videos.ready > 0 || (renderer.remote?.workers.videos ?? 0) > 0 },
  ];
}

function verdict(isFine: boolean, open: readonly Incident[]): Html {
  if (!isFine) return html`<p class="problem">Some parts of the service are unavailable.</p>`;
  if (open.some(({ impact }) => impact !== 'maintenance')) {
    return html`<p class="caution">An incident is affecting the service.</p>`;
  }
  return html`<p class="done">All systems are operational.</p>`;
}

function upFor(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  if (hours === 0) return 'less than an hour';
  return hours === 1 ? '1 hour' : `${hours} hours`;
}

/** An Atom feed (RFC 4287) with an entry per incident, which changes with each update. */
export function statusFeed(incidents: readonly Incident[], baseUrl: string, now: Date): string {
  const url = `${baseUrl}${STATUS_PATH}`;
  const updated = incidents.map(({ updates, startedAt }) => updates[0]?.at ?? startedAt).toSorted();
  const entries = incidents.map(({ id, title, impact, startedAt, updates }) => {
    const text = updates.map(({ at, body }) => `${at.slice(0, 16).replace('T', ' ')} UTC: ${body}`).join('\n\n');
    return `<entry><id>urn:uuid:${id}</id><title>${escape(`${IMPACT_LABELS[impact]}: ${title}`)}</title>
<link href="${escape(`${url}#incident-${id}`)}"/><published>${startedAt}</published><updated>${updates[0]?.at ?? startedAt}</updated>
<content type="text">${escape(text)}</content></entry>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${escape(url)}</id><title>Storybar status</title>
<link href="${escape(url)}"/><link rel="self" href="${escape(`${baseUrl}${FEED_PATH}`)}"/>
<updated>${updated.at(-1) ?? now.toISOString()}</updated><author><name>Storybar</name></author>
${entries.join('\n')}
</feed>
`;
}
