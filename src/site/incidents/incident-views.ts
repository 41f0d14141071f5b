// How incidents look: the notice on the dashboard, the bars of 90 days, and the history on the status page.

import type { Incident, IncidentImpact } from '../../service/store/incidents/incidents.ts';
import { time } from '../account/fields.ts';
import { dayAfter } from '../account/outcomes.ts';
import { type Html, html } from '../html.ts';

export const IMPACT_LABELS: Readonly<Record<IncidentImpact, string>> = {
  maintenance: 'Maintenance',
  degraded: 'Degraded',
  outage: 'Outage',
};

export const HISTORY_DAYS = 90;

/** The state of a day. `unknown` is before the service existed. */
type DayState = 'unknown' | 'none' | IncidentImpact;

export interface HistoryDay {
  readonly day: string;
  readonly state: DayState;
}

/** From harmless to severe. */
const SEVERITY: readonly DayState[] = ['unknown', 'none', 'maintenance', 'degraded', 'outage'];
const STATE_LABELS: Readonly<Record<DayState, string>> = {
  unknown: 'no data',
  none: 'no incident',
  ...IMPACT_LABELS,
};

/** Returns the worst that was reported on each of the last days, oldest first. `begunAt` is when the service was set up. */
export function historyOf(incidents: readonly Incident[], begunAt: Date, now: Date): HistoryDay[] {
  const today = dayAfter(now, 0);
  return Array.from({ length: HISTORY_DAYS }, (_, index) => {
    const day = dayAfter(now, index + 1 - HISTORY_DAYS);
    const states = incidents
      .filter(({ startedAt, endedAt }) => startedAt.slice(0, 10) <= day && (endedAt?.slice(0, 10) ?? today) >= day)
      .map(({ impact }): DayState => impact);
    const calm: DayState = day < dayAfter(begunAt, 0) ? 'unknown' : 'none';
    const state = [calm, ...states].reduce((worst, each) =>
      SEVERITY.indexOf(each) > SEVERITY.indexOf(worst) ? each : worst,
    );
    return { day, state };
  });
}

const BAR = 8;
const GAP = 3;
const HEIGHT = 36;

export function historyBars(days: readonly HistoryDay[]): Html {
  const affected = days.filter(({ state }) => state !== 'none' && state !== 'unknown').length;
  const known = days.filter(({ state }) => state !== 'unknown').length;
  const range = known <= 1 ? 'today' : `in the last ${known} days`;
  const summary =
    affected === 0 ? `No incident was reported ${range}.` : `Days with an incident ${range}: ${affected}.`;
  return html`<figure class="history">
<svg viewBox="0 0 ${days.length * (BAR + GAP) - GAP} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">
${days.map(
  ({ day, state }, index) =>
    html`<rect class="${state}" x="${index * (BAR + GAP)}" width="${BAR}" height="${HEIGHT}"><title>${day}: ${STATE_LABELS[state]}</title></rect>`,
)}</svg>
<figcaption><span>${days.length} days ago</span><span>${summary}</span><span>Today</span></figcaption>
</figure>`;
}

/** On every page of the dashboard while an incident lasts. */
export function incidentNotices(incidents: readonly Incident[]): Html | undefined {
  if (incidents.length === 0) return undefined;
  return html`${incidents.map(
    ({ id, title, impact, updates: [latest] }) => html`<div class="${levelOf(impact)}" role="status">
<p><strong>${IMPACT_LABELS[impact]}: ${title}</strong> ${latest?.body} <a href="/status#incident-${id}">Status</a></p></div>`,
  )}`;
}

function levelOf(impact: IncidentImpact): 'problem' | 'caution' | 'note' {
  if (impact === 'outage') return 'problem';
  return impact === 'degraded' ? 'caution' : 'note';
}

/** An incident with all that was said about it. */
export function incidentArticle(incident: Incident): Html {
  const { id, title, impact, startedAt, endedAt, updates } = incident;
  const level = { maintenance: '', degraded: 'warn', outage: 'bad' }[impact];
  return html`<article class="incident" id="incident-${id}">
<h3><span class="state ${level}">${IMPACT_LABELS[impact]}</span> ${title}</h3>
<p class="small">${time(startedAt)} ${endedAt === null ? 'until now' : html`to ${time(endedAt)}`} (UTC)</p>
<ol>${updates.map(({ at, body }) => html`<li><p class="small">${time(at)}</p><p>${body}</p></li>`)}</ol>
</article>`;
}
