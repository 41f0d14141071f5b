// The frame around pages for people who are signed in. What they show is theirs alone: nobody keeps a copy, nobody frames it.

import type { FastifyReply } from 'fastify';
import { type Content, type Html, html } from '../html.ts';
import type { MemberVisit, Visit } from '../identity/session-guard.ts';
import { PAGE_HEADERS, renderPage, type Site } from '../page.ts';
import { noteFor } from './notes.ts';

export const PRIVATE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
};

export interface PrivatePage {
  readonly title: string;
  readonly path: string;
  readonly body: Content;
  readonly styles?: readonly string[];
  readonly status?: number;
}

interface Tab {
  readonly path: string;
  readonly label: string;
}

const TABS: readonly Tab[] = [
  { path: '/dashboard', label: 'Usage' },
  { path: '/dashboard/keys', label: 'Keys' },
  { path: '/dashboard/plan', label: 'Plan' },
  { path: '/dashboard/security', label: 'Password' },
];
const OPERATOR_TABS: readonly Tab[] = [
  { path: '/operator', label: 'Service' },
  { path: '/operator/accounts', label: 'Accounts' },
  { path: '/operator/audit', label: 'Audit log' },
];

export function sendPrivate(site: Site, visit: MemberVisit, page: PrivatePage): FastifyReply {
  const body = html`<div class="account">
${tabs(visit, page.path)}
<div class="account-body">
<h1 class="bar">${page.title}</h1>
${noteOf(visit)}
${page.body}
</div>
</div>`;
  return send(site, visit, page, body);
}

/** For somebody who is not signed in: one form in the middle. */
export function sendForm(site: Site, visit: Visit, page: PrivatePage): FastifyReply {
  const body = html`<section class="form-page">
<h1 class="bar">${page.title}</h1>
${noteOf(visit)}
${page.body}
</section>`;
  return send(site, visit, page, body);
}

export function seeOther({ reply }: Pick<Visit, 'reply'>, path: string): FastifyReply {
  return reply
    .code(303)
    .headers({ ...PRIVATE_HEADERS, location: path })
    .send();
}

/** A form of one button, or with fields. The token says that the page is ours. */
export function form(visit: Visit, action: string, content: Content, className = ''): Html {
  return html`<form method="post" action="${action}" class="${className}">
<input type="hidden" name="token" value="${visit.token}">
${content}
</form>`;
}

function send(site: Site, { reply }: Visit, page: PrivatePage, body: Html): FastifyReply {
  const { title, path, styles = [], status = 200 } = page;
  const text = renderPage(site, {
    title: `${title} - Storybar`,
    description: title,
    path: path.startsWith('/operator') ? '/dashboard' : path,
    styles: [...styles, 'account.css'],
    body,
  });
  return reply
    .code(status)
    .headers({ ...PAGE_HEADERS, ...PRIVATE_HEADERS })
    .send(text);
}

function noteOf({ request }: Visit): Html | undefined {
  const note = noteFor(request.query);
  return note === undefined ? undefined : html`<p class="note" role="status">${note}</p>`;
}

function tabs(visit: MemberVisit, here: string): Html {
  const isOperator = visit.user.role === 'operator';
  const all = isOperator ? [...TABS, ...OPERATOR_TABS] : TABS;
  // The longest that fits: a page of one key belongs to the keys.
  const [current] = all
    .filter(({ path }) => here === path || here.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length);
  const list = (items: readonly Tab[], label: string): Html =>
    html`<nav aria-label="${label}"><ul>${items.map(
      (tab) => html`<li><a href="${tab.path}"${tab === current && html` aria-current="page"`}>${tab.label}</a></li>`,
    )}</ul></nav>`;
  return html`<div class="account-side">
${list(TABS, 'Account')}
${isOperator && list(OPERATOR_TABS, 'Operator')}
<div class="whoami">
<p class="small">${visit.user.email}</p>
${form(visit, '/signout', html`<button class="link" type="submit">Sign out</button>`)}
</div>
</div>`;
}
