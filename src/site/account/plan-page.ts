// The page to choose, change and cancel a plan. Payments, if any, are behind the `Billing` interface.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Plan, PlanBook } from '../../service/account/plans.ts';
import type { Subscription } from '../../service/account/subscription.ts';
import type { Billing } from '../../service/billing/billing.ts';
import { AppError } from '../../shared/errors.ts';
import { requestBaseUrl } from '../../service/http/transport/request-base-url.ts';
import { must } from '../../shared/must.ts';
import type { Store } from '../../service/store/store.ts';
import { type Content, type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { type PlanOffer, planFacts, sharedLimits } from '../plan-cards.ts';
import { addInvoicePage, INVOICES_PATH } from '../plan/invoice-page.ts';
import {
  addPlanChangePages,
  CANCEL_PATH,
  cancelablePlan,
  CHANGE_PATH,
  confirmedCharge,
} from '../plan/plan-change-pages.ts';
import { day, problem, standingProblem } from './fields.ts';
import { form, seeOther, sendPrivate } from './frame.ts';
import { type SignedInRoutes, queryOf } from './signed-in-routes.ts';

export interface PlanDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts'>;
  readonly plans: PlanBook;
  readonly billing: Billing;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
}

/** How customers get plans on this server. */
interface Ways {
  readonly billing: Billing;
  /** True if the operator has published a way to ask for a plan. */
  readonly hasContact: boolean;
}

const PATH = '/dashboard/plan';

export function addPlanPages(routes: SignedInRoutes, dependencies: PlanDependencies): void {
  const { site, store, plans, billing, publicUrl } = dependencies;
  const pageUrl = (request: FastifyRequest): string => `${publicUrl || (requestBaseUrl(request) ?? '')}${PATH}`;
  const show = async (visit: SignedInVisit, fault?: string): Promise<FastifyReply> => {
    const { accountId } = visit.user;
    const { state, subscription } = must(await store.accounts.find(accountId), `the account ${accountId}`);
    const body = html`${problem(fault)}
${!billing.takesPayments && html`<p class="note">This server takes no payments. You can choose a free plan. Ask the operator for the others.</p>`}
${state === 'suspended' && standingProblem('This account is suspended. Contact support.')}
${planBody(visit, plans, subscription, { billing, hasContact: site.hasContact })}`;
    const note = noteFor(queryOf(visit, 'done'), plans, subscription);
    const status = fault === undefined ? 200 : 422;
    return await sendPrivate(site, visit, { title: 'Plan', body, note, styles: ['front.css'], status });
  };

  routes.page({ path: PATH, permission: 'pay', tab: 'Plan' }, async (visit) => {
    // The user may return from a payment before the provider's event arrives.
    if (queryOf(visit, 'done') === 'paid') await billing.refresh(visit.user.accountId);
    return await show(visit);
  });
  routes.action({ path: PATH, permission: 'pay' }, async (visit, fields) => {
    const plan = fields.text('plan');
    if (plans.find(plan) === undefined) return await show(visit, 'This plan doesn’t exist.');
    const url = pageUrl(visit.request);
    const pages = { successUrl: `${url}?done=paid`, cancelUrl: url };
    const confirmed = confirmedCharge(fields);
    // The card is charged only for an amount that the customer has just seen.
    if (confirmed === undefined && (await billing.previewPlan(visit.user.accountId, plan)).kind === 'charge') {
      return seeOther(visit, `${CHANGE_PATH}?plan=${plan}`);
    }
    const choice = await billing.choosePlan(visit.user.accountId, plan, pages, confirmed);
    if (choice.kind === 'confirm again') return seeOther(visit, `${CHANGE_PATH}?plan=${plan}`);
    if (choice.kind === 'redirect') return leaveFor(site, visit, 'checkout', choice.url);
    return seeOther(visit, `${PATH}?done=${choice.when === 'now' ? 'plan-now' : 'plan-next'}`);
  });
  addPlanChangePages(routes, dependencies);
  addInvoicePage(routes, site, billing);
  routes.action({ path: `${PATH}/resume`, permission: 'pay' }, async (visit) => {
    await billing.resume(visit.user.accountId);
    return seeOther(visit, `${PATH}?done=resumed`);
  });
  routes.action({ path: `${PATH}/manage`, permission: 'pay' }, async (visit) => {
    const url = await billing.manage(visit.user.accountId, pageUrl(visit.request));
    return url === undefined ? seeOther(visit, PATH) : leaveFor(site, visit, 'billing', url);
  });
}

/** Confirms an action based on the current subscription, so an old link can't confirm anything that isn't true. */
function noteFor(done: string | undefined, plans: PlanBook, subscription: Subscription | undefined): Content {
  const isPaid = subscription?.status === 'active' && subscription.provider === 'stripe';
  if (done === 'paid' && !isPaid) return 'Thank you. Your payment may take a minute to arrive.';
  if (subscription?.status !== 'active') return undefined;
  const { plan, nextPlan, renews, period } = subscription;
  if (done === 'paid') return `Thank you. You’re now on ${titleOf(plans, plan)}.`;
  const [title, nextTitle] = [titleOf(plans, plan), nextPlan !== null && titleOf(plans, nextPlan)];
  if (done === 'plan-now') return `You’re now on ${title}.`;
  if (done === 'plan-next' && nextTitle !== false) {
    return html`You’ll switch to ${nextTitle} on ${day(period.endsAt)}. You keep ${title} until then.`;
  }
  if (done === 'canceled' && !renews) {
    return html`Your subscription ends on ${day(period.endsAt)}. Everything keeps working until then.`;
  }
  return done === 'resumed' && renews ? 'Your subscription will continue.' : undefined;
}

function titleOf(plans: PlanBook, name: string): string {
  return plans.find(name)?.title ?? name;
}

/**
 * Leaves for the payment provider. This isn't a redirect, because the content security policy allows forms to lead only
 * to this site, and browsers apply it to redirects, too.
 */
async function leaveFor(
  site: Site,
  visit: SignedInVisit,
  destination: 'checkout' | 'billing',
  url: string,
): Promise<FastifyReply> {
  if (!/^https?:\/\//u.test(url)) {
    throw new AppError('internal_error', 'The payment provider returned an invalid URL.');
  }
  visit.reply.header('refresh', `0; url=${url}`);
  const body = html`<p class="actions"><a class="button" href="${url}">Continue</a> <a class="button quiet" href="${PATH}">Back</a></p>`;
  return await sendPrivate(site, visit, { title: `Redirecting to ${destination}…`, body });
}

function planBody(visit: SignedInVisit, plans: PlanBook, subscription: Subscription | undefined, ways: Ways): Html {
  if (subscription?.provider === 'marketplace') {
    return html`<p>This account’s plan is managed by the marketplace.</p>`;
  }
  const active = subscription?.status === 'active' ? subscription : undefined;
  const current = active && plans.find(active.plan);
  const offers = plans.plans.map((plan) => ({ ...plan, currency: plans.currency }));
  const cards = offers.map((plan) => card(plan, offers, { current, active }, ways));
  return html`${active && summary(visit, plans, active, ways.billing)}
<ul class="plans">${cards}</ul>
${sharedLimits(offers)}`;
}

function card(
  plan: PlanOffer,
  plans: readonly PlanOffer[],
  { current, active }: { current: Plan | undefined; active: Subscription | undefined },
  ways: Ways,
): Html {
  const isChosen = active?.plan === plan.name || active?.nextPlan === plan.name;
  return html`<li class="plan${isChosen && ' chosen-plan'}">
<h2>${plan.title}</h2>
${planFacts(plan, plans)}
${planAction(plan, plans, { current, active }, ways)}
</li>`;
}

/** `current` is the plan of the subscription. Only the next step up from it stands out. */
function planAction(
  plan: PlanOffer,
  plans: readonly PlanOffer[],
  { current, active }: { current: Plan | undefined; active: Subscription | undefined },
  { billing, hasContact }: Ways,
): Html {
  if (active?.plan === plan.name) return html`<p class="chosen">Current plan</p>`;
  if (active?.nextPlan === plan.name) return html`<p class="chosen">Starts ${day(active.period.endsAt)}</p>`;
  if (!isSelfService(plan, billing)) {
    return hasContact
      ? html`<p class="choose"><a class="button quiet" href="/contact">Ask for ${plan.title}</a></p>`
      : html`<p class="chosen">Ask the operator</p>`;
  }
  const isNext = nextUp(plans, current)?.name === plan.name;
  return html`<p class="choose"><a class="button${!isNext && ' quiet'}" href="${CHANGE_PATH}?plan=${plan.name}">Choose ${plan.title}</a></p>`;
}

/** The cheapest plan that costs more than the current one. */
function nextUp(plans: readonly Plan[], current: Plan | undefined): Plan | undefined {
  return plans
    .filter(({ monthlyPriceCents }) => monthlyPriceCents > (current?.monthlyPriceCents ?? 0))
    .toSorted((a, b) => a.monthlyPriceCents - b.monthlyPriceCents)[0];
}

/** Returns true when a customer can choose or continue the plan without the operator. */
function isSelfService(plan: Pick<PlanOffer, 'monthlyPriceCents'> | undefined, { takesPayments }: Billing): boolean {
  return takesPayments || plan === undefined || plan.monthlyPriceCents === 0;
}

function summary(visit: SignedInVisit, plans: PlanBook, subscription: Subscription, billing: Billing): Html {
  const { plan, renews, nextPlan } = subscription;
  const isEnding = !renews || nextPlan !== null;
  const canKeep = isEnding && isSelfService(plans.find(plan), billing);
  const keep = html`<button class="button quiet" type="submit">Keep ${titleOf(plans, plan)}</button>`;
  return html`<p class="figure">${outlook(plans, subscription)}</p>
<div class="actions">
${billing.takesPayments && html`<a class="button quiet" href="${INVOICES_PATH}">Invoices and card</a>`}
${cancelablePlan(plans, subscription) && html`<a class="button quiet" href="${CANCEL_PATH}">Cancel plan</a>`}
${canKeep && form(visit, `${PATH}/resume`, keep)}
</div>`;
}

/** Describes the subscription after the end of the billing period. */
function outlook(plans: PlanBook, { plan, nextPlan, renews, period }: Subscription): Html {
  const title = html`<strong>${titleOf(plans, plan)}</strong>`;
  if (!renews) return html`${title} ends on ${day(period.endsAt)}`;
  if (nextPlan === null) return html`${title} renews on ${day(period.endsAt)}`;
  return html`${title} until ${day(period.endsAt)}, then <strong>${titleOf(plans, nextPlan)}</strong>`;
}
