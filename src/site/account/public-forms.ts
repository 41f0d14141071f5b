// Pages with one form, for visitors who aren't signed in.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { MIN_PASSWORD } from '../../service/account/password.ts';
import { type Html, html } from '../html.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { SessionGuard, Visit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { field } from './fields.ts';
import { sendFormPage } from './frame.ts';

/** The faults of a submitted form. */
export interface FormFaults {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  /** A fault of the form as a whole. */
  readonly form?: string | undefined;
}

export const INVALID_EMAIL = 'Enter a valid email address.';
export const PASSWORD_HINT = `At least ${MIN_PASSWORD} characters. A short phrase works well.`;

export class PublicForms {
  readonly #app: FastifyInstance;
  readonly #site: Site;
  readonly #sessionGuard: SessionGuard;

  constructor(app: FastifyInstance, site: Site, sessionGuard: SessionGuard) {
    this.#app = app;
    this.#site = site;
    this.#sessionGuard = sessionGuard;
  }

  page(path: string, show: (visit: Visit) => FastifyReply | Promise<FastifyReply>): void {
    this.#app.get(path, async (request, reply) => await show(await this.#sessionGuard.visit(request, reply)));
  }

  action(path: string, submit: (visit: Visit, fields: FormFields) => Promise<FastifyReply>): void {
    this.#app.post(path, async (request, reply) => {
      const fields = await this.#sessionGuard.form(request);
      return await submit(await this.#sessionGuard.visit(request, reply), fields);
    });
  }

  /** Responds with 422 if there are faults, unless the page has a status of its own. */
  send(
    visit: Visit,
    page: {
      title: string;
      body: Html;
      faults?: FormFaults;
      modules?: readonly string[];
      status?: number;
    },
  ): FastifyReply {
    const { faults = {}, ...rest } = page;
    const isFaulty = Object.values(faults).some((fault) => fault !== undefined);
    return sendFormPage(this.#site, visit, { status: isFaulty ? 422 : 200, ...rest });
  }
}

/** Returns the same page for every address, so it doesn't reveal which ones are known. */
export function checkInbox(sent: Html): { readonly title: string; readonly body: Html } {
  const body = html`<p>${sent} The link works once and expires in an hour.</p>
<p class="small">Nothing there? Check your spam folder, or make sure the address is right.</p>`;
  return { title: 'Check your inbox', body };
}

export function emailField(value: string, { email: fault }: FormFaults): Html {
  return field({ name: 'email', label: 'Email', type: 'email', value, autocomplete: 'username', fault });
}

export function newPasswordField(label: string, { password: fault }: FormFaults): Html {
  return field({ name: 'password', label, type: 'password', autocomplete: 'new-password', hint: PASSWORD_HINT, fault });
}
