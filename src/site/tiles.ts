// Tiles: a figure with its name, what it means, and how it developed. They are a definition list for screen readers.

import { type Content, type Html, html } from './html.ts';

export interface Tile {
  readonly label: string;
  readonly value: Content;
  /** One short line below the figure. */
  readonly note?: Content;
  /** The values of the latest days that are over, oldest first, drawn as a line. */
  readonly trend?: readonly number[];
}

export function tiles(list: readonly Tile[]): Html {
  return html`<dl class="tiles">${list.map(
    ({ label, value, note, trend }) => html`<div><dt>${label}</dt><dd><span class="value">${value}</span>
${trend && sparkline(trend)}${note !== undefined && html`<span class="small">${note}</span>`}</dd></div>\n`,
  )}</dl>`;
}

const WIDTH = 120;
const HEIGHT = 28;

/** Decoration beside a figure that says the same in words. */
export function sparkline(values: readonly number[]): Html {
  const top = Math.max(...values, 1);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(HEIGHT - 1 - (value / top) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
<polygon points="0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}"/><polyline points="${points.join(' ')}"/></svg>`;
}

const WEEK = 7;

/** Compares the sum of the last seven days with the seven days before, in words. Leave out today, which isn't over. */
export function weekChange(values: readonly number[]): string {
  const sum = (days: readonly number[]): number => days.reduce((total, value) => total + value, 0);
  const [now, before] = [sum(values.slice(-WEEK)), sum(values.slice(-2 * WEEK, -WEEK))];
  if (before === 0) return now === 0 ? 'none in the two weeks before today' : 'none in the week before';
  const percent = Math.round((now / before - 1) * 100);
  if (percent === 0) return 'as many as in the week before';
  return `${Math.abs(percent)} % ${percent > 0 ? 'more' : 'fewer'} than in the week before`;
}

/** Facts about one thing, a line each. */
export type Fact = readonly [name: string, value: Content];

export function factsList(facts: readonly Fact[]): Html {
  return html`<dl class="facts-list">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
