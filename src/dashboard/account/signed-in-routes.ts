// Routes behind the entry point: whoever is not signed in is led to the sign-in page, and forms are read only when they are ours.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteGroup } from '../../http/route-group.ts';
import type { SessionGuard, MemberVisit } from '../identity/session-guard.ts';
import type { FormFields } from '../identity/form-fields.ts';
import { seeOther } from './frame.ts';

type Page = (visit: MemberVisit) => Promise<FastifyReply>;
type Action = (visit: MemberVisit, fields: FormFields) => Promise<FastifyReply>;

export class SignedInRoutes {
  readonly #sessionGuard: SessionGuard;
  readonly #audience: 'member' | 'operator';
  readonly #pages = new Map<string, Page>();
  readonly #actions = new Map<string, Action>();

  constructor(sessionGuard: SessionGuard, audience: 'member' | 'operator') {
    this.#sessionGuard = sessionGuard;
    this.#audience = audience;
  }

  page(path: string, page: Page): void {
    this.#pages.set(path, page);
  }

  action(path: string, action: Action): void {
    this.#actions.set(path, action);
  }

  get group(): RouteGroup {
    return { register: (app) => this.#register(app) };
  }

  #register(app: FastifyInstance): void {
    for (const [path, page] of this.#pages) {
      app.get(path, async (request, reply) => {
        const visit = await this.#enter(request, reply);
        return visit === undefined ? toSignIn(request, reply) : await page(visit);
      });
    }
    for (const [path, action] of this.#actions) {
      app.post(path, async (request, reply) => {
        const visit = await this.#enter(request, reply);
        if (visit === undefined) return toSignIn(request, reply);
        return await action(visit, await this.#sessionGuard.form(request));
      });
    }
  }

  async #enter(request: FastifyRequest, reply: FastifyReply): Promise<MemberVisit | undefined> {
    return await this.#sessionGuard[this.#audience](request, reply);
  }
}

/** What stands for `:id` in the path. */
export function idOf({ request }: Pick<MemberVisit, 'request'>): string {
  return (request.params as { id?: string }).id ?? '';
}

export function queryOf({ request }: Pick<MemberVisit, 'request'>, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.method === 'GET' ? (request.url.split('?', 1)[0] ?? '') : '';
  const next = isOwnPage(path) && path !== '/dashboard' ? `?next=${encodeURIComponent(path)}` : '';
  return seeOther({ reply }, `/signin${next}`);
}

/** Where somebody may be led after signing in: pages of ours for people who are signed in, nothing else. */
export function isOwnPage(path: string): boolean {
  return /^\/(?:dashboard|operator)(?:\/[\w-]+)*$/u.test(path);
}
