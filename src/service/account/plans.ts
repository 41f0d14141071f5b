// The plans on offer, and the file that describes them. The file replaces all built-in plans, and it is checked as a
// whole, so that an operator can fix every fault in one pass.

import { must } from '../../shared/must.ts';
import { Fields } from './plan-fields.ts';

export interface PlanLimits {
  readonly imageBytes: number;
  readonly imagePixels: number;
  readonly videoBytes: number;
  readonly videoSeconds: number;
  /** The longer side, in pixels. */
  readonly videoSide: number;
  readonly videoFps: number;
  /** The limit of an asynchronous render. */
  readonly asyncVideoSeconds: number;
  readonly asyncVideoBytes: number;
  /** The bytes of uploads that wait, results that haven't expired, logos and fonts, together. */
  readonly storedBytes: number;
  /** The number of asynchronous renders that wait or run. */
  readonly queuedRenders: number;
  /** The numbers of styles, logos and fonts that an account can save. */
  readonly savedStyles: number;
  readonly logos: number;
  readonly fonts: number;
}

export interface Plan {
  readonly name: string;
  /** The display name. */
  readonly title: string;
  readonly monthlyPriceCents: number;
  /** Credits per billing period. */
  readonly credits: number;
  readonly requestsPerMinute: number;
  readonly concurrentRenders: number;
  readonly limits: PlanLimits;
  /** True if videos can be captioned from their speech, which costs the operator money. */
  readonly speech: boolean;
  /** The id of the price at the payment provider. */
  readonly stripePrice?: string;
}

/** The default limits. A plan in the file lists only those that differ. */
const DEFAULT_LIMITS: PlanLimits = {
  imageBytes: 25_000_000,
  imagePixels: 50_000_000,
  videoBytes: 200_000_000,
  videoSeconds: 60,
  videoSide: 4_096,
  videoFps: 60,
  asyncVideoSeconds: 600,
  asyncVideoBytes: 1_000_000_000,
  storedBytes: 5_000_000_000,
  queuedRenders: 1_000,
  savedStyles: 50,
  logos: 20,
  fonts: 20,
};

/** Returns the limits of an asynchronous render, which may take longer. */
export function asyncLimits(limits: PlanLimits): PlanLimits {
  const videoSeconds = Math.max(limits.videoSeconds, limits.asyncVideoSeconds);
  return { ...limits, videoSeconds, videoBytes: Math.max(limits.videoBytes, limits.asyncVideoBytes) };
}

/** All plans, cheapest first, and the plan for each name that a marketplace uses. */
export class PlanBook {
  readonly plans: readonly Plan[];
  /** An ISO 4217 code. */
  readonly currency: string;
  readonly #marketplace: ReadonlyMap<string, string>;

  constructor(plans: readonly Plan[], currency: string, marketplace: ReadonlyMap<string, string>) {
    this.plans = plans.toSorted((a, b) => a.monthlyPriceCents - b.monthlyPriceCents || a.credits - b.credits);
    this.currency = currency;
    this.#marketplace = marketplace;
  }

  get lowest(): Plan {
    const [plan] = this.plans;
    return must(plan, 'the first plan');
  }

  get names(): string[] {
    return this.plans.map(({ name }) => name);
  }

  get marketplace(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#marketplace);
  }

  find(name: string): Plan | undefined {
    return this.plans.find((plan) => plan.name === name);
  }

  /** Returns the plan for a name from the store. The server checks at startup that the file has all of them. */
  get(name: string): Plan {
    const plan = this.find(name);
    if (plan === undefined) throw new Error(`an account has the plan "${name}", which is not in the plans file`);
    return plan;
  }

  /** Returns the plan of a marketplace subscription. A name that isn't mapped gets the lowest plan. */
  forMarketplace(subscription: string): Plan {
    const name = this.#marketplace.get(subscription.toUpperCase());
    return name === undefined ? this.lowest : this.get(name);
  }

  /** Returns true for an upgrade, which applies immediately. Anything else waits for the next period. */
  isUpgrade(from: string, to: string): boolean {
    const rank = (name: string): number => this.plans.findIndex((plan) => plan.name === name);
    return rank(to) > rank(from);
  }
}

export class PlansError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid plans file:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'PlansError';
    this.faults = faults;
  }
}

/** Throws a `PlansError` that lists every fault. */
export function parsePlans(json: unknown): PlanBook {
  const faults: string[] = [];
  const file = new Fields(json, '', faults);
  const currency = file.text('currency', {
    pattern: /^[A-Z]{3}$/u,
    expected: 'three uppercase letters',
    fallback: 'USD',
  });
  const plans = file.list('plans').map((item, index) => parsePlan(new Fields(item, `plans[${index}]`, faults)));
  const names = plans.map(({ name }) => name);
  for (const name of repeated(names)) faults.push(`plans: the name "${name}" appears more than once`);
  for (const price of repeated(plans.map(({ stripePrice = '' }) => stripePrice))) {
    faults.push(`plans: the stripePrice "${price}" appears more than once`);
  }
  const marketplace = file.texts('marketplace').map(([key, plan]) => [key.toUpperCase(), plan] as const);
  for (const key of repeated(marketplace.map(([name]) => name))) {
    faults.push(`marketplace: "${key}" appears more than once; upper and lower case are the same`);
  }
  for (const [key, plan] of marketplace) {
    if (plan !== '' && !names.includes(plan)) faults.push(`marketplace.${key}: there is no plan "${plan}"`);
  }
  file.nothingElse();
  if (faults.length > 0) throw new PlansError(faults);
  return new PlanBook(plans, currency, new Map(marketplace));
}

/** Returns items that occur more than once. Empty ones have been reported already. */
function repeated(items: readonly string[]): Set<string> {
  return new Set(items.filter((item, index) => item !== '' && items.indexOf(item) !== index));
}

function parsePlan(fields: Fields): Plan {
  const limits = fields.object('limits');
  const limit = (name: keyof PlanLimits, min = 1): number =>
    limits.integer(name, { min, fallback: DEFAULT_LIMITS[name] });
  const name = fields.text('name', {
    pattern: /^[a-z][a-z0-9-]{0,31}$/u,
    expected: 'lowercase letters, digits and dashes',
  });
  const stripePrice = fields.text('stripePrice', { pattern: /^\S+$/u, expected: 'the id of a price', fallback: '' });
  const monthlyPriceCents = fields.integer('monthlyPriceCents', { min: 0 });
  const plan: Plan = {
    name,
    title: fields.text('title', { pattern: /\S/u, expected: 'a text that is not blank', fallback: capitalize(name) }),
    monthlyPriceCents,
    credits: fields.integer('credits', { min: 0 }),
    requestsPerMinute: fields.integer('requestsPerMinute', { min: 1 }),
    concurrentRenders: fields.integer('concurrentRenders', { min: 1 }),
    limits: {
      imageBytes: limit('imageBytes'),
      imagePixels: limit('imagePixels'),
      videoBytes: limit('videoBytes'),
      videoSeconds: limit('videoSeconds'),
      videoSide: limit('videoSide'),
      videoFps: limit('videoFps'),
      asyncVideoSeconds: limit('asyncVideoSeconds'),
      asyncVideoBytes: limit('asyncVideoBytes'),
      storedBytes: limit('storedBytes'),
      queuedRenders: limit('queuedRenders'),
      savedStyles: limit('savedStyles', 0),
      logos: limit('logos', 0),
      fonts: limit('fonts', 0),
    },
    speech: fields.boolean('speech', monthlyPriceCents > 0),
    ...(stripePrice !== '' && { stripePrice }),
  };
  limits.nothingElse();
  fields.nothingElse();
  return plan;
}

function capitalize(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

const builtIn = (
  name: string,
  monthlyPriceCents: number,
  credits: number,
  requestsPerMinute: number,
  concurrentRenders: number,
): Plan => ({
  name,
  title: capitalize(name),
  monthlyPriceCents,
  credits,
  requestsPerMinute,
  concurrentRenders,
  limits: DEFAULT_LIMITS,
  speech: monthlyPriceCents > 0,
});

export const DEFAULT_PLANS = new PlanBook(
  [
    builtIn('free', 0, 100, 60, 2),
    builtIn('starter', 900, 2_000, 300, 4),
    builtIn('pro', 2_900, 10_000, 1_200, 16),
    builtIn('business', 9_900, 50_000, 6_000, 64),
  ],
  'USD',
  new Map([
    ['BASIC', 'free'],
    ['PRO', 'starter'],
    ['ULTRA', 'pro'],
    ['MEGA', 'business'],
  ]),
);
