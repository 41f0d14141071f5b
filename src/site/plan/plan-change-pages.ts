// The pages that ask for confirmation before a plan is changed or canceled. They name the date and the amount, so that no
// single click charges a card.

import type { FastifyReply } from 'fastify';
import type { Plan, PlanBook } from '../../service/account/plans.ts';
import type { Subscription } from '../../service/account/subscription.ts';
import type { Billing, ChargePreview, ConfirmedCharge, PlanPreview } from '../../service/billing/billing.ts';
import { AppError } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { Store } from '../../service/store/store.ts';
import { day } from '../account/fields.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { queryOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { money } from './money.ts';

export interface PlanChangeDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts'>;
  readonly plans: PlanBook;
  readonly billing: Billing;
}

const PLAN_PATH = '/dashboard/plan';
export const CHANGE_PATH = '/dashboard/plan/change';
export const CANCEL_PATH = '/dashboard/plan/cancel';
/** A confirmed amount stays valid this long. This limits what a customer could save by sending an older time. */
const CONFIRMATION_MS = 15 * 60_000;
/** The clocks of servers differ a little. */
const CLOCK_TOLERANCE_MS = 60_000;

export function addPlanChangePages(routes: SignedInRoutes, dependencies: PlanChangeDependencies): void {
  const { site, store, plans, billing } = dependencies;
  routes.page({ path: CHANGE_PATH, permission: 'pay' }, async (visit) => {
    const plan = plans.find(queryOf(visit, 'plan') ?? '');
    if (plan === undefined) return seeOther(visit, PLAN_PATH);
    const preview = await billing.previewPlan(visit.user.accountId, plan.name);
    const { subscription } = await accountOf(store, visit);
    const body = html`${consequences(plans, plan, preview, subscription)}
${form(
  visit,
  PLAN_PATH,
  html`<input type="hidden" name="plan" value="${plan.name}">
${preview.kind === 'charge' && confirmationFields(preview)}
<p class="actions"><button class="button" type="submit">${confirmLabel(plan, preview)}</button>
<a class="button quiet" href="${PLAN_PATH}">Back</a></p>`,
)}`;
    return await sendPrivate(site, visit, { title: `Switch to ${plan.title}`, body });
  });
  routes.page({ path: CANCEL_PATH, permission: 'pay' }, async (visit) => {
    const { subscription } = await accountOf(store, visit);
    const plan = cancelablePlan(plans, subscription);
    if (plan === undefined || subscription === undefined) return seeOther(visit, PLAN_PATH);
    return await sendPrivate(site, visit, {
      title: `Cancel ${plan.title}`,
      body: cancelBody(visit, plans, plan, subscription),
    });
  });
  routes.action({ path: CANCEL_PATH, permission: 'pay' }, async (visit): Promise<FastifyReply> => {
    const { subscription } = await accountOf(store, visit);
    if (cancelablePlan(plans, subscription) === undefined) {
      throw new AppError('invalid_fields', 'There is no paid plan to cancel.');
    }
    await billing.cancel(visit.user.accountId);
    return seeOther(visit, `${PLAN_PATH}?done=canceled`);
  });
}

/**
 * Returns the plan that can be canceled: one with a price that renews. Canceling a free plan would only turn its keys
 * off.
 */
export function cancelablePlan(plans: PlanBook, subscription: Subscription | undefined): Plan | undefined {
  if (subscription?.status !== 'active' || !subscription.renews || subscription.nextPlan !== null) return undefined;
  if (subscription.provider === 'marketplace') return undefined;
  const plan = plans.find(subscription.plan);
  return plan !== undefined && plan.monthlyPriceCents > 0 ? plan : undefined;
}

/** Returns undefined without a confirmation, and when it is too old or was manipulated. */
export function confirmedCharge(fields: FormFields, now = Date.now()): ConfirmedCharge | undefined {
  const text = fields.text('as-of');
  const asOf = Number(text);
  const isRecent = /^\d{1,15}$/u.test(text) && asOf <= now + CLOCK_TOLERANCE_MS && asOf > now - CONFIRMATION_MS;
  const [fromPlan, due] = [fields.text('from-plan'), fields.text('due')];
  if (!isRecent || fromPlan === '' || !/^\d{0,15}$/u.test(due)) return undefined;
  return { asOf: new Date(asOf), fromPlan, due: due === '' ? undefined : Number(due) };
}

/** Writes the fields that `confirmedCharge` reads. */
function confirmationFields({ asOf, fromPlan, amount }: ChargePreview): Html {
  return html`<input type="hidden" name="as-of" value="${asOf.getTime()}">
<input type="hidden" name="from-plan" value="${fromPlan}">
<input type="hidden" name="due" value="${amount?.due ?? ''}">`;
}

async function accountOf({ accounts }: Pick<Store, 'accounts'>, { user }: SignedInVisit) {
  return must(await accounts.find(user.accountId), `the account ${user.accountId}`);
}

function confirmLabel({ title }: Plan, preview: PlanPreview): string {
  if (preview.kind === 'checkout') return 'Continue to checkout';
  if (preview.kind === 'unpaid invoice') return 'Pay the open invoice';
  if (preview.kind !== 'charge' || preview.amount === undefined) return `Switch to ${title}`;
  return `Switch and pay ${money(preview.amount.due, preview.amount.currency)}`;
}

function consequences(plans: PlanBook, plan: Plan, preview: PlanPreview, subscription: Subscription | undefined): Html {
  const price = html`<strong>${money(plan.monthlyPriceCents, plans.currency)}</strong> per month`;
  const current = subscription?.status === 'active' ? plans.find(subscription.plan)?.title : undefined;
  if (preview.kind === 'checkout') {
    return html`<p>You pay ${price} from today, plus taxes where they apply. The checkout shows the total before you pay.</p>`;
  }
  if (preview.kind === 'unpaid invoice')
    return html`<p>Your last invoice is unpaid. Pay it before you change the plan.</p>`;
  if (preview.kind === 'later') {
    return html`<p>You switch to ${plan.title} on <strong>${day(preview.at)}</strong>. Until then you keep ${current ?? 'your plan'}.</p>
<p>${plan.monthlyPriceCents === 0 ? html`Nothing more is charged.` : html`From then on you pay ${price}.`} The current period isn’t refunded.</p>`;
  }
  if (preview.kind === 'now') return html`<p>You switch to ${plan.title} now. Nothing is charged today.</p>`;
  return html`${charge(preview)}
<p>From ${day(preview.renewsAt)} you pay ${price}, plus taxes where they apply. Used credits stay used.</p>`;
}

function charge({ amount }: ChargePreview): Html {
  if (amount === undefined) {
    return html`<p>You switch now. The difference in price for the rest of the billing period is charged to your card today.</p>`;
  }
  const { due, unusedCredit, currency } = amount;
  return html`<p>You switch now. <strong>${money(due, currency)}</strong> is charged to your card today.${
    unusedCredit > 0 &&
    html` That includes a credit of ${money(unusedCredit, currency)} for the unused part of your current plan.`
  }</p>`;
}

function cancelBody(visit: SignedInVisit, plans: PlanBook, { title }: Plan, { period }: Subscription): Html {
  const free = plans.plans.find(({ monthlyPriceCents }) => monthlyPriceCents === 0);
  return html`<p>${title} ends on <strong>${day(period.endsAt)}</strong>. Everything keeps working until then, and nothing more is charged.
The current period isn’t refunded.</p>
<p>After that, requests with your keys are rejected until you choose a plan.${
    free &&
    html` To keep your keys working, <a href="${CHANGE_PATH}?plan=${free.name}">switch to ${free.title} instead</a>.`
  }</p>
${form(
  visit,
  CANCEL_PATH,
  html`<p class="actions"><button class="button danger" type="submit">Cancel ${title}</button>
<a class="button quiet" href="${PLAN_PATH}">Keep ${title}</a></p>`,
)}`;
}
