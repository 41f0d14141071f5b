import type { Latency } from './latency.ts';

/** The body of `GET /health` for callers with the metrics token. Others get only `status`. */
export interface HealthReport {
  /** `starting` until the first render worker is ready. */
  readonly status: 'ok' | 'starting';
  readonly version: string;
  readonly uptimeSeconds: number;
  /** The sandbox level of render workers, and what it guards. */
  readonly sandbox: { readonly level: string; readonly guards: readonly string[] };
  /** Milliseconds from the request headers to the last byte of the response, over the latest deliveries of each type. */
  readonly latencyMs: Readonly<Record<string, Latency>>;
  readonly renderer: {
    readonly images: PoolReport;
    readonly videos: PoolReport;
    /** Set only on a server that renders on other machines. */
    readonly remote?: {
      readonly isConnected: boolean;
      readonly workers: { readonly images: number; readonly videos: number };
      readonly queue: { readonly images: TicketReport; readonly videos: TicketReport };
    };
    readonly codecs?: { readonly ffmpeg: string; readonly available: Readonly<Record<string, boolean>> } | undefined;
  };
}

interface PoolReport {
  readonly workers: number;
  readonly ready: number;
  readonly busy: number;
  readonly waiting: number;
  readonly restarts: number;
}

interface TicketReport {
  readonly waiting: number;
  readonly taken: number;
}
