// The log of API requests: every authenticated one, refused ones too. It holds no captions and no file names.

/** What was wrong with a field. The detail is left out, because it may quote the request. */
interface LoggedFault {
  readonly pointer: string;
  readonly code: string;
}

export interface LoggedRequest {
  /** The id in the response's `x-render-id`. */
  readonly id: string;
  readonly accountId: string;
  /** ISO 8601, when the request ended. */
  readonly at: string;
  /** Null for a request through a marketplace. */
  readonly keyId: string | null;
  readonly path: string;
  readonly status: number;
  /** The error code; null for a success. */
  readonly code: string | null;
  readonly durationMs: number;
  readonly credits: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly faults: readonly LoggedFault[];
}

export interface RequestFilter {
  readonly statuses?: readonly [from: number, to: number] | undefined;
  readonly keyId?: string | undefined;
  /** `YYYY-MM-DD` in UTC. */
  readonly day?: string | undefined;
  /** Only requests older than this one. */
  readonly before?: { readonly at: string; readonly id: string } | undefined;
  readonly count: number;
}

export interface RequestLog {
  append(requests: readonly LoggedRequest[]): Promise<void>;
  /** Newest first. */
  list(accountId: string, filter: RequestFilter): Promise<LoggedRequest[]>;
  find(accountId: string, id: string): Promise<LoggedRequest | undefined>;
  /** Deletes what is older than `before`, and all but the newest `maxPerAccount` requests of each account. */
  trim(before: Date, maxPerAccount: number): Promise<number>;
}
