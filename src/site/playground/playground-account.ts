// The account of a signed-in visitor in the playground, which pays for renders without a key.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { admitAccount } from '../../service/account/access.ts';
import { remaining } from '../../service/account/credits.ts';
import type { PlanBook } from '../../service/account/plans.ts';
import { may } from '../../service/account/roles.ts';
import { AppError } from '../../shared/errors.ts';
import type { SavedLogos } from '../../service/brand/saved-logos.ts';
import { type SavedStyles, styleToJson } from '../../service/brand/saved-styles.ts';
import type { Caller } from '../../service/account/caller.ts';
import type { Identify } from '../../service/http/overlay/admit.ts';
import { receiveSmall } from '../../service/http/overlay/receive.ts';
import type { PreviewMember } from '../../service/http/playground/previews.ts';
import type { RouteGroup } from '../../service/http/route-group.ts';
import { must } from '../../shared/must.ts';
import type { Store } from '../../service/store/store.ts';
import type { User } from '../../service/store/people/user.ts';
import { PRIVATE_HEADERS, shownEmail } from '../account/frame.ts';
import { logoLabel } from '../brand/style-form.ts';
import type { SessionGuard } from '../identity/session-guard.ts';

export interface PlaygroundAccountDependencies {
  readonly store: Pick<Store, 'accounts' | 'ledger'>;
  readonly plans: PlanBook;
  readonly sessionGuard: SessionGuard;
  readonly styles: Pick<SavedStyles, 'list' | 'put'>;
  readonly logos: Pick<SavedLogos, 'list'>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

/**
 * The account has a route of its own and isn't part of the page: the page is compressed, and a secret must not be
 * compressed together with text that a visitor can influence (BREACH).
 */
export function playgroundAccountRoutes(dependencies: PlaygroundAccountDependencies): RouteGroup {
  return {
    register: (app) => {
      app.get('/playground/account', async (request, reply) => {
        const account = await accountOf(dependencies, request, reply);
        return await reply
          .headers({ ...PRIVATE_HEADERS, 'content-type': 'application/json; charset=utf-8' })
          .send(JSON.stringify({ account }));
      });
      app.put(
        '/playground/account/styles/:name',
        async (request, reply) => await saveStyle(dependencies, request, reply),
      );
    },
  };
}

/**
 * Returns null for visitors, and for members whose account can't pay or whose role doesn't allow renders. They get the
 * same as visitors.
 */
async function accountOf(
  dependencies: PlaygroundAccountDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<object | null> {
  const visit = await dependencies.sessionGuard.member(request, reply);
  if (visit === undefined) return null;
  const caller = await callerOf(dependencies, visit.user).catch(ignoreRefusal);
  if (caller === undefined) return null;
  const { accountId, subscription, plan, mode } = caller;
  const balance = await dependencies.store.ledger.balance(accountId, subscription.period, plan.credits);
  const { imageBytes, videoBytes, videoSeconds } = plan.limits;
  return {
    email: shownEmail(visit),
    mode,
    credits: remaining(balance),
    token: visit.token,
    limits: { imageBytes, videoBytes, videoSeconds },
    styles: (await dependencies.styles.list(accountId)).map(styleToJson),
    logos: (await dependencies.logos.list(accountId)).map((logo) => ({ id: logo.id, label: logoLabel(logo) })),
  };
}

/** For previews, which visitors without an account get as well. An ended session is that of a visitor. */
export function previewMember(
  dependencies: PlaygroundAccountDependencies,
): (request: FastifyRequest) => Promise<PreviewMember | undefined> {
  return async (request) => {
    if (request.headers['x-form-token'] === undefined) return undefined;
    const user = await dependencies.sessionGuard.scriptedMember(request);
    const caller = user && (await callerOf(dependencies, user).catch(ignoreRefusal));
    if (caller === undefined) return undefined;
    const { accountId, subscription, plan, mode } = caller;
    const balance = await dependencies.store.ledger.balance(accountId, subscription.period, plan.credits);
    return { accountId, isPaying: mode === 'live' && remaining(balance) > 0 };
  };
}

async function saveStyle(
  dependencies: PlaygroundAccountDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<object> {
  const { sessionGuard, styles, shutdown } = dependencies;
  const user = await sessionGuard.scriptedMember(request);
  if (user === undefined) throw new AppError('missing_api_key', 'Your session has ended. Sign in again.');
  assertMayDevelop(user, 'saving styles');
  const { fields } = await receiveSmall(request, reply, { shutdown, advice: 'Send the style as application/json.' });
  const style = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  const { name } = request.params as { readonly name: string };
  return styleToJson(await styles.put(await callerOf(dependencies, user), name, style, `user:${user.id}`));
}

function ignoreRefusal(error: unknown): undefined {
  if (error instanceof AppError) return undefined;
  throw error;
}

/** The request must come from our own page, because the browser sends the session cookie automatically. */
export function identifyMember(dependencies: PlaygroundAccountDependencies): Identify {
  return async (request, _setHeaders, onRecognized) => {
    const user = await dependencies.sessionGuard.scriptedMember(request);
    if (user === undefined) throw new AppError('missing_api_key', 'Your session has ended. Sign in again.');
    onRecognized({ accountId: user.accountId, keyId: undefined });
    return await callerOf(dependencies, user);
  };
}

/** As with keys, renders are free and watermarked until the user confirms their address, or the operator approves the account. */
export async function callerOf(
  { store, plans }: Pick<PlaygroundAccountDependencies, 'store' | 'plans'>,
  user: User,
): Promise<Caller> {
  const { accountId, unconfirmedEmail } = user;
  assertMayDevelop(user, 'renders');
  const { state, awaitsApproval, subscription } = must(
    await store.accounts.find(accountId),
    `the account ${accountId}`,
  );
  const active = admitAccount({ suspended: state === 'suspended', subscription });
  const mode = unconfirmedEmail === null && !awaitsApproval ? 'live' : 'test';
  return { accountId, keyId: undefined, mode, subscription: active, plan: plans.get(active.plan) };
}

function assertMayDevelop({ accountRole }: User, what: string): void {
  if (may(accountRole, 'develop')) return;
  throw new AppError(
    'role_not_allowed',
    `Your role in this account doesn't allow ${what}. Ask an owner of the account.`,
  );
}
