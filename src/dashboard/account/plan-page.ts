// Choosing a plan, and leaving it. Who takes the money, if anybody, is behind the payments port.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlanBook } from '../../account/plans.ts';
import type { Subscription } from '../../account/subscription.ts';
import type { Billing } from '../../billing/billing.ts';
import { AppError } from '../../errors.ts';
import { requestBaseUrl } from '../../http/transport/request-base-url.ts';
import type { Store } from '../../store/store.ts';
import { type Content, type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { type PlanOffer, planFacts } from '../plan-cards.ts';
import { date, problem } from './fields.ts';
import { form, seeOther, sendPrivate } from './frame.ts';
import { type SignedInRoutes, queryOf } from './signed-in-routes.ts';

export interface PlanDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts'>;
  readonly plans: PlanBook;
  readonly billing: Billing;
  /** Where people reach the site; empty: wherever they say they did. */
  readonly publicUrl: string;
}

const PATH = '/dashboard/plan';

export function addPlanPages(routes: SignedInRoutes, dependencies: PlanDependencies): void {
  const { site, store, plans, billing, publicUrl } = dependencies;
  const urlOf = (request: FastifyRequest): string => `${publicUrl || (requestBaseUrl(request) ?? '')}${PATH}`;
  const page = async (visit: SignedInVisit, fault?: string): Promise<FastifyReply> => {
    const account = await store.accounts.find(visit.user.accountId);
    const body = html`${problem(fault)}
${!billing.takesMoney && html`<p class="note">Payments are off on this installation: choosing a plan grants it, and nothing is charged.</p>`}
${account?.state === 'suspended' && problem('This account is suspended. Ask the operator of the service.')}
${planBody(visit, plans, account?.subscription, billing)}`;
    const status = fault === undefined ? 200 : 422;
    return sendPrivate(site, visit, { title: 'Plan', path: PATH, body, styles: ['front.css'], status });
  };

  routes.page(PATH, async (visit) => {
    // Back from paying: the provider's own message may still be on its way.
    if (queryOf(visit, 'done') === 'paid') await billing.refresh(visit.user.accountId);
    return await page(visit);
  });
  routes.action(PATH, async (visit, fields) => {
    const plan = fields.text('plan');
    if (plans.find(plan) === undefined) return await page(visit, 'There is no such plan.');
    const url = urlOf(visit.request);
    const pages = { successUrl: `${url}?done=paid`, cancelUrl: url };
    const choice = await billing.choosePlan(visit.user.accountId, plan, pages);
    if (choice.kind === 'redirect') return leave(site, visit, choice.url);
    return seeOther(visit, `${PATH}?done=${choice.when === 'now' ? 'plan-now' : 'plan-next'}`);
  });
  routes.action(`${PATH}/cancel`, async (visit) => {
    await billing.cancel(visit.user.accountId);
    return seeOther(visit, `${PATH}?done=cancelled`);
  });
  routes.action(`${PATH}/resume`, async (visit) => {
    await billing.resume(visit.user.accountId);
    return seeOther(visit, `${PATH}?done=resumed`);
  });
  routes.action(`${PATH}/manage`, async (visit) => {
    const url = await billing.manage(visit.user.accountId, urlOf(visit.request));
    return url === undefined ? seeOther(visit, PATH) : leave(site, visit, url);
  });
}

/**
 * To the payment provider. Not by a redirect: a page's policy lets forms lead nowhere but here, and a browser applies it to
 * redirects too.
 */
function leave(site: Site, visit: SignedInVisit, url: string): FastifyReply {
  if (!/^https?:\/\//u.test(url)) throw new AppError('internal_error', 'The payment provider gave a strange address.');
  visit.reply.header('refresh', `0; url=${url}`);
  const body = html`<p>You are being taken to the payment provider.</p>
<p class="actions"><a class="button" href="${url}">Go there now</a> <a class="button quiet" href="${PATH}">Back</a></p>`;
  return sendPrivate(site, visit, { title: 'One moment', path: PATH, body });
}

function planBody(visit: SignedInVisit, plans: PlanBook, subscription: Subscription | undefined, billing: Billing): Html {
  if (subscription?.provider === 'marketplace') {
    return html`<p>The plan of this account is chosen at the marketplace.</p>`;
  }
  const isActive = subscription?.status === 'active';
  const current = isActive ? subscription.plan : undefined;
  const cards = plans.plans.map((plan) => {
    const offer = { ...plan, currency: plans.currency };
    return card(visit, offer, stateOf(plan.name, subscription, current));
  });
  return html`${isActive && summary(visit, plans, subscription, billing)}
<ul class="plans">${cards}</ul>`;
}

type CardState = 'current' | 'next' | 'open';

function stateOf(name: string, subscription: Subscription | undefined, current: string | undefined): CardState {
  if (name === current) return 'current';
  return current !== undefined && subscription?.nextPlan === name ? 'next' : 'open';
}

function card(visit: SignedInVisit, plan: PlanOffer, state: CardState): Html {
  const choose: Readonly<Record<CardState, Content>> = {
    current: html`<p class="chosen">Your plan</p>`,
    next: html`<p class="chosen">From the next period</p>`,
    open: form(
      visit,
      PATH,
      html`<input type="hidden" name="plan" value="${plan.name}">
<button class="button" type="submit">Choose ${plan.title}</button>`,
    ),
  };
  return html`<li class="plan${state !== 'open' && ' chosen-plan'}">
<h2>${plan.title}</h2>
${planFacts(plan)}
${choose[state]}
</li>`;
}

function summary(visit: SignedInVisit, plans: PlanBook, subscription: Subscription, billing: Billing): Html {
  const { plan, nextPlan, renews, period } = subscription;
  const title = (name: string): string => plans.find(name)?.title ?? name;
  const next = renews
    ? html`renews on ${date(period.endsAt)}${nextPlan !== null && html`, then as <strong>${title(nextPlan)}</strong>`}`
    : html`ends on ${date(period.endsAt)}`;
  const button = (action: string, label: string): Html =>
    form(visit, `${PATH}/${action}`, html`<button class="button quiet" type="submit">${label}</button>`);
  return html`<p class="figure"><strong>${title(plan)}</strong> ${next}</p>
<div class="actions">
${billing.takesMoney && button('manage', 'Invoices and card')}
${renews && nextPlan === null ? button('cancel', 'Cancel the subscription') : button('resume', `Keep ${title(plan)}`)}
</div>`;
}
