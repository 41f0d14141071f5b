// Coming in and going out: sign in, sign out, sign up, and a new password by a link.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseEmail } from '../../account/email.ts';
import { MIN_PASSWORD, passwordFault } from '../../account/password.ts';
import { AppError } from '../../errors.ts';
import type { RouteGroup } from '../../http/route-group.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { Identity } from '../identity/identity.ts';
import type { Site } from '../page.ts';
import { field, problem } from './fields.ts';
import { form, seeOther, sendForm } from './frame.ts';
import { isOwnPage, queryOf } from './signed-in-routes.ts';

export interface SignInDependencies {
  readonly site: Site;
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  /** False: people come by an operator's link. */
  readonly signUpOpen: boolean;
}

interface Faults {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  /** About the form as a whole. */
  readonly form?: string | undefined;
}

const WRONG = 'E-mail address or password is wrong.';
const BAD_EMAIL = 'This is no e-mail address.';
const PASSWORD_HINT = `At least ${MIN_PASSWORD} characters; a few words are fine.`;

export function signInPages(dependencies: SignInDependencies): RouteGroup {
  const pages = new SignInPages(dependencies);
  return { register: (app) => pages.register(app) };
}

class SignInPages {
  readonly #site: Site;
  readonly #sessionGuard: SessionGuard;
  readonly #identity: Identity;
  readonly #signUpOpen: boolean;

  constructor({ site, sessionGuard, identity, signUpOpen }: SignInDependencies) {
    this.#site = site;
    this.#sessionGuard = sessionGuard;
    this.#identity = identity;
    this.#signUpOpen = signUpOpen;
  }

  register(app: FastifyInstance): void {
    const open = (path: string, page: (visit: Visit) => FastifyReply | Promise<FastifyReply>): void => {
      app.get(path, async (request, reply) => await page(await this.#sessionGuard.visit(request, reply)));
    };
    const take = (path: string, action: (visit: Visit, fields: FormFields) => Promise<FastifyReply>): void => {
      app.post(path, async (request, reply) => {
        const fields = await this.#sessionGuard.form(request);
        return await action(await this.#sessionGuard.visit(request, reply), fields);
      });
    };
    app.get('/signin', async (request, reply) => await this.#openSignIn(request, reply));
    take('/signin', async (visit, fields) => await this.#signIn(visit, fields));
    open('/signup', (visit) => this.#signUpPage(visit, '', {}));
    take('/signup', async (visit, fields) => await this.#signUp(visit, fields));
    open('/reset', (visit) => this.#resetPage(visit, '', {}));
    take('/reset', async (visit, fields) => await this.#reset(visit, fields));
    open('/password', async (visit) => await this.#openPassword(visit, queryOf(visit, 'link') ?? '', {}));
    take('/password', async (visit, fields) => await this.#setPassword(visit, fields));
    take('/signout', async (visit) => {
      await this.#sessionGuard.signOut(visit);
      return seeOther(visit, '/signin?done=signed-out');
    });
  }

  async #openSignIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const member = await this.#sessionGuard.member(request, reply);
    if (member !== undefined) return seeOther(member, '/dashboard');
    const visit = await this.#sessionGuard.visit(request, reply);
    return this.#signInPage(visit, '', queryOf(visit, 'next') ?? '', {});
  }

  async #signIn(visit: Visit, fields: FormFields): Promise<FastifyReply> {
    const typed = fields.text('email');
    const next = fields.text('next');
    const email = parseEmail(typed);
    const password = fields.text('password');
    // What cannot be an address is tried like any other, so that it takes as long.
    const user = await this.#identity.signIn(email ?? typed.slice(0, 254), password, visit.request.ip);
    if (user === undefined) return this.#signInPage(visit, typed, next, { form: WRONG });
    await this.#sessionGuard.signIn(visit, user);
    return seeOther(visit, isOwnPage(next) ? next : '/dashboard');
  }

  #signInPage(visit: Visit, email: string, next: string, faults: Faults): FastifyReply {
    const body = html`${problem(faults.form)}
${form(
  visit,
  '/signin',
  html`<input type="hidden" name="next" value="${isOwnPage(next) ? next : ''}">
${emailField(email, faults)}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<p class="actions"><button class="button" type="submit">Sign in</button></p>`,
)}
<p class="small"><a href="/reset">Forgot the password?</a></p>
${this.#signUpOpen && html`<p class="small">New here? <a href="/signup">Sign up</a>.</p>`}`;
    return this.#send(visit, 'Sign in', '/signin', body, faults);
  }

  async #signUp(visit: Visit, fields: FormFields): Promise<FastifyReply> {
    if (!this.#signUpOpen) throw new AppError('not_found', 'Nobody can sign up here; ask the operator.');
    const typed = fields.text('email');
    const email = parseEmail(typed);
    const { hasMail } = this.#identity;
    const password = fields.text('password');
    const faults: Faults = {
      email: email === undefined ? BAD_EMAIL : undefined,
      password: hasMail ? undefined : passwordFault(password, email),
    };
    if (email === undefined || faults.password !== undefined) return this.#signUpPage(visit, typed, faults);
    if (hasMail) {
      await this.#identity.invite(email, visit.request.ip);
      return this.#sentPage(visit, email);
    }
    const user = await this.#identity.signUp(email, password, visit.request.ip);
    if (user === undefined) {
      const fault = 'This address cannot be used to sign up. If it is yours, sign in instead, or ask the operator.';
      return this.#signUpPage(visit, typed, { form: fault });
    }
    await this.#sessionGuard.signIn(visit, user);
    return seeOther(visit, '/dashboard/plan');
  }

  #signUpPage(visit: Visit, email: string, faults: Faults): FastifyReply {
    if (!this.#signUpOpen) {
      const body = html`<p>Accounts are made by the operator of this service. Ask there for an invitation.</p>`;
      return this.#send(visit, 'Sign up', '/signup', body, {});
    }
    const { hasMail } = this.#identity;
    const body = html`${problem(faults.form)}
${form(
  visit,
  '/signup',
  html`${emailField(email, faults)}
${hasMail ? html`<p class="small">We send a link there, to choose a password.</p>` : newPasswordField('Password', faults)}
<p class="actions"><button class="button" type="submit">Sign up</button></p>`,
)}
<p class="small">Signed up already? <a href="/signin">Sign in</a>.</p>`;
    return this.#send(visit, 'Sign up', '/signup', body, faults);
  }

  async #reset(visit: Visit, fields: FormFields): Promise<FastifyReply> {
    if (!this.#identity.hasMail) throw new AppError('not_found', 'This service sends no mails; ask its operator.');
    const typed = fields.text('email');
    const email = parseEmail(typed);
    if (email === undefined) return this.#resetPage(visit, typed, { email: BAD_EMAIL });
    await this.#identity.requestReset(email, visit.request.ip);
    return this.#sentPage(visit, email);
  }

  #resetPage(visit: Visit, email: string, faults: Faults): FastifyReply {
    const body = this.#identity.hasMail
      ? form(
          visit,
          '/reset',
          html`${emailField(email, faults)}
<p class="actions"><button class="button" type="submit">Send a link</button></p>`,
        )
      : html`<p>This service sends no mails. Ask its operator for a link to choose a new password.</p>
<p class="small"><a href="/signin">Back to signing in</a></p>`;
    return this.#send(visit, 'Forgot the password', '/reset', body, faults);
  }

  /** The same for every address. */
  #sentPage(visit: Visit, email: string): FastifyReply {
    const body = html`<p>If <strong>${email}</strong> can be used here, a mail is on its way. Its link works once, for an
hour.</p>
<p class="small">Nothing there? Look among unwanted mails, or check the address.</p>`;
    return this.#send(visit, 'Look into your mail', '/signup', body, {});
  }

  async #openPassword(visit: Visit, link: string, faults: Faults): Promise<FastifyReply> {
    const found = await this.#identity.findLink(link);
    if (found === undefined) return this.#usedPage(visit);
    const body = html`<p class="small">For ${found.email}</p>
${form(
  visit,
  '/password',
  html`<input type="hidden" name="link" value="${link}">
<input type="hidden" name="username" value="${found.email}" autocomplete="username">
${newPasswordField('New password', faults)}
<p class="actions"><button class="button" type="submit">Save and sign in</button></p>`,
)}`;
    return this.#send(visit, 'Choose a password', '/password', body, faults);
  }

  async #setPassword(visit: Visit, fields: FormFields): Promise<FastifyReply> {
    const link = fields.text('link');
    const password = fields.text('password');
    const found = await this.#identity.findLink(link);
    if (found === undefined) return this.#usedPage(visit);
    const fault = passwordFault(password, found.email);
    if (fault !== undefined) return await this.#openPassword(visit, link, { password: fault });
    const user = await this.#identity.useLink(link, password);
    if (user === undefined) return this.#usedPage(visit);
    await this.#sessionGuard.signIn(visit, user);
    return seeOther(visit, '/dashboard');
  }

  #usedPage(visit: Visit): FastifyReply {
    const body = html`<p>The link was used before, or is too old.</p>
<p class="actions"><a class="button" href="/reset">Ask for a new one</a> <a class="button quiet" href="/signin">Sign in</a></p>`;
    return this.#send(visit, 'This link is used up', '/password', body, { form: 'used' });
  }

  #send(visit: Visit, title: string, path: string, body: Html, faults: Faults): FastifyReply {
    const isFaulty = Object.values(faults).some((fault) => fault !== undefined);
    return sendForm(this.#site, visit, { title, path, body, status: isFaulty ? 422 : 200 });
  }
}

function emailField(value: string, { email: fault }: Faults): Html {
  return field({ name: 'email', label: 'E-mail address', type: 'email', value, autocomplete: 'username', fault });
}

function newPasswordField(label: string, { password: fault }: Faults): Html {
  const help = fault === undefined ? { hint: PASSWORD_HINT } : { fault };
  return field({ name: 'password', label, type: 'password', autocomplete: 'new-password', ...help });
}
