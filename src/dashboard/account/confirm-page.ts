// Confirming an email address: the link in the email leads here. The address is confirmed by a button, because mail scanners
// open links too.

import type { FastifyReply } from 'fastify';
import { html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { Visit } from '../identity/session-guard.ts';
import { form, seeOther } from './frame.ts';
import type { PublicForms } from './public-forms.ts';
import { queryOf, type SignedInRoutes } from './signed-in-routes.ts';

const PATH = '/confirm';

export function addConfirmPage(forms: PublicForms, routes: SignedInRoutes, identity: Identity): void {
  const showExpired = (visit: Visit): FastifyReply => {
    const body = html`<p>It has already been used or is no longer valid.</p>
<p class="actions"><a class="button" href="/signin">Sign in</a></p>`;
    const title = 'This link has expired';
    return forms.send(visit, { title, path: PATH, body, faults: { form: title } });
  };
  forms.page(PATH, async (visit) => {
    const link = queryOf(visit, 'link') ?? '';
    const found = await identity.findConfirmation(link);
    if (found === undefined) return showExpired(visit);
    const content = html`<input type="hidden" name="link" value="${link}">
<p class="actions"><button class="button" type="submit">Confirm email</button></p>`;
    const body = html`<p>Confirm that <strong>${found.email}</strong> is your address.</p>${form(visit, PATH, content)}`;
    return forms.send(visit, { title: 'Confirm your email', path: PATH, body });
  });
  forms.action(PATH, async (visit, fields) => {
    const user = await identity.confirm(fields.text('link'));
    return user === undefined ? showExpired(visit) : seeOther(visit, '/dashboard/keys?done=confirmed');
  });
  routes.action('/dashboard/confirmation', async (visit) => {
    if (visit.user.unconfirmedEmail !== null) {
      await identity.requestConfirmation(visit.user, visit.request.ip, visit.request.id);
    }
    return seeOther(visit, '/dashboard/keys?done=confirmation-sent');
  });
}
