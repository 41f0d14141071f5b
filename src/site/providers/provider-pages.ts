// Leaving for a provider's sign-in page, and coming back. A form starts it, so that no other site can. The form's page
// sends the browser on with a script, because browsers apply `form-action` of the content security policy to redirects
// of a form, too.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROVIDER_NAMES, type SignInProvider } from '../../service/account/sign-in-provider.ts';
import type { Store } from '../../service/store/store.ts';
import { problem } from '../account/fields.ts';
import { seeOther } from '../account/frame.ts';
import type { PublicForms } from '../account/public-forms.ts';
import { beginAccount, type SignUpDependencies } from '../account/sign-up-page.ts';
import { isPrivatePath } from '../account/signed-in-routes.ts';
import { html } from '../html.ts';
import { readCookie, writeCookie } from '../identity/cookie.ts';
import type { Visit } from '../identity/session-guard.ts';
import type { CompleteSignIn } from '../settings/code-page.ts';
import {
  beginSignIn,
  PENDING_SECONDS,
  type PendingSignIn,
  resumeSignIn,
  type SignInPurpose,
} from './pending-sign-in.ts';
import { startPath } from './provider-buttons.ts';
import { problemText } from './provider-problems.ts';
import type { ProviderProblem, ProviderSignIn } from './provider-sign-in.ts';

export interface ProviderPagesDependencies extends SignUpDependencies {
  readonly providerSignIn: ProviderSignIn;
  readonly store: Pick<Store, 'keys' | 'accounts' | 'linkedIdentities'>;
  /** Always set when there are providers, which accept only addresses that the operator has registered. */
  readonly publicUrl: string;
}

/** Sends the visitor to a provider. */
export type LeaveForProvider = (visit: Visit, purpose: SignInPurpose) => Promise<FastifyReply>;

const SECURITY_PATH = '/dashboard/security';
const COOKIE = 'storybar-provider';

export function addProviderPages(
  forms: PublicForms,
  dependencies: ProviderPagesDependencies,
  completeSignIn: CompleteSignIn,
): LeaveForProvider {
  const { providerSignIn } = dependencies;
  const leave: LeaveForProvider = async (visit, purpose) => await leaveFor(forms, dependencies, visit, purpose);
  for (const provider of providerSignIn.providers) {
    forms.action(startPath(provider), async (visit, fields) => {
      const next = fields.text('next');
      return await leave(visit, { provider, userId: null, next: isPrivatePath(next) ? next : '' });
    });
    // Visitors get here by reloading the page that leads to the provider.
    forms.page(startPath(provider), (visit) => seeOther(visit, '/signin'));
    forms.page(
      callbackPath(provider),
      async (visit) => await comeBack(forms, dependencies, completeSignIn, visit, provider),
    );
  }
  return leave;
}

async function leaveFor(
  forms: PublicForms,
  { providerSignIn, publicUrl }: ProviderPagesDependencies,
  visit: Visit,
  purpose: SignInPurpose,
): Promise<FastifyReply> {
  const { request, reply } = visit;
  const { provider } = purpose;
  const pending = beginSignIn(purpose, new Date());
  const url = await providerSignIn.begin(provider, requestOf(pending, publicUrl), visitorOf(request));
  if (typeof url === 'string') return showProblem(forms, visit, pending, url);
  writeCookie(visit, publicUrl, { name: COOKIE, value: pending.cookie, maxAgeSeconds: PENDING_SECONDS });
  reply.header('refresh', `0;url=${url.href}`);
  const name = PROVIDER_NAMES[provider];
  const body = html`<p>If nothing happens, <a href="${url.href}">continue to ${name}</a>.</p>`;
  return forms.send(visit, { title: `Continuing to ${name}…`, body });
}

async function comeBack(
  forms: PublicForms,
  dependencies: ProviderPagesDependencies,
  completeSignIn: CompleteSignIn,
  visit: Visit,
  provider: SignInProvider,
): Promise<FastifyReply> {
  const { providerSignIn, sessionGuard, identity: users, publicUrl } = dependencies;
  const { request, reply } = visit;
  const parameters = parametersOf(request);
  const cookie = readCookie(request, publicUrl, COOKIE);
  const pending = resumeSignIn(cookie, provider, parameters.get('state') ?? '', new Date());
  if (pending === undefined) return showProblem(forms, visit, { provider, userId: null }, 'expired');
  // A response of the provider is used once, whatever its result.
  writeCookie(visit, publicUrl, { name: COOKIE, value: '', maxAgeSeconds: 0 });
  const found = await providerSignIn.identify(provider, parameters, requestOf(pending, publicUrl), visitorOf(request));
  if (typeof found === 'string') return showProblem(forms, visit, pending, found);
  if (pending.userId !== null) {
    const member = await sessionGuard.member(request, reply);
    if (member?.user.id !== pending.userId) return showProblem(forms, visit, pending, 'signed out');
    const result = await dependencies.store.linkedIdentities.link(member.user.id, found);
    if (result !== 'linked') return showProblem(forms, visit, pending, result);
    users.reportProviderLinked(member.user, PROVIDER_NAMES[provider], request.id);
    return seeOther(visit, `${SECURITY_PATH}?done=provider-linked`);
  }
  const outcome = await providerSignIn.signIn(found, request.ip);
  if (outcome.kind === 'refused') return showProblem(forms, visit, pending, outcome.problem);
  const { authenticated, kind } = outcome;
  if (kind === 'new') return await beginAccount(dependencies, visit, authenticated);
  // A provider replaces the password, not the second factor.
  return await completeSignIn(visit, authenticated, isPrivatePath(pending.next) ? pending.next : '');
}

function showProblem(
  forms: PublicForms,
  visit: Visit,
  { provider, userId }: Pick<PendingSignIn, 'provider' | 'userId'>,
  reason: ProviderProblem,
): FastifyReply {
  const { status, title, text } = problemText(reason, PROVIDER_NAMES[provider]);
  const [path, label] = userId === null ? ['/signin', 'Back to sign in'] : [SECURITY_PATH, 'Back to Security'];
  const body = html`${problem(text)}
<p class="actions"><a class="button" href="${path}">${label}</a></p>`;
  return forms.send(visit, { title, body, status });
}

function callbackPath(provider: SignInProvider): string {
  return `/signin/${provider}/callback`;
}

function requestOf({ provider, state, nonce, codeVerifier }: PendingSignIn, publicUrl: string) {
  return { redirectUri: `${publicUrl}${callbackPath(provider)}`, state, nonce, codeVerifier };
}

function visitorOf({ ip, id }: FastifyRequest): { readonly address: string; readonly requestId: string } {
  return { address: ip, requestId: id };
}

function parametersOf({ url }: FastifyRequest): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query === -1 ? '' : url.slice(query + 1));
}
