// Buying a plan at the site, from a payment provider on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_SECRET } from '../billing/courier.ts';
import { FakeStripe, SECRET_KEY } from '../billing/fake-stripe.ts';
import { PLANS_FILE, PRICES } from '../billing/stripe-world.ts';
import { type RunningServer, startServer } from '../running-server.ts';
import { Visitor } from './visitor.ts';

let directory: string;
let fake: FakeStripe;
let server: RunningServer;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-buying-'));
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

/** Where a page leads on its own, and by its link. */
function leadsTo({ headers, text }: { headers: Headers; text: string }): string {
  const url = headers.get('refresh')?.replace('0; url=', '') ?? '';
  expect(text.replaceAll('&amp;', '&')).toContain(`href="${url}"`);
  return url;
}

describe('buying a plan', () => {
  it('leads to the checkout, and back to a plan that counts at once', async () => {
    const visitor = new Visitor(server.url);
    await visitor.signUp('ann@example.com');
    expect((await visitor.get('/dashboard/plan')).text).not.toContain('Payments are off');
    const answer = await visitor.submit('/dashboard/plan', { plan: 'pro' });
    expect(answer.status).toBe(200);
    const checkout = leadsTo(answer);
    expect((await visitor.get('/dashboard')).text).toContain('No plan yet');
    fake.account.pay(checkout);
    // The event is not delivered: coming back is enough.
    const back = await visitor.get('/dashboard/plan?done=paid');
    expect(back.text).toMatch(/<strong>Pro<\/strong> renews on/u);
    const portal = await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/manage');
    expect(leadsTo(portal)).toMatch(/^https?:\/\//u);
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/cancel');
    expect((await visitor.get('/dashboard/plan')).text).toContain('ends on');
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/resume');
    expect((await visitor.get('/dashboard/plan')).text).toContain('renews on');
  });

  it('is not an operator’s to change', async () => {
    const operator = new Visitor(server.url);
    await operator.signUp('operator@example.com');
    await server.cli('users', 'promote', 'operator@example.com');
    await operator.signIn('operator@example.com');
    const { text } = await operator.get('/operator/accounts?q=ann@example.com');
    const account = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
    expect((await operator.get(account)).text).toContain('paid for through Stripe');
    const refused = await operator.submit(account, { plan: 'free', when: 'now' }, `${account}/plan`);
    expect(refused.status).toBe(400);
  });
});
