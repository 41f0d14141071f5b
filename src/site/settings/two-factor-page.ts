// Turns the authenticator app on and off, and creates new recovery codes. Each needs the password again, so that a
// stranger at an unlocked computer can't lock the owner out.

import type { FastifyReply } from 'fastify';
import { encode } from 'uqr';
import { createTotpSecret, isTotpSecret, totpUrl } from '../../service/account/totp.ts';
import type { AuthenticatorState } from '../../service/store/people/second-factors.ts';
import type { Store } from '../../service/store/store.ts';
import { field, problem, time } from '../account/fields.ts';
import { form, seeOther, sendPrivate, shownEmail } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Identity } from '../identity/identity.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { TwoFactor } from '../identity/two-factor.ts';
import type { Site } from '../page.ts';

export interface TwoFactorDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'sessions'>;
  readonly identity: Identity;
  readonly twoFactor: TwoFactor;
}

interface SetUpFaults {
  readonly code?: string;
  readonly password?: string;
}

const SECURITY_PATH = '/dashboard/security';
const PATH = '/dashboard/security/two-factor';
const ISSUER = 'Storybar';
const WRONG_PASSWORD = 'Incorrect password.';
const CONFIRM_FIRST = 'Confirm your email address before you turn on two-factor authentication.';

export function addTwoFactorPages(routes: SignedInRoutes, dependencies: TwoFactorDependencies): void {
  const { site, store, identity, twoFactor } = dependencies;
  const send = async (visit: SignedInVisit, body: Html, status = 200): Promise<FastifyReply> =>
    await sendPrivate(site, visit, { title: 'Two-factor authentication', body, status });
  const show = async (visit: SignedInVisit, fault?: string): Promise<FastifyReply> => {
    const state = await twoFactor.state(visit.user);
    if (state !== undefined) return send(visit, statusBody(visit, state, fault), fault === undefined ? 200 : 422);
    if (visit.user.unconfirmedEmail !== null) return send(visit, html`<p>${CONFIRM_FIRST}</p>`);
    return send(visit, setUpBody(visit, createTotpSecret(), {}));
  };
  const isPassword = async (visit: SignedInVisit, password: string): Promise<boolean> =>
    await identity.checkPassword(visit.user, password, visit.request.ip);

  routes.page({ path: PATH, permission: 'self' }, async (visit) => await show(visit));
  routes.action({ path: PATH, permission: 'self' }, async (visit, fields) => {
    const secret = fields.text('secret');
    // An unconfirmed user can sign in with a link and the password, which must not become a way around the code.
    if (visit.user.unconfirmedEmail !== null || !isTotpSecret(secret)) return seeOther(visit, PATH);
    if ((await twoFactor.state(visit.user)) !== undefined) return seeOther(visit, PATH);
    if (!(await isPassword(visit, fields.text('password')))) {
      return send(visit, setUpBody(visit, secret, { password: WRONG_PASSWORD }), 422);
    }
    const codes = await twoFactor.turnOn(visit.user, secret, fields.text('code'));
    if (codes === undefined) {
      return send(visit, setUpBody(visit, secret, { code: 'Wrong code. Check the clock of your phone.' }), 422);
    }
    // Other sessions were started without a code.
    await store.sessions.endOthers(visit.user.id, visit.sessionHash);
    return send(visit, codesBody(codes));
  });
  routes.action({ path: `${PATH}/codes`, permission: 'self' }, async (visit, fields) => {
    if (!(await isPassword(visit, fields.text('password')))) return await show(visit, WRONG_PASSWORD);
    const codes = await twoFactor.replaceRecoveryCodes(visit.user);
    return codes === undefined ? seeOther(visit, PATH) : send(visit, codesBody(codes));
  });
  routes.action({ path: `${PATH}/off`, permission: 'self' }, async (visit, fields) => {
    if (!(await isPassword(visit, fields.text('password')))) return await show(visit, WRONG_PASSWORD);
    if (await twoFactor.turnOff(visit.user)) {
      identity.reportSecurityChange(visit.user, 'two-factor-off', visit.request.id);
    }
    return seeOther(visit, `${SECURITY_PATH}?done=two-factor-off`);
  });
}

/** The section of the security page. */
export function twoFactorSection(state: AuthenticatorState | undefined): Html {
  return html`<section aria-labelledby="two-factor">
<h2 id="two-factor">Two-factor authentication</h2>
<p>${state === undefined ? 'Off. Add a code from an app to your password.' : 'On. You need a code from your app to sign in.'}</p>
<p class="actions"><a class="button quiet" href="${PATH}">${state === undefined ? 'Turn on' : 'Manage'}</a></p>
</section>`;
}

function setUpBody(visit: SignedInVisit, secret: string, faults: SetUpFaults): Html {
  return html`<ol>
<li>Scan this code with an authenticator app.
${qrCode(totpUrl(secret, shownEmail(visit), ISSUER))}
<p class="small">Can’t scan it? Enter this key: <code>${(secret.match(/.{4}/gu) ?? []).join(' ')}</code></p></li>
<li>Enter the code that the app shows.</li>
</ol>
${form(
  visit,
  PATH,
  html`<input type="hidden" name="secret" value="${secret}">
${field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', fault: faults.code, maxLength: 10 })}
${passwordField(faults.password)}
<p class="actions"><button class="button" type="submit">Turn on</button> <a class="button quiet" href="${SECURITY_PATH}">Back</a></p>`,
  'stacked',
)}`;
}

function statusBody(visit: SignedInVisit, state: AuthenticatorState, fault: string | undefined): Html {
  const section = (id: string, title: string, text: Html, action: string, button: Html): Html =>
    html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><p>${text}</p>
${form(visit, `${PATH}/${action}`, html`${passwordField(undefined, `${id}-password`)}<p class="actions">${button}</p>`, 'stacked')}
</section>`;
  return html`${problem(fault)}
<p>On since ${time(state.createdAt.toISOString())}. ${state.recoveryCodes} recovery codes are left.</p>
${section(
  'codes',
  'New recovery codes',
  html`Replaces all recovery codes. The old ones stop working.`,
  'codes',
  html`<button class="button quiet" type="submit">Create new codes</button>`,
)}
${section(
  'off',
  'Turn off',
  html`You can then sign in with the password alone.`,
  'off',
  html`<button class="button danger" type="submit">Turn off</button>`,
)}`;
}

function codesBody(codes: readonly string[]): Html {
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`;
  return html`<p class="done">Two-factor authentication is on.</p>
<p>Save these recovery codes now. Each works once, in place of a code from your app. They aren’t shown again.</p>
<div class="code"><pre tabindex="0" role="group" aria-label="Recovery codes"><code>${codes.join('\n')}</code></pre><button class="copy" type="button" data-copy hidden>Copy</button></div>
<p class="actions"><a class="button" href="${SECURITY_PATH}">I have saved them</a>
<a class="button quiet" href="${file}" download="storybar-recovery-codes.txt">Download</a></p>`;
}

function passwordField(fault: string | undefined, id?: string): Html {
  return field({
    name: 'password',
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
    fault,
    ...(id !== undefined && { id }),
  });
}

/** The code is black on white in dark mode, too, because scanners expect it. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { border: 2 });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code for your authenticator app" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path fill="#000" d="${squares.join('')}"/></svg>`;
}
