// Paying for a plan on the site, with a payment provider on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_SECRET } from '../billing/webhook-sender.ts';
import { FakeStripe, SECRET_KEY } from '../billing/fake-stripe.ts';
import { PLANS_FILE, PRICES } from '../billing/stripe-world.ts';
import { type RunningServer, startServer } from '../running-server.ts';
import { Visitor } from './visitor.ts';

let directory: string;
let fake: FakeStripe;
let server: RunningServer;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-payments-'));
  const plans = path.join(directory, 'plans.json');
  writeFileSync(plans, JSON.stringify(PLANS_FILE));
  fake = await FakeStripe.start(PRICES);
  fake.account.now = Math.floor(Date.now() / 1_000);
  server = await startServer({
    STORYBAR_PLANS: plans,
    STORYBAR_BILLING: 'stripe',
    STORYBAR_STRIPE_SECRET_KEY: SECRET_KEY,
    STORYBAR_STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
    STORYBAR_STRIPE_API_URL: fake.url,
    STORYBAR_WORKERS: '1',
  });
});
afterAll(async () => {
  await server.stop();
  await fake.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Where a page redirects to; its link must lead there as well. */
function redirectOf({ headers, text }: { headers: Headers; text: string }): string {
  const url = headers.get('refresh')?.replace('0; url=', '') ?? '';
  expect(text.replaceAll('&amp;', '&')).toContain(`href="${url}"`);
  return url;
}

describe('a paid plan', () => {
  it('is bought at the checkout and active as soon as the user is back', async () => {
    const visitor = new Visitor(server.url);
    await visitor.signUp('ann@example.com');
    expect((await visitor.get('/dashboard/plan')).text).not.toContain('Billing is disabled');
    const response = await visitor.submit('/dashboard/plan', { plan: 'pro' });
    expect(response).toMatchObject({ status: 200, text: expect.stringContaining('Redirecting to checkout…') });
    const checkout = redirectOf(response);
    expect((await visitor.get('/dashboard')).text).toContain('credits used (Free)');
    fake.account.pay(checkout);
    // The provider's event isn't delivered: coming back is enough.
    const back = await visitor.get('/dashboard/plan?done=paid');
    expect(back.text).toMatch(/<strong>Pro<\/strong> renews on/u);
    const portal = await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/manage');
    expect(redirectOf(portal)).toMatch(/^https?:\/\//u);
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/cancel');
    expect((await visitor.get('/dashboard/plan')).text).toContain('ends on');
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/resume');
    expect((await visitor.get('/dashboard/plan')).text).toContain('renews on');
  });

  it('cannot be changed by the operator', async () => {
    const operator = new Visitor(server.url);
    await operator.signUp('operator@example.com');
    await server.cli('users', 'promote', 'operator@example.com');
    await operator.signIn('operator@example.com');
    const { text } = await operator.get('/operator/accounts?q=ann@example.com');
    const account = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
    expect((await operator.get(account)).text).toContain('This plan is paid through Stripe.');
    const refused = await operator.submit(account, { plan: 'free', when: 'now' }, `${account}/plan`);
    expect(refused.status).toBe(400);
  });
});
