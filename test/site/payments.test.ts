// Paying for a plan on the site, with a payment provider on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_SECRET } from '../billing/webhook-sender.ts';
import { FakeStripe, SECRET_KEY } from '../billing/fake-stripe.ts';
import { PLANS_FILE, PRICES } from '../billing/stripe-world.ts';
import { type RunningServer, startServer } from '../running-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

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

/** Returns where a page redirects to. Its link must lead there as well. */
function redirectOf({ headers, text }: { headers: Headers; text: string }): string {
  const url = headers.get('refresh')?.replace('0; url=', '') ?? '';
  expect(text.replaceAll('&amp;', '&')).toContain(`href="${url}"`);
  return url;
}

describe('a paid plan', () => {
  it('a paid plan is bought at the checkout and is active as soon as the user returns', async () => {
    const visitor = new Visitor(server.url);
    await visitor.signUp('ann@example.com');
    expect((await visitor.get('/dashboard/plan')).text).not.toContain('Billing is disabled');
    const response = await visitor.submit('/dashboard/plan', { plan: 'pro' });
    expect(response).toMatchObject({ status: 200, text: expect.stringContaining('Redirecting to checkout…') });
    const checkout = redirectOf(response);
    expect((await visitor.get('/dashboard')).text).toContain('credits used (Free)');
    fake.account.pay(checkout);
    // The provider's event isn't delivered, because coming back is enough.
    const back = await visitor.get('/dashboard/plan?done=paid');
    expect(back.text).toMatch(/<strong>Pro<\/strong> renews on/u);
    expect(back.text).toContain('Thank you. You’re now on Pro.');
    // One plan stands out: the next one up.
    expect(back.text.match(/class="button" href="\/dashboard\/plan\/change\?plan=\w+/gu)).toEqual([
      'class="button" href="/dashboard/plan/change?plan=business',
    ]);
    const portal = await visitor.submit('/dashboard/plan/invoices', {}, '/dashboard/plan/manage');
    expect(redirectOf(portal)).toMatch(/^https?:\/\//u);
    const question = (await visitor.get('/dashboard/plan/cancel')).text;
    expect(question).toMatch(/Pro ends on <strong><time[^>]+>\w+ \d+<\/time><\/strong>/u);
    expect(question).toContain('switch to Free instead');
    expect((await visitor.get('/dashboard/plan')).text).toContain('renews on');
    await visitor.submit('/dashboard/plan/cancel', {});
    expect((await visitor.get('/dashboard/plan')).text).toContain('ends on');
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/resume');
    expect((await visitor.get('/dashboard/plan')).text).toContain('renews on');
  });

  it('a paid plan charges the card only after a page has named the amount, and exactly that amount', async () => {
    const visitor = new Visitor(server.url);
    await visitor.signUp('upgrade@example.com');
    fake.account.now = Math.floor(Date.now() / 1_000) - 10 * 86_400;
    fake.account.pay(redirectOf(await visitor.submit('/dashboard/plan', { plan: 'starter' })));
    fake.account.now = Math.floor(Date.now() / 1_000);
    await visitor.get('/dashboard/plan?done=paid');
    const invoices = fake.account.invoices.length;
    for (const asOf of ['', 'now', String(Date.now() - 3_600_000), String(Date.now() + 3_600_000)]) {
      expect(
        await visitor.submit(
          '/dashboard/plan/cancel',
          { plan: 'pro', 'as-of': asOf, 'from-plan': 'starter', due: '1333' },
          '/dashboard/plan',
        ),
      ).toMatchObject({
        status: 303,
        location: '/dashboard/plan/change?plan=pro',
      });
    }
    expect(fake.account.invoices).toHaveLength(invoices);
    const { text } = await visitor.get('/dashboard/plan/change?plan=pro');
    const amount = /Switch and pay \$(?<amount>\d+\.\d\d)/u.exec(text)?.groups?.['amount'] ?? '';
    const valueOf = (name: string): string => new RegExp(`name="${name}" value="([^"]+)"`, 'u').exec(text)?.[1] ?? '';
    const confirmed = {
      plan: 'pro',
      'as-of': valueOf('as-of'),
      'from-plan': valueOf('from-plan'),
      due: valueOf('due'),
    };
    // A third of the month has passed: 2/3 of $29 minus 2/3 of $9.
    expect(Number(amount)).toBeCloseTo(13.33, 1);
    expect(text).toContain('a credit of $6.00 for the unused part');
    fake.account.now += 600;
    for (const changed of [{ due: '1' }, { due: '' }, { due: '-1' }, { 'from-plan': 'free' }, { 'from-plan': '' }]) {
      expect(
        await visitor.submit('/dashboard/plan/cancel', { ...confirmed, ...changed }, '/dashboard/plan'),
      ).toMatchObject({ location: '/dashboard/plan/change?plan=pro' });
    }
    expect(fake.account.invoices).toHaveLength(invoices);
    expect(await visitor.submit('/dashboard/plan/cancel', confirmed, '/dashboard/plan')).toMatchObject({
      location: '/dashboard/plan?done=plan-now',
    });
    expect(fake.account.invoices).toHaveLength(invoices + 1);
    expect(fake.account.invoices.at(-1)?.amount).toBe(Math.round(Number(amount) * 100));
    const list = (await visitor.get('/dashboard/plan/invoices')).text;
    expect(list).toContain(`$${amount}`);
    expect(list).toContain('$9.00');
    expect(list).toContain('https://invoice.invalid/');
    const later = (await visitor.get('/dashboard/plan/change?plan=starter')).text;
    expect(later).toMatch(/You switch to Starter on <strong><time[^>]+>\w+ \d+<\/time><\/strong>/u);
    expect(later).toContain('From then on you pay <strong>$9.00</strong> per month');
    // The scheduled change keeps Stripe from previewing another one.
    await visitor.submit('/dashboard/plan/change?plan=starter', { plan: 'starter' }, '/dashboard/plan');
    const scheduled = (await visitor.get('/dashboard/plan/change?plan=business')).text;
    expect(scheduled).toContain('The difference in price for the rest of the billing period is charged');
  });

  it('a paid plan has no invoices before the first payment, and the page says when the provider does not respond', async () => {
    const visitor = new Visitor(server.url);
    await visitor.signUp('no-invoices@example.com');
    expect((await visitor.get('/dashboard/plan/invoices')).text).toContain('No invoices yet.');
    const paying = new Visitor(server.url);
    await paying.signUp('paying@example.com');
    fake.account.pay(redirectOf(await paying.submit('/dashboard/plan', { plan: 'starter' })));
    await paying.get('/dashboard/plan?done=paid');
    fake.faults.push(500, 500, 500);
    const failed = await paying.get('/dashboard/plan/change?plan=pro');
    expect(failed).toMatchObject({ status: 503, text: expect.stringContaining('not responding') });
    fake.faults.splice(0);
  });

  it('a paid plan ends now when the account is deleted, and the customer is never charged again', async () => {
    const visitor = new Visitor(server.url);
    await visitor.signUp('leaving@example.com');
    const subscription = fake.account.pay(redirectOf(await visitor.submit('/dashboard/plan', { plan: 'pro' })));
    await visitor.get('/dashboard/plan?done=paid');
    fake.faults.push(500, 500, 500);
    const failed = await visitor.submit('/dashboard/account/delete', { password: PASSWORD });
    expect(failed.status).toBe(503);
    fake.faults.splice(0);
    expect((await visitor.get('/dashboard')).status).toBe(200);
    await visitor.submit('/dashboard/account/delete', { password: PASSWORD });
    expect(subscription.status).toBe('canceled');
    expect((await visitor.get('/dashboard')).location).toContain('/signin');
  });

  it('a paid plan cannot be changed by the operator', async () => {
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
