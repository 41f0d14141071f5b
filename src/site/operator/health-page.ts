// The service page for operators: the health report of this server in words.

import type { HealthReport } from '../../service/telemetry/health.ts';
import { count } from '../account/fields.ts';
import { sendPrivate } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import { entryList, type ListColumn, type ListEntry } from '../tables.ts';
import { type Fact, factsList, tiles } from '../tiles.ts';

type Pool = HealthReport['renderer']['images'];

const PATH = '/operator/service';
const CODEC_PURPOSES = [
  ['decode', 'Decoders'],
  ['encode', 'Encoders'],
  ['filter', 'Filters'],
] as const;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const POOL_COLUMNS: readonly ListColumn[] = [
  { label: 'Pool', place: 'lead' },
  { label: 'Workers', place: 'end' },
  { label: 'Renders', place: 'below' },
  { label: 'Restarts', place: 'below-end' },
];
const LATENCY_COLUMNS: readonly ListColumn[] = [
  { label: 'Type', place: 'lead' },
  { label: 'Median', place: 'end' },
  { label: 'Renders', place: 'below' },
  { label: 'Slowest', place: 'below-end' },
];

export function addHealthPage(routes: SignedInRoutes, site: Site, health: () => HealthReport): void {
  routes.page({ path: PATH, permission: 'operate', tab: 'Service' }, async (visit) => {
    const report = health();
    const { images, videos, remote, codecs } = report.renderer;
    const body = html`${verdict(report)}
${tiles([
  { label: 'Version', value: report.version },
  { label: 'Running for', value: duration(report.uptimeSeconds) },
  {
    label: 'Waiting renders',
    value: count(images.waiting + videos.waiting),
    note: `${count(images.busy + videos.busy)} rendering`,
  },
  {
    label: 'Sandbox',
    value: report.sandbox.level,
    note: report.sandbox.guards.join(', ') || 'no restrictions',
  },
])}
<section aria-labelledby="workers"><h2 id="workers">Workers and queues</h2>
${entryList('Workers and queues', POOL_COLUMNS, [poolEntry('Images', images), poolEntry('Videos', videos)])}
${remote && remoteFacts(remote)}
</section>
${latencySection(report.latencyMs)}
${codecs && codecSection(codecs)}
<p class="small">These figures are about this server since its start. For figures over time and of all servers, see <code>GET /metrics</code>.</p>`;
    return await sendPrivate(site, visit, { title: 'Service', body });
  });
}

function verdict({ status, renderer: { images, videos, remote } }: HealthReport): Html {
  if (status === 'starting')
    return html`<p class="caution" role="status">The server is starting. No render worker is ready yet.</p>`;
  const missing = images.workers - images.ready + (videos.workers - videos.ready);
  if (remote?.isConnected === false) {
    return html`<p class="problem" role="status">The connection to NATS is down. Workers on other machines get no renders.</p>`;
  }
  if (missing > 0)
    return html`<p class="caution" role="status">${missing} workers aren’t ready. They are started again by themselves.</p>`;
  return html`<p class="done" role="status">All workers are ready.</p>`;
}

function poolEntry(name: string, { workers, ready, busy, waiting, restarts }: Pool): ListEntry {
  const renders = `${count(busy)} rendering, ${count(waiting)} waiting`;
  return { cells: [name, `${count(ready)} of ${count(workers)} ready`, renders, restartsLabel(restarts)] };
}

function restartsLabel(restarts: number): string {
  return restarts === 1 ? '1 restart' : `${count(restarts)} restarts`;
}

function remoteFacts({ isConnected, workers, queue }: NonNullable<HealthReport['renderer']['remote']>): Html {
  return factsList([
    ['NATS', isConnected ? 'connected' : 'not connected'],
    ['Workers elsewhere', `${count(workers.images)} for images, ${count(workers.videos)} for videos`],
    ['Queue for images', `${count(queue.images.waiting)} waiting, ${count(queue.images.taken)} rendering`],
    ['Queue for videos', `${count(queue.videos.waiting)} waiting, ${count(queue.videos.taken)} rendering`],
  ]);
}

function latencySection(latencies: HealthReport['latencyMs']): Html {
  const rows = Object.entries(latencies);
  return html`<section aria-labelledby="latency"><h2 id="latency">Response times</h2>
${
  rows.length === 0
    ? html`<p>No renders since the start.</p>`
    : entryList(
        'Response times',
        LATENCY_COLUMNS,
        rows.map(([name, { median, p99, requests }]) => ({
          cells: [name, `${count(median)} ms median`, `${count(requests)} latest`, `99 % within ${count(p99)} ms`],
        })),
      )
}
</section>`;
}

/** What FFmpeg can do here, by what it is for. What is missing comes first, because it breaks renders. */
function codecSection({ ffmpeg, available }: NonNullable<HealthReport['renderer']['codecs']>): Html {
  const all = Object.entries(available).map(([name, isAvailable]) => {
    const [purpose = '', codec = name] = name.split(' ', 2);
    return { purpose, codec, isAvailable };
  });
  const list = (codecs: typeof all): Html =>
    html`<ul class="chips">${codecs.map(({ codec, isAvailable }) => html`<li><code>${codec}</code>${!isAvailable && ' missing'}</li>`)}</ul>`;
  const missing = all.filter(({ isAvailable }) => !isAvailable);
  return html`<section aria-labelledby="codecs"><h2 id="codecs">Codecs</h2>
${missing.length > 0 && html`<p class="caution">Some renders fail on this server, because its FFmpeg lacks: ${missing.map(({ purpose, codec }) => `${purpose} ${codec}`).join(', ')}.</p>`}
${factsList([
  ['FFmpeg', ffmpeg],
  ...CODEC_PURPOSES.map(
    ([purpose, label]): Fact => [label, list(all.filter((codec) => codec.purpose === purpose && codec.isAvailable))],
  ),
])}
</section>`;
}

/** Formats a duration in its two largest units, such as `3 days 4 hours`. */
function duration(seconds: number): string {
  const units = [
    ['day', Math.floor(seconds / DAY)],
    ['hour', Math.floor((seconds % DAY) / HOUR)],
    ['minute', Math.floor((seconds % HOUR) / MINUTE)],
  ] as const;
  const used = units.filter(([, value]) => value > 0).slice(0, 2);
  if (used.length === 0) return 'less than a minute';
  return used.map(([name, value]) => `${value} ${name}${value === 1 ? '' : 's'}`).join(' ');
}
