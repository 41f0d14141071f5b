// Routes for signed-in users. Other visitors are redirected to the sign-in page. A role that doesn't allow the page is
// refused, and a form is read only if one of our pages sent it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { may } from '../../service/account/roles.ts';
import { AppError } from '../../shared/errors.ts';
import type { User } from '../../service/store/people/user.ts';
import { must } from '../../shared/must.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { PagePermission, SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import { seeOther } from './frame.ts';

type ShowPage = (visit: SignedInVisit) => Promise<FastifyReply>;
type SubmitForm = (visit: SignedInVisit, fields: FormFields) => Promise<FastifyReply>;
type ReceiveUpload = (visit: { user: User; request: FastifyRequest; reply: FastifyReply }) => Promise<FastifyReply>;

interface Route {
  readonly path: string;
  readonly permission: PagePermission;
}

export interface PageRoute extends Route {
  /** The label of the page in the navigation, which lists pages in the order of their registration. */
  readonly tab?: string;
}

export class SignedInRoutes {
  readonly #app: FastifyInstance;
  readonly #sessionGuard: SessionGuard;
  readonly #tabs: SignedInVisit['tabs'][number][] = [];

  constructor(app: FastifyInstance, sessionGuard: SessionGuard) {
    this.#app = app;
    this.#sessionGuard = sessionGuard;
  }

  page({ path, permission, tab }: PageRoute, show: ShowPage): void {
    if (tab !== undefined) this.#tabs.push({ path, permission, label: tab });
    this.#app.get(path, async (request, reply) => {
      const visit = await this.#visit(permission, request, reply);
      return visit === undefined ? redirectToSignIn(request, reply) : await show(visit);
    });
  }

  action({ path, permission }: Route, submit: SubmitForm): void {
    this.#app.post(path, async (request, reply) => {
      const visit = await this.#visit(permission, request, reply);
      if (visit === undefined) return redirectToSignIn(request, reply);
      return await submit(visit, await this.#sessionGuard.form(request));
    });
  }

  /** Receives a file from a script on one of our pages, because forms of the dashboard have no files. */
  upload({ path, permission }: Route, receive: ReceiveUpload): void {
    this.#app.post(path, async (request, reply) => {
      const user = await this.#sessionGuard.scriptedMember(request);
      if (user === undefined) throw new AppError('missing_api_key', 'Your session has ended. Sign in again.');
      assertAllowed(user, permission);
      return await receive({ user, request, reply });
    });
  }

  async #visit(
    permission: PagePermission,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignedInVisit | undefined> {
    const member = await this.#sessionGuard.member(request, reply);
    if (member === undefined) return undefined;
    assertAllowed(member.user, permission);
    return { ...member, tabs: this.#tabs.filter((tab) => isAllowed(member.user, tab.permission)) };
  }
}

function isAllowed({ role, accountRole }: User, permission: PagePermission): boolean {
  return permission === 'operate' ? role === 'operator' : may(accountRole, permission);
}

function assertAllowed(user: User, permission: PagePermission): void {
  if (isAllowed(user, permission)) return;
  // A page of operators doesn't reveal that it exists.
  if (permission === 'operate') throw new AppError('not_found', "This path doesn't exist.");
  throw new AppError('role_not_allowed', "Your role in this account doesn't allow this. Ask an owner of the account.");
}

/** The page that a user sees first. */
export function homeOf({ role }: Pick<User, 'role'>): string {
  return role === 'operator' ? '/operator' : '/dashboard';
}

/** Returns the value of `:id` in the path. */
export function idOf({ request }: Pick<SignedInVisit, 'request'>): string {
  return must((request.params as { id?: string }).id, 'the id in the path');
}

/** Returns undefined when the parameter is missing, empty or repeated. */
export function queryOf({ request }: Pick<SignedInVisit, 'request'>, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function redirectToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.method === 'GET' ? request.url.replace(/\?.*$/su, '') : '';
  const next = isPrivatePath(path) && path !== '/dashboard' ? `?next=${encodeURIComponent(path)}` : '';
  return seeOther({ reply }, `/signin${next}`);
}

/** Returns true for paths that the sign-in page may redirect to: our own pages for signed-in users and nothing else. */
export function isPrivatePath(path: string): boolean {
  return /^\/(?:dashboard|operator)(?:\/[\w-]+)*$/u.test(path);
}
