// Prometheus metrics. Labels have few distinct values and never contain an account, a key or a caption.

import { type BacklogFigures, watchBacklog } from './backlog-metrics.ts';
import { DependencyMetrics } from './dependency-metrics.ts';
import { type Latency, LatestTimes } from './latency.ts';
import { MetricsRegistry } from './metrics-registry.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

export type RequestType = 'image' | 'video' | 'overlay' | 'none';
type Delivered = Exclude<RequestType, 'none'>;
export type PoolName = 'image' | 'video';

/**
 * The worker processes of this machine and the renders of this server that wait for any worker, read at every scrape.
 */
export interface PoolReading {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  readonly restarts: number;
  readonly backlogMs: number;
}

function isDelivered(type: string): type is Delivered {
  return type === 'image' || type === 'video' || type === 'overlay';
}

export class Metrics {
  readonly #registry = new MetricsRegistry();
  readonly dependencies = new DependencyMetrics(this.#registry);
  readonly webhooks = new WebhookMetrics(this.#registry);
  readonly #latest = { image: new LatestTimes(), video: new LatestTimes(), overlay: new LatestTimes() };
  readonly #requests = this.#registry.counter('requests_total', 'Overlay requests by type and outcome.', [
    'type',
    'outcome',
  ]);
  readonly #seconds = this.#registry.histogram(
    'request_seconds',
    'Seconds from the request headers to the last byte of the response.',
    ['type', 'result'],
  );
  readonly #asyncSeconds = this.#registry.histogram(
    'async_render_seconds',
    'Seconds from the acceptance of an asynchronous render to its end.',
    ['type', 'result'],
  );
  readonly #waits = this.#registry.histogram('queue_wait_seconds', 'Seconds a render waited for a worker.', ['pool']);
  readonly #credits = this.#registry.counter('credits_charged_total', 'Credits charged for delivered renders.', []);
  readonly #brokenDeliveries = this.#registry.counter(
    'broken_deliveries_total',
    'Renders whose client left or read too slowly, or whose put_url did not take the file, by whether they were charged.',
    ['charged'],
  );
  readonly #lostHolds = this.#registry.counter(
    'lost_holds_total',
    'Deliveries to a put_url that ended without a charge because their hold was lost. Always a bug.',
    [],
  );
  readonly #bytes = this.#registry.counter('bytes_total', 'Bytes of request and response bodies.', ['direction']);

  constructor(version: string) {
    this.#registry.gauge('info', 'The running version.', ['version']).set({ version }, 1);
  }

  /** Returns milliseconds over the latest deliveries of each type. */
  get latency(): Readonly<Partial<Record<Delivered, Latency>>> {
    const known = Object.entries(this.#latest).map(([type, times]) => [type, times.latency] as const);
    return Object.fromEntries(known.filter(([, latency]) => latency !== undefined));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    return await this.#registry.text();
  }

  /** `outcome` is `delivered`, `accepted` for an asynchronous request, or an error code. */
  requestEnded(type: RequestType, outcome: string, seconds: number): void {
    this.#requests.inc({ type, outcome });
    const result = outcome === 'delivered' || outcome === 'accepted' ? outcome : 'refused';
    this.#seconds.observe({ type, result }, seconds);
    if (outcome === 'delivered' && type !== 'none') this.#latest[type].add(seconds * 1_000);
  }

  /** An accepted render has ended. `ms` is how long its last attempt took, and `ageMs` counts from the acceptance. */
  asyncEnded(type: string | undefined, isSuccess: boolean, { ms, ageMs }: { ms: number; ageMs: number }): void {
    const known = type !== undefined && isDelivered(type) ? type : 'none';
    this.#asyncSeconds.observe({ type: known, result: isSuccess ? 'succeeded' : 'failed' }, ageMs / 1_000);
    if (isSuccess && known !== 'none') this.#latest[known].add(ms);
  }

  /** `read` is called at every scrape. */
  watchBacklog(read: () => BacklogFigures | undefined): void {
    watchBacklog(this.#registry, read);
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

  holdLost(): void {
    this.#lostHolds.inc();
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
    this.#registry.gauge('queue_waiting', 'Renders waiting for a worker.', ['pool'], (gauge) => {
      each((pool, { waiting }) => gauge.set({ pool }, waiting));
    });
    this.#registry.gauge(
      'queue_backlog_seconds',
      'Estimated seconds of waiting work for one worker.',
      ['pool'],
      (gauge) => {
        each((pool, { backlogMs }) => gauge.set({ pool }, backlogMs / 1_000));
      },
    );
    this.#registry.gauge(
      'workers',
      'Render processes of this machine: configured (state wanted), ready and busy.',
      ['pool', 'state'],
      (gauge) => {
        each((pool, { workers, ready, busy }) => {
          gauge.set({ pool, state: 'wanted' }, workers);
          gauge.set({ pool, state: 'ready' }, ready);
          gauge.set({ pool, state: 'busy' }, busy);
        });
      },
    );
    this.#registry.readCounter('worker_restarts_total', 'Unexpected exits of render workers.', ['pool'], (set) => {
      each((pool, { restarts }) => set({ pool }, restarts));
    });
  }

  /** Watches resources that requests in progress hold. On an idle server a value other than 0 is a leak. */
  watchRequests(read: { readonly inside: () => number; readonly reservedBytes: () => number }): void {
    this.#registry.gauge('requests_inside', 'Admitted overlay requests without a complete response.', [], (gauge) => {
      gauge.set(read.inside());
    });
    this.#registry.gauge('uploads_promised_bytes', 'Bytes reserved for uploads in progress.', [], (gauge) => {
      gauge.set(read.reservedBytes());
    });
  }
}
