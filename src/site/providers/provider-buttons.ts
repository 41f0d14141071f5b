// The buttons that lead to providers, for the pages to sign in and sign up.

import { PROVIDER_NAMES, type SignInProvider } from '../../service/account/sign-in-provider.ts';
import { form } from '../account/frame.ts';
import { isPrivatePath } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../identity/session-guard.ts';
import type { ProviderSignIn } from './provider-sign-in.ts';

/** Returns undefined without providers. */
export function providerButtons(visit: Visit, { providers }: ProviderSignIn, next: string): Html | undefined {
  if (providers.length === 0) return undefined;
  const button = (provider: SignInProvider): Html =>
    form(
      visit,
      startPath(provider),
      html`<input type="hidden" name="next" value="${isPrivatePath(next) ? next : ''}">
<button class="button quiet" type="submit">Continue with ${PROVIDER_NAMES[provider]}</button>`,
    );
  return html`<div class="providers">${providers.map(button)}</div>
<p class="or"><span>or</span></p>`;
}

/** The note for the sign-in page, where continuing with a provider can create an account. */
export function providerTerms({ providers }: ProviderSignIn): Html | undefined {
  if (providers.length === 0) return undefined;
  const names = providers.map((provider) => PROVIDER_NAMES[provider]).join(' or ');
  return html`<p class="small">If you’re new, continuing with ${names} creates an account. By creating one, you agree to the <a href="/terms">terms</a> and the <a href="/privacy">privacy policy</a>.</p>`;
}

export function startPath(provider: SignInProvider): string {
  return `/signin/${provider}`;
}
