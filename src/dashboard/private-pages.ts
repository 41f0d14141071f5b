// The pages for people who are signed in, and the ones that let them in.

import type { PlanBook } from '../account/plans.ts';
import type { Billing } from '../billing/billing.ts';
import type { RouteGroup } from '../http/route-group.ts';
import type { Store } from '../store/store.ts';
import type { HealthReport } from '../telemetry/health.ts';
import { addKeyPages } from './account/key-pages.ts';
import { SignedInRoutes } from './account/signed-in-routes.ts';
import { addPlanPages } from './account/plan-page.ts';
import { addSecurityPages } from './account/security-page.ts';
import { signInPages } from './account/sign-in-pages.ts';
import { addUsagePages } from './account/usage-page.ts';
import type { SessionGuard } from './identity/session-guard.ts';
import type { Identity } from './identity/identity.ts';
import { addAccountPages } from './operator/account-pages.ts';
import { addAuditPage } from './operator/audit-page.ts';
import { addHealthPage } from './operator/health-page.ts';
import type { Site } from './page.ts';

export interface PrivatePagesDependencies {
  readonly site: Site;
  readonly store: Store;
  readonly plans: PlanBook;
  readonly billing: Billing;
  readonly identity: Identity;
  readonly sessionGuard: SessionGuard;
  readonly health: () => HealthReport;
  /** False: people come by an operator's link. */
  readonly signUpOpen: boolean;
  /** Where people reach the site; empty: wherever they say they did. */
  readonly publicUrl: string;
}

export function privatePages(dependencies: PrivatePagesDependencies): RouteGroup[] {
  const { site, store, sessionGuard, health } = dependencies;
  const members = new SignedInRoutes(sessionGuard, 'member');
  addUsagePages(members, dependencies);
  addKeyPages(members, dependencies);
  addPlanPages(members, dependencies);
  addSecurityPages(members, dependencies);
  const operators = new SignedInRoutes(sessionGuard, 'operator');
  addHealthPage(operators, site, health);
  addAccountPages(operators, dependencies);
  addAuditPage(operators, site, store);
  return [signInPages(dependencies), members.group, operators.group];
}
