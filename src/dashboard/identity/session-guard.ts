// Who opened this page, and may they send this form? Every page for people who are signed in comes through here.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { createSecret, hashSecret } from '../../account/secret.ts';
import { AppError } from '../../errors.ts';
import type { Sessions, UserSession, User } from '../../store/users.ts';
import { readCookie, writeCookie } from './cookie.ts';
import { type FormFields, readFields } from './form-fields.ts';
import { assertOwnForm, formToken } from './own-form.ts';
import { LIFETIMES } from './session-lifetime.ts';

export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** For the forms of the page. */
  readonly token: string;
}

/** Of somebody who is signed in. */
export interface MemberVisit extends Visit {
  readonly user: User;
}

export interface SessionGuardOptions {
  readonly sessions: Sessions;
  /** Where people reach the site; empty: wherever they say they did. */
  readonly publicUrl: string;
  readonly clock?: () => Date;
}

/** A page that is loaded again within this time is no reason to write. */
const EXTEND_AFTER_MS = 60_000;

export class SessionGuard {
  readonly #sessions: Sessions;
  readonly #publicUrl: string;
  readonly #clock: () => Date;

  constructor({ sessions, publicUrl, clock = () => new Date() }: SessionGuardOptions) {
    this.#sessions = sessions;
    this.#publicUrl = publicUrl;
    this.#clock = clock;
  }

  /** A page for everybody that has a form. Whoever has no cookie yet gets one, for the token. */
  async visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
    let secret = readCookie(request, this.#publicUrl);
    if (secret === undefined) {
      secret = createSecret();
      writeCookie({ request, reply }, this.#publicUrl, secret);
    }
    return { request, reply, token: formToken(secret) };
  }

  /** Undefined when nobody is signed in. */
  async member(request: FastifyRequest, reply: FastifyReply): Promise<MemberVisit | undefined> {
    const secret = readCookie(request, this.#publicUrl);
    if (secret === undefined) return undefined;
    const session = await this.#sessions.find(hashSecret(secret));
    if (session === undefined) return undefined;
    await this.#extend(secret, session);
    return { request, reply, token: formToken(secret), user: session.user };
  }

  /** An operator; for anybody else there is nothing here. */
  async operator(request: FastifyRequest, reply: FastifyReply): Promise<MemberVisit | undefined> {
    const visit = await this.member(request, reply);
    if (visit !== undefined && visit.user.role !== 'operator') {
      throw new AppError('not_found', 'There is nothing at this path.');
    }
    return visit;
  }

  /** Reads a form and throws unless a page of ours, opened by the same person, sent it. */
  async form(request: FastifyRequest): Promise<FormFields> {
    const fields = await readFields(request);
    assertOwnForm(request, this.#publicUrl, readCookie(request, this.#publicUrl), fields.text('token'));
    return fields;
  }

  /** Always a new secret: one that somebody planted before is worth nothing. */
  async signIn({ request, reply }: Pick<Visit, 'request' | 'reply'>, user: User): Promise<void> {
    const before = readCookie(request, this.#publicUrl);
    if (before !== undefined) await this.#sessions.end(hashSecret(before));
    const secret = createSecret();
    const now = this.#clock().getTime();
    const { idleMs, wholeMs } = LIFETIMES[user.role];
    await this.#sessions.begin({
      hash: hashSecret(secret),
      userId: user.id,
      idleUntil: new Date(now + idleMs),
      endsAt: new Date(now + wholeMs),
    });
    writeCookie({ request, reply }, this.#publicUrl, secret, wholeMs / 1_000);
  }

  async signOut({ request, reply }: Pick<Visit, 'request' | 'reply'>): Promise<void> {
    const secret = readCookie(request, this.#publicUrl);
    if (secret !== undefined) await this.#sessions.end(hashSecret(secret));
    writeCookie({ request, reply }, this.#publicUrl, '', 0);
  }

  async #extend(secret: string, { user, idleUntil }: UserSession): Promise<void> {
    const until = this.#clock().getTime() + LIFETIMES[user.role].idleMs;
    if (until - idleUntil.getTime() < EXTEND_AFTER_MS) return;
    await this.#sessions.extend(hashSecret(secret), new Date(until));
  }
}
