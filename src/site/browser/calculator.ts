// The calculator of the pricing page: credits of a month with the service's own price rule, and the first plan that has them.

import { quoteFor } from '../../service/account/pricing.ts';
import { find } from './elements.ts';

interface Plan {
  readonly title: string;
  readonly credits: number;
  readonly monthlyPriceCents: number;
}

const NUMBER = new Intl.NumberFormat('en');
const form = find(document, '[data-calculator]', HTMLFormElement);
const output = find(form, 'output', HTMLOutputElement);
const plans = (JSON.parse(form.dataset['plans'] ?? '[]') as Plan[]).toSorted(
  (a, b) => a.monthlyPriceCents - b.monthlyPriceCents,
);

function amountOf(name: string): number {
  const { valueAsNumber } = find(form, `[name=${name}]`, HTMLInputElement);
  return Number.isFinite(valueAsNumber) ? Math.max(0, valueAsNumber) : 0;
}

function show(): void {
  const videos = amountOf('videos');
  const perVideo = quoteFor(amountOf('seconds'), 'live');
  const credits = Math.ceil(amountOf('images')) + Math.ceil(videos) * perVideo;
  const plan = plans.find((each) => each.credits >= credits);
  const count = credits === 1 ? '1 credit' : `${NUMBER.format(credits)} credits`;
  output.textContent =
    plan === undefined ? `${count} per month: more than any plan has.` : `${count} per month: ${plan.title} is enough.`;
}

form.hidden = false;
form.addEventListener('input', show);
form.addEventListener('submit', (event) => event.preventDefault());
show();
