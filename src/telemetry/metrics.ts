// Prometheus metrics. Labels have few distinct values and never contain an account, a key or a caption.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Latency, LatestTimes } from './latency.ts';

export type RequestType = 'image' | 'video' | 'overlay' | 'none';
type Delivered = Exclude<RequestType, 'none'>;
export type PoolName = 'image' | 'video';

/** The state of a worker pool, read at every scrape. */
export interface PoolReading {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  readonly restarts: number;
  readonly backlogMs: number;
}

/** The last bucket is the default deadline of a video, the longest a request can wait. */
const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export class Metrics {
  readonly #registry = new Registry();
  readonly #latest = { image: new LatestTimes(), video: new LatestTimes(), overlay: new LatestTimes() };
  readonly #requests = this.#counter('requests_total', 'Overlay requests by type and outcome.', ['type', 'outcome']);
  readonly #seconds = this.#histogram(
    'request_seconds',
    'Seconds from the request headers to the last byte of the response.',
    ['type', 'result'],
  );
  readonly #waits = this.#histogram('queue_wait_seconds', 'Seconds a render waited for a worker.', ['pool']);
  readonly #credits = this.#counter('credits_charged_total', 'Credits charged for delivered renders.', []);
  readonly #brokenDeliveries = this.#counter(
    'broken_deliveries_total',
    'Renders whose client left or read too slowly while the result was sent, by whether they were charged.',
    ['charged'],
  );
  readonly #bytes = this.#counter('bytes_total', 'Bytes of request and response bodies.', ['direction']);

  constructor(version: string) {
    collectDefaultMetrics({ register: this.#registry, prefix: 'storybar_' });
    this.#gauge('info', 'The running version.', ['version']).set({ version }, 1);
  }

  /** Milliseconds, over the latest deliveries of each type. */
  get latency(): Readonly<Partial<Record<Delivered, Latency>>> {
    const known = Object.entries(this.#latest).map(([type, times]) => [type, times.latency] as const);
    return Object.fromEntries(known.filter(([, latency]) => latency !== undefined));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    return await this.#registry.metrics();
  }

  /** `outcome` is `delivered` or an error code. */
  requestEnded(type: RequestType, outcome: string, seconds: number): void {
    this.#requests.inc({ type, outcome });
    this.#seconds.observe({ type, result: outcome === 'delivered' ? 'delivered' : 'refused' }, seconds);
    if (outcome === 'delivered' && type !== 'none') this.#latest[type].add(seconds * 1_000);
  }

  waited(pool: PoolName, milliseconds: number): void {
    this.#waits.observe({ pool }, milliseconds / 1_000);
  }

  charged(credits: number): void {
    this.#credits.inc(credits);
  }

  deliveryBroken(isCharged: boolean): void {
    this.#brokenDeliveries.inc({ charged: String(isCharged) });
  }

  moved(direction: 'received' | 'sent', bytes: number): void {
    this.#bytes.inc({ direction }, bytes);
  }

  /** `read` is called at every scrape. */
  watchPools(read: () => { readonly images: PoolReading; readonly videos: PoolReading }): void {
    const each = (set: (pool: PoolName, reading: PoolReading) => void): void => {
      const { images, videos } = read();
      set('image', images);
      set('video', videos);
    };
    this.#gauge('queue_waiting', 'Renders waiting for a worker.', ['pool'], (gauge) => {
      each((pool, { waiting }) => gauge.set({ pool }, waiting));
    });
    this.#gauge('queue_backlog_seconds', 'Estimated seconds of waiting work for one worker.', ['pool'], (gauge) => {
      each((pool, { backlogMs }) => gauge.set({ pool }, backlogMs / 1_000));
    });
    this.#gauge('workers', 'Render workers: configured (state wanted), ready and busy.', ['pool', 'state'], (gauge) => {
      each((pool, { workers, ready, busy }) => {
        gauge.set({ pool, state: 'wanted' }, workers);
        gauge.set({ pool, state: 'ready' }, ready);
        gauge.set({ pool, state: 'busy' }, busy);
      });
    });
    this.#gauge('worker_restarts', 'Unexpected exits of render workers since startup.', ['pool'], (gauge) => {
      each((pool, { restarts }) => gauge.set({ pool }, restarts));
    });
  }

  /** Resources that requests in progress hold. On an idle server a value other than 0 is a leak. */
  watchRequests(read: { readonly inside: () => number; readonly reservedBytes: () => number }): void {
    this.#gauge('requests_inside', 'Admitted overlay requests without a complete response.', [], (gauge) => {
      gauge.set(read.inside());
    });
    this.#gauge('uploads_promised_bytes', 'Bytes reserved for uploads in progress.', [], (gauge) => {
      gauge.set(read.reservedBytes());
    });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `storybar_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[]): Histogram<Label> {
    return new Histogram({
      name: `storybar_${name}`,
      help,
      labelNames,
      buckets: BUCKETS_SECONDS,
      registers: [this.#registry],
    });
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read?: (gauge: Gauge<Label>) => void,
  ): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      name: `storybar_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      ...(read && { collect: () => read(gauge) }),
    });
    return gauge;
  }
}
