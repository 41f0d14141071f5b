// What a server says about itself: whether it could start, whether it lives, whether it is of use.

import type { PlanBook } from '../account/plans.ts';
import { SettingsError } from '../config/settings.ts';
import type { Renderer, RendererStatus } from '../dispatch/renderer.ts';
import type { Store } from '../store/store.ts';
import type { HealthReport } from '../telemetry/health.ts';
import { VERSION } from './version.ts';

export function healthOf(
  renderer: RendererStatus,
  sandbox: HealthReport['sandbox'],
  latencyMs: HealthReport['latencyMs'],
): HealthReport {
  const status = renderer.images.ready > 0 ? 'ok' : 'starting';
  const uptimeSeconds = Math.floor(process.uptime());
  return { status, version: VERSION, uptimeSeconds, sandbox, latencyMs, renderer };
}

/** For load balancers and orchestrators: alive is not the same as useful. */
export async function whyNotReady(store: Store, renderer: Renderer, leaving: boolean): Promise<string | undefined> {
  if (leaving) return 'shutting down';
  if (renderer.status().images.ready === 0) return 'no render worker is ready';
  return await store.accounts.count().then(
    () => undefined,
    () => 'the database does not answer',
  );
}

/** An account on a plan that the file no longer has could not be served: better said now than to its owner. */
export async function assertPlans(store: Store, plans: PlanBook): Promise<void> {
  const missing = (await store.accounts.plansInUse()).filter((name) => plans.find(name) === undefined);
  if (missing.length === 0) return;
  await store.close();
  throw new SettingsError(missing.map((name) => `STORYBAR_PLANS: accounts have the plan "${name}", which is missing`));
}
