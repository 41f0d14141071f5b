// Plans, by name. What a plan allows an asset to be is decided here; the numbers are the contract's defaults.

export const PLAN_NAMES = ['free', 'starter', 'pro', 'business'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export interface PlanLimits {
  readonly imageBytes: number;
  readonly imagePixels: number;
  readonly videoBytes: number;
  readonly videoSeconds: number;
  /** The longer side, in pixels. */
  readonly videoSide: number;
  readonly videoFps: number;
}

const DEFAULT_LIMITS: PlanLimits = {
  imageBytes: 25_000_000,
  imagePixels: 50_000_000,
  videoBytes: 200_000_000,
  videoSeconds: 60,
  videoSide: 4_096,
  videoFps: 60,
};

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
