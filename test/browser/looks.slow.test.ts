// The look of pages in a real browser, by rules that a program can check: accessible in light and dark mode, and as
// wide as the screen. pages.test.ts has the most important ones.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, post, type RunningServer, startServer } from '../running-server.ts';
import { PASSWORD } from '../site/visitor.ts';
import { createKey, fill, signUp } from './account-steps.ts';
import { launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();
const GUIDES = [
  'positions',
  'errors',
  'limits',
  'playground',
  'marketplace',
  'versioning',
  'self-hosting',
  'dashboard',
  'hardening',
  'payments',
  'operating',
  'capacity',
  'configuration',
].map((guide) => `/docs/${guide}`);
const PATHS = ['/docs', '/dev/components', '/terms', '/changelog', '/contact', ...GUIDES];
/** Guides share a template, so two of them stand for all. */
const SHALLOW = new Set(GUIDES.slice(2));

describe.skipIf('reason' in found)(`looks${whySkipped(found)}`, () => {
  let server: RunningServer;
  let browser: Browser;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await startServer({ STORYBAR_CONTACT: 'https://help.example.com/' });
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  it.each(PATHS)('%s', async (path) => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto(path, { waitUntil: 'load' });
    expect(await lookFaults(page, !SHALLOW.has(path))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('pages of an account and of the operator', async () => {
    const { page, complaints } = await visit(browser, server.url);
    const look = async (path?: string): Promise<void> => {
      if (path !== undefined) await page.goto(path);
      expect(await lookFaults(page, false)).toEqual([]);
      await page.setViewportSize({ width: 1_280, height: 800 });
    };
    for (const path of ['/signin', '/signup', '/reset', '/password?link=none', '/confirm?link=none']) await look(path);
    // An expired link responds with 422, which the console reports.
    complaints.splice(0);
    const email = await signUp(page);
    await look();
    const longName = `<img src=x onerror="document.title='broken'"> ${'a very long name '.repeat(3)}`.slice(0, 80);
    const key = await createKey(page, longName, 'https://shop.example');
    await look();
    await (await post({ url: server.url, key }, form({ width: '64', height: '64', text: 'a' }))).arrayBuffer();
    await look('/dashboard/keys');
    await page.locator('tbody a').first().click();
    await look();
    await page.goto('/dashboard');
    await page.getByText('View as table').click();
    await look();
    const settings = [
      '/dashboard/plan',
      '/dashboard/plan/change?plan=free',
      '/dashboard/plan/invoices',
      '/dashboard/members',
    ];
    for (const path of [
      ...settings,
      '/dashboard/security',
      '/dashboard/security/two-factor',
      '/dashboard/security/email',
    ])
      await look(path);
    for (const path of ['/dashboard/account', '/dashboard/account/delete', '/join?link=none']) await look(path);
    // An expired link responds with 422, which the console reports.
    complaints.splice(0);
    await server.cli('users', 'promote', email);
    await page.goto('/operator');
    await fill(page, { Email: email, Password: PASSWORD }, 'Sign in');
    await page.waitForURL('**/operator');
    for (const path of [
      '/operator',
      '/operator/service',
      '/operator/incidents',
      '/operator/audit',
      '/operator/accounts',
    ])
      await look(path);
    await page.getByRole('link', { name: email }).first().click();
    await look();
    const account = new URL(page.url()).pathname;
    for (const path of [`${account}/usage`, `${account}/requests`]) await look(path);
    expect(await page.title()).not.toBe('broken');
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
