// The pages for signed-in users, and the pages to sign in and sign up.

import type { PlanBook } from '../service/account/plans.ts';
import type { Billing } from '../service/billing/billing.ts';
import type { SavedFiles } from '../service/brand/saved-files.ts';
import type { SavedLogos } from '../service/brand/saved-logos.ts';
import type { SavedStyles } from '../service/brand/saved-styles.ts';
import type { RenderActions } from '../service/renders/render-actions.ts';
import type { FailedDecodes } from '../service/limits/failed-decodes.ts';
import type { UploadBudget } from '../service/renders/upload-budget.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import type { Store } from '../service/store/store.ts';
import type { HealthReport } from '../service/telemetry/health.ts';
import { addConfirmPage } from './account/confirm-page.ts';
import { addKeyPages } from './account/key-pages.ts';
import { addPasswordPages } from './account/password-pages.ts';
import { addPlanPages } from './account/plan-page.ts';
import { addSecurityPages } from './account/security-page.ts';
import { addSignInPages } from './account/sign-in-page.ts';
import { addSignUpPages } from './account/sign-up-page.ts';
import { addFontPages } from './brand/font-pages.ts';
import { addLogoPages } from './brand/logo-pages.ts';
import { addStylePages } from './brand/style-pages.ts';
import { type StylePreviewDependencies, StylePreviews } from './brand/style-preview.ts';
import { addRenderPages } from './account/render-pages.ts';
import { addRequestPages } from './account/request-pages.ts';
import { PublicForms } from './account/public-forms.ts';
import { SignedInRoutes } from './account/signed-in-routes.ts';
import { addStartPage } from './account/start-page.ts';
import { addUsagePages } from './account/usage-page.ts';
import type { Identity } from './identity/identity.ts';
import type { PasskeySignIn } from './identity/passkey-sign-in.ts';
import type { SessionGuard } from './identity/session-guard.ts';
import type { TwoFactor } from './identity/two-factor.ts';
import { addIncidentPages } from './incidents/incident-pages.ts';
import { addJoinPage } from './members/join-page.ts';
import { addMemberPages } from './members/member-pages.ts';
import { addAccountPages } from './operator/account-pages.ts';
import { addAuditPage } from './operator/audit-page.ts';
import { addCustomerView } from './operator/customer-view.ts';
import { addHealthPage } from './operator/health-page.ts';
import type { WebhookChanges } from '../service/webhooks/webhook-changes.ts';
import { addOverviewPage } from './operator/overview-page.ts';
import type { Limits } from '../service/store/limits.ts';
import type { Site } from './page.ts';
import { addProviderPages } from './providers/provider-pages.ts';
import { addProviderActions } from './providers/provider-section.ts';
import type { ProviderSignIn } from './providers/provider-sign-in.ts';
import { addAccountSettings } from './settings/account-page.ts';
import { addCodePage } from './settings/code-page.ts';
import { addPasskeyPages, addPasskeySignIn } from './settings/passkey-pages.ts';
import { addTwoFactorPages } from './settings/two-factor-page.ts';
import { addDeliveryPages } from './webhooks/delivery-pages.ts';
import { addEndpointPages } from './webhooks/endpoint-pages.ts';

export interface PrivatePagesDependencies extends Omit<StylePreviewDependencies, 'logos' | 'plan'> {
  readonly styles: SavedStyles;
  readonly logos: SavedLogos;
  /** Logos and fonts. */
  readonly files: SavedFiles;
  readonly failedDecodes: FailedDecodes;
  readonly uploads: UploadBudget;
  readonly rates: Pick<Limits, 'take'>;
  readonly site: Site;
  readonly store: Store;
  readonly plans: PlanBook;
  readonly billing: Billing;
  readonly identity: Identity;
  readonly sessionGuard: SessionGuard;
  readonly renderActions: RenderActions;
  readonly twoFactor: TwoFactor;
  readonly passkeySignIn: PasskeySignIn;
  readonly providerSignIn: ProviderSignIn;
  readonly health: () => HealthReport;
  readonly webhooks: WebhookChanges;
  /** If false, new users need a link from the operator. */
  readonly signUpOpen: boolean;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
}

export function privatePages(dependencies: PrivatePagesDependencies): RouteGroup {
  const { site, store, sessionGuard, health } = dependencies;
  return {
    register: (app) => {
      const forms = new PublicForms(app, site, sessionGuard);
      const completeSignIn = addCodePage(forms, dependencies);
      addSignInPages(forms, dependencies, completeSignIn);
      addSignUpPages(forms, dependencies);
      const leaveForProvider = addProviderPages(forms, dependencies, completeSignIn);
      addPasswordPages(forms, dependencies.identity, completeSignIn);
      const routes = new SignedInRoutes(app, sessionGuard);
      addConfirmPage(forms, routes, dependencies, completeSignIn);
      addStartPage(routes, dependencies);
      addUsagePages(routes, dependencies);
      addRequestPages(routes, dependencies);
      addRenderPages(routes, dependencies);
      addKeyPages(routes, dependencies);
      const previews = new StylePreviews({ ...dependencies, plan: dependencies.plans.lowest });
      addStylePages(routes, { ...dependencies, previews });
      addLogoPages(routes, dependencies);
      addFontPages(routes, { ...dependencies, previews });
      addEndpointPages(routes, dependencies);
      addDeliveryPages(routes, dependencies);
      addPlanPages(routes, dependencies);
      addSecurityPages(routes, dependencies);
      addJoinPage(forms, dependencies);
      addMemberPages(routes, dependencies);
      addTwoFactorPages(routes, dependencies);
      addPasskeySignIn(forms, dependencies);
      addPasskeyPages(routes, dependencies);
      addProviderActions(routes, dependencies, leaveForProvider);
      addAccountSettings(routes, dependencies);
      addOverviewPage(routes, dependencies);
      addHealthPage(routes, site, health);
      addIncidentPages(routes, dependencies);
      addAccountPages(routes, dependencies);
      addCustomerView(routes, dependencies);
      addAuditPage(routes, site, store);
    },
  };
}
