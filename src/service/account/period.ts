// Billing periods: months counted from the day a subscription started, in UTC. A subscription from the 31st renews on the last
// day of a shorter month, and on the 31st again afterwards, because each date is counted from the start.

export interface Period {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** Returns the period that contains `at`, or the first one for a time before the start. */
export function periodHolding(anchor: Date, at: Date): Period {
  return at < anchor ? periodAt(anchor, 0) : anyPeriodHolding(anchor, at);
}

/**
 * Returns the period that contains `at`, even before the start, because a subscription may have started under a clock
 * that was ahead.
 */
export function anyPeriodHolding(anchor: Date, at: Date): Period {
  const months = (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  return periodAt(anchor, monthsAfter(anchor, months) > at ? months - 1 : months);
}

function periodAt(anchor: Date, months: number): Period {
  return { startsAt: monthsAfter(anchor, months), endsAt: monthsAfter(anchor, months + 1) };
}

function monthsAfter(anchor: Date, months: number): Date {
  const month = anchor.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(anchor.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const date = new Date(anchor);
  // Month and day are set together, because setting the month first would move a 31st into the next month.
  date.setUTCMonth(month, Math.min(anchor.getUTCDate(), lastDay));
  return date;
}
