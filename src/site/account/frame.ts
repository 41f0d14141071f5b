// The layout of private pages. They must not be cached, and other sites must not embed them.

import type { FastifyReply } from 'fastify';
import { type Content, type Html, html } from '../html.ts';
import type { Member, SignedInVisit, Visit } from '../identity/session-guard.ts';
import { PAGE_HEADERS, renderPage, type Site, type Viewer } from '../page.ts';
import { incidentNotices } from '../incidents/incident-views.ts';
import { noteFor } from './notes.ts';
import { must } from '../../shared/must.ts';
import { addressOf } from '../../service/store/people/user.ts';

export const PRIVATE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
};

export interface PrivatePage {
  readonly title: string;
  readonly body: Content;
  /** Buttons and links at the right of the title: what one comes to this page to do. */
  readonly actions?: Content;
  /** Links to the pages about the same thing, which is the title. The one with the path of the request is current. */
  readonly views?: readonly Tab[];
  /** Confirms an action. By default, this is the note that the URL names. */
  readonly note?: Content;
  readonly styles?: readonly string[];
  readonly modules?: readonly string[];
  readonly status?: number;
}

export interface Tab {
  readonly path: string;
  readonly label: string;
}

export async function sendPrivate(site: Site, visit: SignedInVisit, page: PrivatePage): Promise<FastifyReply> {
  const body = html`<div class="account">
${tabs(visit)}
<div class="account-body">
${incidentNotices(await visit.openIncidents())}
<div class="page-head"><h1>${page.title}</h1>${page.actions && html`<div class="actions">${page.actions}</div>`}</div>
${page.views && viewTabs(visit, page.views)}
${noteOf(visit, page)}
${page.body}
</div>
</div>`;
  return send(site, visit, page, body, { email: shownEmail(visit) });
}

/** Sends a page with a single centered form, for visitors who aren't signed in. */
export function sendFormPage(site: Site, visit: Visit, page: PrivatePage): FastifyReply {
  const body = html`<section class="form-page">
<h1 class="bar">${page.title}</h1>
${noteOf(visit, page)}
${page.body}
</section>`;
  return send(site, visit, page, body);
}

export function shownEmail({ user }: Pick<Member, 'user'>): string {
  return addressOf(user);
}

export function seeOther({ reply }: Pick<Visit, 'reply'>, path: string): FastifyReply {
  return reply
    .code(303)
    .headers({ ...PRIVATE_HEADERS, location: path })
    .send();
}

/** Returns a form with a CSRF token. */
export function form(visit: Visit, action: string, content: Content, className = ''): Html {
  return html`<form method="post" action="${action}" class="${className}">
<input type="hidden" name="token" value="${visit.token}">
${content}
</form>`;
}

function send(site: Site, { request, reply }: Visit, page: PrivatePage, body: Html, viewer?: Viewer): FastifyReply {
  const path = pathOf(request);
  const { title, styles = [], modules = [], status = 200 } = page;
  const text = renderPage(site, {
    // Screen readers read the title first, so it says that the form has come back.
    title: `${status >= 400 ? 'Error: ' : ''}${title} - Storybar`,
    description: title,
    path: path.startsWith('/operator') ? '/dashboard' : path,
    styles: [...styles, 'account.css'],
    modules: [...new Set([...body.modules, ...modules])],
    body,
    viewer,
  });
  return reply
    .code(status)
    .headers({ ...PAGE_HEADERS, ...PRIVATE_HEADERS })
    .send(text);
}

function noteOf({ request }: Visit, page: PrivatePage): Html | undefined {
  const note = page.note ?? noteFor(request.query);
  return note === undefined ? undefined : html`<p class="note" role="status">${note}</p>`;
}

function viewTabs({ request }: Visit, views: readonly Tab[]): Html {
  const current = request.url.replace(/\?.*$/su, '');
  return html`<nav class="views" aria-label="Views"><ul>${views.map(
    ({ path, label }) => html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${label}</a></li>`,
  )}</ul></nav>`;
}

function tabs(visit: SignedInVisit): Html {
  const operator = visit.tabs.filter(({ permission }) => permission === 'operate');
  const account = visit.tabs.filter((tab) => !operator.includes(tab));
  const isOperator = operator.length > 0;
  const path = pathOf(visit.request);
  // The longest match wins: the page of a single key belongs to Keys, not to Usage.
  const [current] = visit.tabs
    .filter((tab) => path === tab.path || path.startsWith(`${tab.path}/`))
    .toSorted((a, b) => b.path.length - a.path.length);
  const list = (items: readonly Tab[], label: string): Html =>
    html`<nav aria-label="${label}">${isOperator && html`<p class="group">${label}</p>`}<ul>${items.map(
      (tab) => html`<li><a href="${tab.path}"${tab === current && html` aria-current="page"`}>${tab.label}</a></li>`,
    )}</ul></nav>`;
  return html`<div class="account-side">
${list(account, 'Account')}
${isOperator && list(operator, 'Operator')}
<div class="whoami">
<p class="small">${shownEmail(visit)}</p>
${form(visit, '/signout', html`<button class="link" type="submit">Sign out</button>`)}
</div>
</div>`;
}

/** Returns the path that the page was registered with. */
function pathOf({ routeOptions }: Visit['request']): string {
  return must(routeOptions.url, 'the path of the route');
}
