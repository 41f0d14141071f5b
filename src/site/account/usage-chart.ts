// Renders per day as stacked columns, drawn as SVG on the server. Colors are CSS classes because the content security policy
// forbids inline styles. Patterns distinguish the series without color, and a table has the same numbers.

import { type Html, html } from '../html.ts';
import { table } from '../tables.ts';
import { count } from './fields.ts';
import { type DayCounts, SERIES, SERIES_LABELS } from './outcomes.ts';

const WIDTH = 720;
const HEIGHT = 220;
/** Room for the numbers of the axis, which stand above their lines. */
const LEFT = 40;
const BOTTOM = 32;
const TOP = 26;
const CARD_WIDTH = 160;
const CARD_LINE = 17;
const CARD_PADDING = 8;
/** This width keeps a date from running into the last one. */
const DATE_WIDTH = 110;
const SHORT_DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });

export function usageChart(days: readonly DayCounts[]): Html {
  const totals = days.map(totalOf);
  const sum = totals.reduce((all, total) => all + total, 0);
  const axisMax = niceMaximum(Math.max(...totals, 1));
  const summary = `Renders per day from ${days[0]?.day} to ${days.at(-1)?.day}: ${count(sum)} in total.`;
  return html`<figure class="chart">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary}">
${patterns()}
${grid(axisMax)}
${days.map((day, index) => column(day, index, days.length, axisMax))}
${dates(days)}
${days.map((day, index) => hoverCard(day, index, days.length))}
</svg>
<figcaption>
<ul class="legend">${SERIES.filter((name) => days.some((day) => day[name] > 0)).map(
    (
      name,
    ) => html`<li><svg viewBox="0 0 12 12" aria-hidden="true"><rect class="series ${name}" width="12" height="12"/></svg>
${SERIES_LABELS[name]}</li>`,
  )}</ul>
</figcaption>
</figure>
<details class="as-table"><summary>View as table</summary>
${table(
  'Renders per day',
  ['Day', ...SERIES.map((name) => SERIES_LABELS[name])],
  days
    .filter((day) => totalOf(day) > 0)
    .toReversed()
    .map((day) => [day.day, ...SERIES.map((name) => count(day[name]))]),
)}
</details>`;
}

function totalOf(day: DayCounts): number {
  return SERIES.reduce((sum, name) => sum + day[name], 0);
}

/** Returns the smallest of 1, 2, 4, 6 or 8 times a power of ten that isn't below the value, so that half of it is round, too. */
export function niceMaximum(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].map((factor) => factor * power).find((maximum) => maximum >= value) ?? value;
}

const scale = (value: number, axisMax: number): number => (value / axisMax) * (HEIGHT - TOP - BOTTOM);

function column(day: DayCounts, index: number, columns: number, axisMax: number): Html {
  const step = (WIDTH - LEFT) / columns;
  const width = Math.max(1, step * 0.72);
  const left = LEFT + index * step + (step - width) / 2;
  let base = HEIGHT - BOTTOM;
  const parts = SERIES.filter((name) => day[name] > 0).map((name) => {
    const height = scale(day[name], axisMax);
    base -= height;
    return html`<rect class="series ${name}" x="${left.toFixed(1)}" y="${base.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  return html`<g>${parts}</g>`;
}

/**
 * The card appears while the pointer is over the day. It is drawn after all columns, so that none of them covers it.
 */
function hoverCard(day: DayCounts, index: number, columns: number): Html {
  const step = (WIDTH - LEFT) / columns;
  const x = LEFT + index * step;
  const shown = SERIES.filter((name) => day[name] > 0).map((name) => `${SERIES_LABELS[name]}: ${count(day[name])}`);
  const lines = shown.length > 0 ? shown : ['No renders'];
  const left = Math.min(Math.max(LEFT, x + step / 2 - CARD_WIDTH / 2), WIDTH - CARD_WIDTH);
  return html`<g class="day"><rect class="hover" x="${x.toFixed(1)}" y="${TOP}" width="${step.toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}"/>
<g class="card"><rect x="${left.toFixed(1)}" y="${TOP}" width="${CARD_WIDTH}" height="${(lines.length + 1) * CARD_LINE + CARD_PADDING}"/>
${[shortDay(day.day), ...lines].map(
  (line, row) => html`<text x="${(left + CARD_PADDING).toFixed(1)}" y="${TOP + (row + 1) * CARD_LINE}">${line}</text>`,
)}</g></g>`;
}

function grid(axisMax: number): Html {
  const lines = [0, axisMax / 2, axisMax].filter((value) => Number.isInteger(value));
  return html`<g class="grid" aria-hidden="true">${lines.map((value) => {
    const y = (HEIGHT - BOTTOM - scale(value, axisMax)).toFixed(1);
    return html`<line x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/><text x="0" y="${y}" dy="-0.35em">${count(value)}</text>`;
  })}</g>`;
}

/** Labels the last day, which is usually today, and days at an even distance before it. */
function dates(days: readonly DayCounts[]): Html {
  const step = (WIDTH - LEFT) / days.length;
  const interval = Math.ceil(DATE_WIDTH / step);
  const last = days.length - 1;
  return html`<g class="dates" aria-hidden="true">${days.map(({ day }, index) => {
    if (index === last) return html`<text class="last" x="${WIDTH}" y="${HEIGHT - 8}">${lastLabel(day)}</text>`;
    if ((last - index) % interval !== 0) return undefined;
    const middle = LEFT + (index + 0.5) * step;
    return middle > DATE_WIDTH / 4 && html`<text x="${middle.toFixed(1)}" y="${HEIGHT - 8}">${shortDay(day)}</text>`;
  })}</g>`;
}

function lastLabel(day: string): string {
  return day === new Date().toISOString().slice(0, 10) ? 'Today' : shortDay(day);
}

function shortDay(day: string): string {
  return SHORT_DAY.format(new Date(day));
}

function patterns(): Html {
  return html`<defs>
<pattern id="test-pattern" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="ground" width="6" height="6"/><circle class="mark" cx="3" cy="3" r="1.4"/></pattern>
<pattern id="refused-pattern" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="ground" width="6" height="6"/><path class="mark" d="M-1 7 7 -1" stroke-width="1.6"/></pattern>
</defs>`;
}

const HIGH_SHARE = 0.8;
const FULL_SHARE = 0.95;

/** Shows how many of the credits are used: in ink, amber from 80 %, red from 95 %. */
export function creditMeter(used: number, limit: number): Html {
  const share = limit === 0 ? 0 : Math.min(1, used / limit);
  const level = share >= FULL_SHARE ? ' full' : share >= HIGH_SHARE && ' high';
  return html`<svg class="meter${level}" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="${Math.round(share * 100)} percent of the credits are used.">
<rect class="whole" width="100" height="4"/><rect class="part" width="${(share * 100).toFixed(2)}" height="4"/>
</svg>`;
}
