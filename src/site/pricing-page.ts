// The pricing page: plans with a way to get them, what renders cost, and what happens when credits run out.

import { quoteFor } from '../service/account/pricing.ts';
import { type Content, type Html, html } from './html.ts';
import type { Page, Site } from './page.ts';
import { type PlanOffer, planCards } from './plan-cards.ts';
import { table } from './tables.ts';

export interface PricingOptions {
  /** True if customers can pay by themselves. */
  readonly takesPayments: boolean;
  /** True if the operator has published a way to ask for a plan. */
  readonly hasContact: boolean;
}

const EXAMPLES: readonly (readonly [string, number | undefined])[] = [
  ['Photo, in any format', undefined],
  ['Overlay only', undefined],
  ['5-second clip', 5],
  ['15-second clip', 15],
  ['30-second clip', 30],
  ['60-second clip', 60],
];

export function pricingPage(site: Site, plans: readonly PlanOffer[], options: PricingOptions): Page {
  return {
    title: 'Pricing - Storybar',
    description: 'Plans, what a photo and a video cost, and what happens when your credits run out.',
    path: '/pricing',
    styles: ['front.css', 'pricing.css'],
    modules: ['calculator.js'],
    body: html`<div class="wide pricing">
<h1>Pricing</h1>
<p class="lead">You pay for renders that we deliver. Errors, timeouts and renders with a test key are free.</p>
<h2 class="visually-hidden">Plans</h2>
${planCards(plans, (plan) => planAction(site, plan, options))}
${costs(plans)}
${questions(site, plans)}
</div>`,
  };
}

/** The free plan is the way in; the others are chosen in the dashboard, which shows the amount before anything is charged. */
function planAction({ signUpPath }: Site, plan: PlanOffer, { takesPayments, hasContact }: PricingOptions): Content {
  if (plan.monthlyPriceCents === 0) {
    return (
      signUpPath && html`<p class="choose"><a class="button" href="${signUpPath}">Start with ${plan.title}</a></p>`
    );
  }
  if (takesPayments) {
    const path = `/dashboard/plan/change?plan=${encodeURIComponent(plan.name)}`;
    return html`<p class="choose"><a class="button quiet" href="${path}">Choose ${plan.title}</a></p>`;
  }
  return hasContact && html`<p class="choose"><a class="button quiet" href="/contact">Ask for ${plan.title}</a></p>`;
}

function costs(plans: readonly PlanOffer[]): Html {
  const data = plans.map(({ title, credits, monthlyPriceCents }) => ({ title, credits, monthlyPriceCents }));
  return html`<section aria-labelledby="costs">
<h2 id="costs">What renders cost</h2>
<p>An image costs 1 credit. A video costs 1 credit per started 5 seconds.</p>
<div class="two-columns">
${table(
  'Credits per render',
  ['Render', 'Credits'],
  EXAMPLES.map(([name, seconds]) => [name, quoteFor(seconds, 'live')]),
)}
<form class="calculator" data-calculator data-plans="${JSON.stringify(data)}" hidden>
<h3>Calculate a month</h3>
${amount('images', 'Images', 200)}
${amount('videos', 'Videos', 20)}
${amount('seconds', 'Seconds per video', 60)}
<output aria-live="polite"></output>
</form>
</div>
</section>`;
}

function amount(name: string, label: string, value: number): Html {
  return html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="number" inputmode="numeric" min="0" max="1000000" value="${value}"></div>`;
}

function questions({ signUpPath }: Site, plans: readonly PlanOffer[]): Html {
  const free = plans.find(({ monthlyPriceCents }) => monthlyPriceCents === 0);
  const answers: readonly (readonly [string, Content])[] = [
    [
      'What happens when my credits are used up?',
      html`Nothing is charged beyond your plan. Requests return 429 <code>quota_exceeded</code> until your credits reset or you change your
plan, and the error says when they reset. Your dashboard shows what is left.`,
    ],
    [
      'Can I try it for free?',
      html`${free && html`The plan ${free.title} costs nothing. `}Test keys are free, with a watermark, for 500 renders per day. The
<a href="/playground">playground</a> needs no account.${signUpPath && html` <a href="${signUpPath}">Sign up</a>.`}`,
    ],
    [
      'Do I pay for failed renders?',
      html`No. Errors, timeouts and broken connections are free, within <a href="/docs/limits#credits">a fair-use allowance</a> for broken
downloads. A retry with the same <a href="/docs/limits#idempotent-retries">idempotency key</a> is charged once.`,
    ],
    [
      'Do unused credits carry over?',
      'No. Credits reset at the start of each billing period, on the day you subscribed.',
    ],
    [
      'How do I know the price beforehand?',
      html`<a href="/docs#layout"><code>POST /v1/layout</code></a> returns it for free, and so does the playground. Every response has
<code>x-credits-charged</code> and <code>x-credits-remaining</code>.`,
    ],
    [
      'Can I change or cancel my plan?',
      'Yes, in the dashboard. You see the exact amount before you confirm an upgrade. A cheaper plan starts with the next billing period, and a canceled one works until its period ends.',
    ],
  ];
  return html`<section aria-labelledby="questions">
<h2 id="questions">Questions</h2>
<dl class="facts">${answers.map(([question, answer]) => html`<div><dt>${question}</dt><dd>${answer}</dd></div>`)}</dl>
</section>`;
}
