// The health page for operators: the same report as `GET /health`. A field added to the report appears here automatically.

import type { HealthReport } from '../../telemetry/health.ts';
import { count } from '../account/fields.ts';
import { sendPrivate } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';

const POOL_COLUMNS = ['workers', 'ready', 'busy', 'waiting', 'restarts'] as const;

export function addHealthPage(routes: SignedInRoutes, site: Site, health: () => HealthReport): void {
  routes.page('/operator', async (visit) => {
    const { renderer, ...rest } = health();
    const { codecs, images, videos, ...more } = renderer;
    const body = html`<section aria-labelledby="service">
<h2 id="service">Service</h2>
${facts(rest)}
</section>
<section aria-labelledby="workers">
<h2 id="workers">Workers and queues</h2>
<div class="table" tabindex="0" role="group" aria-labelledby="workers"><table>
<thead><tr><th scope="col">Pool</th>${POOL_COLUMNS.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>${poolRow('images', images)}${poolRow('videos', videos)}</tbody>
</table></div>
<p class="small">Latency covers the latest renders. For figures over time, see <code>GET /metrics</code>.</p>
${Object.keys(more).length > 0 && facts(more)}
</section>
${codecs && codecSection(codecs)}`;
    return sendPrivate(site, visit, { title: 'Service', path: '/operator', body });
  });
}

function codecSection({ ffmpeg, available }: NonNullable<HealthReport['renderer']['codecs']>): Html {
  const codecsThat = (areAvailable: boolean): string[] =>
    Object.entries(available)
      .filter(([, isAvailable]) => isAvailable === areAvailable)
      .map(([name]) => name);
  return html`<section aria-labelledby="codecs">
<h2 id="codecs">Codecs</h2>
${facts({ FFmpeg: ffmpeg, missing: codecsThat(false), available: codecsThat(true) })}
</section>`;
}

function poolRow(name: string, pool: HealthReport['renderer']['images']): Html {
  return html`<tr><th scope="row">${name}</th>${POOL_COLUMNS.map((label) => html`<td>${count(pool[label])}</td>`)}</tr>`;
}

function facts(values: Readonly<Record<string, unknown>>): Html {
  return html`<dl class="facts-list">${Object.entries(values).map(
    ([name, value]) => html`<div><dt>${wordsOf(name)}</dt><dd>${formatValue(value)}</dd></div>`,
  )}</dl>`;
}

/** `uptimeSeconds` as `uptime seconds`. */
function wordsOf(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`);
}

function formatValue(value: unknown): string | Html {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return count(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  if (typeof value === 'object' && value !== null) {
    return Object.keys(value).length === 0 ? 'none yet' : facts(value as Readonly<Record<string, unknown>>);
  }
  return String(value);
}
