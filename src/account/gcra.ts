// The generic cell rate algorithm: a bucket that refills evenly, kept as one number per caller. `at` values are
// milliseconds of a clock that never goes backwards.

export interface Rate {
  /** How many may come at once. */
  readonly burst: number;
  /** In how long an empty bucket is full again. */
  readonly windowMs: number;
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** The new state of the bucket: when it will be full. */
  readonly fullAt: number;
  readonly remaining: number;
  /** 0 when allowed. */
  readonly retryAfterMs: number;
}

export function take({ burst, windowMs }: Rate, fullAt: number, now: number): RateVerdict {
  const interval = windowMs / burst;
  const after = Math.max(fullAt, now) + interval;
  const excess = after - now - windowMs;
  // Half a microsecond of slack: sums of fractions must not refuse the last of a full burst.
  if (excess > 0.000_5) return { allowed: false, fullAt, remaining: 0, retryAfterMs: excess };
  const remaining = Math.max(0, Math.floor((windowMs - (after - now)) / interval + 1e-9));
  return { allowed: true, fullAt: after, remaining, retryAfterMs: 0 };
}
