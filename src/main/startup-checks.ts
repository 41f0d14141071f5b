// Checks at startup, and the health and readiness reports.

import type { PlanBook } from '../service/account/plans.ts';
import { removedSettings, type Settings, SettingsError } from '../service/config/settings.ts';
import type { Renderer, RendererStatus } from '../service/dispatch/renderer.ts';
import type { Store } from '../service/store/store.ts';
import type { HealthReport } from '../service/telemetry/health.ts';
import type { Logger } from '../service/telemetry/logger.ts';
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

/**
 * Tells load balancers whether to send requests here, which isn't the case while the server starts or stops. The loss
 * of NATS or the database doesn't count, because all servers lose them at the same time, and their own 503 is more
 * useful than the load balancer's.
 */
export class Readiness {
  readonly #renderer: Renderer;
  #hasStarted = false;

  constructor(renderer: Renderer) {
    this.#renderer = renderer;
  }

  /** Returns the reason why load balancers should not send requests, if there is one. */
  whyNot(isDraining: boolean): string | undefined {
    if (isDraining) return 'shutting down';
    const { images, remote } = this.#renderer.status();
    this.#hasStarted ||= remote !== undefined || images.ready > 0;
    return this.#hasStarted ? undefined : 'starting';
  }
}

/** Refuses to start while accounts are on a plan that the plans file lacks, because their requests would all fail. */
export async function assertPlans(store: Store, plans: PlanBook): Promise<void> {
  const missing = (await store.accounts.plansInUse()).filter((name) => plans.find(name) === undefined);
  if (missing.length === 0) return;
  throw new SettingsError(missing.map((name) => `STORYBAR_PLANS: the plan "${name}" is missing, but accounts use it`));
}

export function warnAboutRemovedSettings(logger: Logger): void {
  for (const removed of removedSettings()) logger.warn(removed, 'removed setting ignored');
}

type SignUpSettings = Pick<Settings, 'host' | 'signUp' | 'smtpUrl' | 'publicUrl'>;

export function warnAboutPublicSignUp(settings: SignUpSettings, logger: Logger): void {
  const advice = publicSignUpAdvice(settings);
  if (advice) logger.warn({ host: settings.host, set: advice }, 'sign-up is open on a public address');
}

/**
 * Returns what to set on a server that lets anyone on the network sign up, or undefined when there is nothing to warn
 * about.
 */
export function publicSignUpAdvice(settings: SignUpSettings): readonly string[] | undefined {
  if (settings.signUp === 'closed' || isLoopback(settings.host)) return undefined;
  return [
    'STORYBAR_SIGN_UP=closed to require an invitation',
    ...(settings.smtpUrl === '' ? ['STORYBAR_SMTP_URL to verify email addresses'] : []),
    ...(settings.publicUrl === '' ? ['STORYBAR_PUBLIC_URL to the address that users open'] : []),
  ];
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/iu.test(host);
}
