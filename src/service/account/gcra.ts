// The generic cell rate algorithm: a token bucket that refills evenly, stored as one number per caller. All times are in
// milliseconds of a monotonic clock.

export interface Rate {
  /** How many requests a full bucket allows at once. */
  readonly burst: number;
  /** How long an empty bucket takes to fill. */
  readonly windowMs: number;
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** The new state of the bucket: the time at which it will be full. */
  readonly fullAt: number;
  readonly remaining: number;
  /** 0 when allowed. */
  readonly retryAfterMs: number;
}

/** `count` is how many requests this one counts as. */
export function take({ burst, windowMs }: Rate, fullAt: number, now: number, count = 1): RateVerdict {
  const interval = windowMs / burst;
  const after = Math.max(fullAt, now) + interval * count;
  const excess = after - now - windowMs;
  // Half a microsecond of tolerance keeps rounding errors from refusing the last request of a full burst.
  if (excess > 0.000_5) return { allowed: false, fullAt, remaining: 0, retryAfterMs: excess };
  const remaining = Math.max(0, Math.floor((windowMs - (after - now)) / interval + 1e-9));
  return { allowed: true, fullAt: after, remaining, retryAfterMs: 0 };
}
