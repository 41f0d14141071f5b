import type { Latency } from './latency.ts';

/** What `GET /health` says. */
export interface HealthReport {
  /** `starting` until the first render worker is ready. */
  readonly status: 'ok' | 'starting';
  readonly version: string;
  readonly uptimeSeconds: number;
  /** How render workers are locked away, and what that keeps from them or keeps in bounds. */
  readonly sandbox: { readonly level: string; readonly guards: readonly string[] };
  /** Milliseconds from the headers to the last byte of the latest deliveries, by type. */
  readonly latencyMs: Readonly<Record<string, Latency>>;
  readonly renderer: {
    readonly images: PoolReport;
    readonly videos: PoolReport;
    /** Of a server that renders on other machines. */
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
