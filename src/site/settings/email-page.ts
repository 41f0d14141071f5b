// Changing the email address. The old one stays until the new one is confirmed with a link.

import type { FastifyReply } from 'fastify';
import { parseEmail } from '../../service/account/email.ts';
import { AppError } from '../../shared/errors.ts';
import { field } from '../account/fields.ts';
import { form, seeOther, sendPrivate, shownEmail } from '../account/frame.ts';
import { INVALID_EMAIL } from '../account/public-forms.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';

export interface EmailPageDependencies {
  readonly site: Site;
  readonly identity: Identity;
}

interface EmailFaults {
  readonly email?: string;
  readonly password?: string;
}

const SECURITY_PATH = '/dashboard/security';
const PATH = '/dashboard/security/email';
const UNAVAILABLE = 'Changing the address needs email, which isn’t set up here. Contact support.';
const CONFIRM_FIRST = 'Confirm your current address first.';

export function addEmailPage(routes: SignedInRoutes, { site, identity }: EmailPageDependencies): void {
  const show = async (visit: SignedInVisit, typed: string, faults: EmailFaults): Promise<FastifyReply> => {
    const why = reasonAgainst(visit, identity);
    const body = why === undefined ? emailForm(visit, typed, faults) : html`<p>${why}</p>`;
    const status = Object.keys(faults).length > 0 ? 422 : 200;
    return await sendPrivate(site, visit, { title: 'Change email', body, status });
  };

  routes.page({ path: PATH, permission: 'self' }, async (visit) => show(visit, '', {}));
  routes.action({ path: PATH, permission: 'self' }, async (visit, fields) => {
    const { user, request } = visit;
    const why = reasonAgainst(visit, identity);
    if (why !== undefined) throw new AppError('invalid_fields', why);
    const typed = fields.text('email');
    const email = parseEmail(typed);
    if (email === undefined || email === user.email) return show(visit, typed, { email: INVALID_EMAIL });
    const change = { email, address: request.ip, requestId: request.id };
    if (!(await identity.requestEmailChange(user, fields.text('password'), change))) {
      return show(visit, typed, { password: 'Incorrect password.' });
    }
    return seeOther(visit, `${SECURITY_PATH}?done=email-change-sent`);
  });
}

/** The section of the security page. */
export function emailSection(visit: SignedInVisit, { sendsEmail }: Identity): Html {
  return html`<section aria-labelledby="email"><h2 id="email">Email</h2>
<p>${shownEmail(visit)}</p>
${sendsEmail && html`<p class="actions"><a class="button quiet" href="${PATH}">Change email</a></p>`}
</section>`;
}

function reasonAgainst({ user }: SignedInVisit, { sendsEmail }: Identity): string | undefined {
  if (!sendsEmail) return UNAVAILABLE;
  return user.unconfirmedEmail === null ? undefined : CONFIRM_FIRST;
}

function emailForm(visit: SignedInVisit, typed: string, faults: EmailFaults): Html {
  const email = { name: 'email', label: 'New email', value: typed, autocomplete: 'email', fault: faults.email };
  const password = { name: 'password', label: 'Current password', autocomplete: 'current-password' };
  return html`<p>We send a link to the new address. You keep ${shownEmail(visit)} until you open it.</p>
${form(
  visit,
  PATH,
  html`${field({ ...email, type: 'email' })}
${field({ ...password, type: 'password', fault: faults.password })}
<p class="actions"><button class="button" type="submit">Send link</button> <a class="button quiet" href="${SECURITY_PATH}">Back</a></p>`,
  'stacked',
)}`;
}
