// Sessions of the site: identifies the visitor of a page, and reads a form only if one of our pages sent it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Permission } from '../../service/account/roles.ts';
import { createSecret, hashSecret, isSecret } from '../../service/account/secret.ts';
import { must } from '../../shared/must.ts';
import type { Incident, Incidents } from '../../service/store/incidents/incidents.ts';
import type { Sessions, UserSession } from '../../service/store/people/sessions.ts';
import type { User } from '../../service/store/people/user.ts';
import { readCookie, writeCookie } from './cookie.ts';
import { assertNotForged, csrfToken } from './csrf.ts';
import { type FormFields, readFields } from './form-fields.ts';
import type { AuthenticatedUser } from './identity.ts';
import { type ShownKey, openNewKey, sealNewKey } from './new-key-cookie.ts';
import { SESSION_TIMEOUTS } from './session-timeouts.ts';

/** A request for a page that has forms. */
export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The CSRF token for the page's forms. */
  readonly token: string;
}

/** The permission of a role in the account, or `operate` for pages of operators, who have a role of their own. */
export type PagePermission = Permission | 'operate';

/** A visitor who is signed in. */
export interface Member extends Visit {
  readonly user: User;
  /** If true, the user's account has test keys only, until the operator approves it. */
  readonly awaitsApproval: boolean;
  /** Incidents that haven't ended, for the notice on every page. */
  readonly openIncidents: () => Promise<readonly Incident[]>;
  /** The hash of the visitor's session, which is its id in the store. */
  readonly sessionHash: string;
}

/** A request for a page of signed-in users. */
export interface SignedInVisit extends Member {
  /** The pages in the navigation that this user may open. */
  readonly tabs: readonly { readonly path: string; readonly label: string; readonly permission: PagePermission }[];
}

export interface SessionGuardOptions {
  readonly sessions: Sessions;
  readonly incidents: Pick<Incidents, 'open'>;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
  readonly clock?: () => Date;
}

/** A session is extended at most this often, so that reloading a page doesn't write to the database each time. */
const MIN_EXTENSION_MS = 60_000;
const DEVICE_COOKIE_SECONDS = 365 * 24 * 3_600;
/** Long enough to copy the key and to send a first request, even after a reload. */
const NEW_KEY_SECONDS = 3_600;
const MAX_USER_AGENT = 300;

export class SessionGuard {
  readonly #sessions: Sessions;
  readonly #incidents: Pick<Incidents, 'open'>;
  readonly #publicUrl: string;
  readonly #clock: () => Date;

  constructor({ sessions, incidents, publicUrl, clock = () => new Date() }: SessionGuardOptions) {
    this.#sessions = sessions;
    this.#incidents = incidents;
    this.#publicUrl = publicUrl;
    this.#clock = clock;
  }

  /**
   * Opens a page with a form that needs no session. A visitor without a cookie gets one, because the CSRF token depends
   * on it.
   */
  async visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
    let secret = this.#secretOf(request);
    if (secret === undefined) {
      secret = createSecret();
      writeCookie({ request, reply }, this.#publicUrl, { name: 'storybar', value: secret });
    }
    return { request, reply, token: csrfToken(secret) };
  }

  /** Returns undefined when the visitor isn't signed in. */
  async member(request: FastifyRequest, reply: FastifyReply): Promise<Member | undefined> {
    const secret = this.#secretOf(request);
    if (secret === undefined) return undefined;
    const sessionHash = hashSecret(secret);
    const session = await this.#sessions.find(sessionHash);
    if (session === undefined) return undefined;
    await this.#extend(secret, session);
    const { user, awaitsApproval } = session;
    const openIncidents = async (): Promise<readonly Incident[]> => await this.#incidents.open();
    return { request, reply, token: csrfToken(secret), user, awaitsApproval, openIncidents, sessionHash };
  }

  /**
   * Like `member`, for a script on one of our pages, which sends the CSRF token in a header. Throws for any other page.
   */
  async scriptedMember(request: FastifyRequest): Promise<User | undefined> {
    const token = request.headers['x-form-token'];
    const secret = this.#secretOf(request);
    assertNotForged(request, this.#publicUrl, secret, typeof token === 'string' ? token : '');
    return secret === undefined ? undefined : (await this.#sessions.find(hashSecret(secret)))?.user;
  }

  /** Reads a form. Throws unless one of our pages, opened by the same visitor, sent it. */
  async form(request: FastifyRequest): Promise<FormFields> {
    const fields = await readFields(request);
    assertNotForged(request, this.#publicUrl, this.#secretOf(request), fields.text('token'));
    return fields;
  }

  /** Returns the token of a browser that has signed in before. It still has to be verified. */
  deviceToken(request: FastifyRequest): string | undefined {
    return readCookie(request, this.#publicUrl, 'storybar-device');
  }

  /** Starts a session with a new secret and returns it. A secret that an attacker planted earlier is worthless. */
  async signIn(
    { request, reply }: Pick<Visit, 'request' | 'reply'>,
    { user, deviceToken }: AuthenticatedUser,
  ): Promise<string> {
    const previous = this.#secretOf(request);
    if (previous !== undefined) await this.#sessions.end(hashSecret(previous));
    const secret = createSecret();
    const now = this.#clock().getTime();
    const { idleMs, absoluteMs } = SESSION_TIMEOUTS[user.role];
    await this.#sessions.begin({
      hash: hashSecret(secret),
      userId: user.id,
      idleUntil: new Date(now + idleMs),
      endsAt: new Date(now + absoluteMs),
      userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
    });
    const session = { name: 'storybar', value: secret, maxAgeSeconds: absoluteMs / 1_000 } as const;
    const device = { name: 'storybar-device', value: deviceToken, maxAgeSeconds: DEVICE_COOKIE_SECONDS } as const;
    for (const cookie of [session, device]) writeCookie({ request, reply }, this.#publicUrl, cookie);
    return secret;
  }

  /** Keeps a new key for the page that shows it. */
  keepNewKey({ request, reply }: Pick<Visit, 'request' | 'reply'>, newKey: ShownKey, session?: string): void {
    const value = sealNewKey(must(session ?? this.#secretOf(request), 'the session'), newKey);
    const cookie = { name: 'storybar-new-key', value, maxAgeSeconds: NEW_KEY_SECONDS } as const;
    writeCookie({ request, reply }, this.#publicUrl, cookie);
  }

  /** Returns the key that was created a moment ago in this session. */
  newKey(request: FastifyRequest): ShownKey | undefined {
    const sealed = readCookie(request, this.#publicUrl, 'storybar-new-key');
    const secret = this.#secretOf(request);
    return sealed === undefined || secret === undefined ? undefined : openNewKey(secret, sealed);
  }

  forgetNewKey({ request, reply }: Pick<Visit, 'request' | 'reply'>): void {
    writeCookie({ request, reply }, this.#publicUrl, { name: 'storybar-new-key', value: '', maxAgeSeconds: 0 });
  }

  /** Ends the session. The browser stays a known device. */
  async signOut({ request, reply }: Pick<Visit, 'request' | 'reply'>): Promise<void> {
    const secret = this.#secretOf(request);
    if (secret !== undefined) await this.#sessions.end(hashSecret(secret));
    writeCookie({ request, reply }, this.#publicUrl, { name: 'storybar', value: '', maxAgeSeconds: 0 });
  }

  #secretOf(request: FastifyRequest): string | undefined {
    const secret = readCookie(request, this.#publicUrl, 'storybar');
    return secret !== undefined && isSecret(secret) ? secret : undefined;
  }

  async #extend(secret: string, { user, idleUntil }: UserSession): Promise<void> {
    const extended = this.#clock().getTime() + SESSION_TIMEOUTS[user.role].idleMs;
    if (extended - idleUntil.getTime() < MIN_EXTENSION_MS) return;
    await this.#sessions.extend(hashSecret(secret), new Date(extended));
  }
}
