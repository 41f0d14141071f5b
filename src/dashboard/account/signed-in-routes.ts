// Routes for signed-in users. Other visitors are redirected to the sign-in page. A role that doesn't allow the page is
// refused, and a form is read only if one of our pages sent it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { may } from '../../account/roles.ts';
import { AppError } from '../../errors.ts';
import type { User } from '../../store/people/user.ts';
import { must } from '../../primitives/must.ts';
import type { FormFields } from '../identity/form-fields.ts';
import { permissionFor } from '../identity/page-permissions.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import { seeOther } from './frame.ts';

type ShowPage = (visit: SignedInVisit) => Promise<FastifyReply>;
type SubmitForm = (visit: SignedInVisit, fields: FormFields) => Promise<FastifyReply>;

export class SignedInRoutes {
  readonly #app: FastifyInstance;
  readonly #sessionGuard: SessionGuard;
  readonly #audience: 'member' | 'operator';

  constructor(app: FastifyInstance, sessionGuard: SessionGuard, audience: 'member' | 'operator') {
    this.#app = app;
    this.#sessionGuard = sessionGuard;
    this.#audience = audience;
  }

  page(path: string, show: ShowPage): void {
    this.#app.get(path, async (request, reply) => {
      const visit = await this.#visit(path, request, reply);
      return visit === undefined ? redirectToSignIn(request, reply) : await show(visit);
    });
  }

  action(path: string, submit: SubmitForm): void {
    this.#app.post(path, async (request, reply) => {
      const visit = await this.#visit(path, request, reply);
      if (visit === undefined) return redirectToSignIn(request, reply);
      return await submit(visit, await this.#sessionGuard.form(request));
    });
  }

  async #visit(path: string, request: FastifyRequest, reply: FastifyReply): Promise<SignedInVisit | undefined> {
    const visit = await this.#sessionGuard[this.#audience](request, reply);
    if (visit !== undefined && !may(visit.user.accountRole, permissionFor(path))) {
      throw new AppError(
        'role_not_allowed',
        "Your role in this account doesn't allow this. Ask an owner of the account.",
      );
    }
    return visit;
  }
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
