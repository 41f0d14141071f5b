// Plans, by name. What a plan allows an asset to be is decided here; the numbers are the contract's defaults.

export const PLAN_NAMES = ['free', 'starter', 'pro', 'business'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export interface PlanLimits {
  readonly imageBytes: number;
  readonly imagePixels: number;
}

const DEFAULT_LIMITS: PlanLimits = { imageBytes: 25_000_000, imagePixels: 50_000_000 };

const LIMITS: Readonly<Record<PlanName, PlanLimits>> = {
  free: DEFAULT_LIMITS,
  starter: DEFAULT_LIMITS,
  pro: DEFAULT_LIMITS,
  business: DEFAULT_LIMITS,
};

export function limitsOf(plan: PlanName): PlanLimits {
  return LIMITS[plan];
}

export function isPlanName(name: string): name is PlanName {
  return PLAN_NAMES.some((plan) => plan === name);
}
