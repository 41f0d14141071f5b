// Signing in with Google and GitHub in a real browser: leaving the site and coming back under its content security
// policy, and the look of the pages.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { type RunningServer, startServer } from '../running-server.ts';
import { ProviderStandIn } from '../site/provider-stand-in.ts';
import { launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();

describe.skipIf('reason' in found)(`signing in with a provider${whySkipped(found)}`, () => {
  let browser: Browser;
  let standIn: ProviderStandIn;
  let server: RunningServer;
  let origin: string;
  beforeAll(async () => {
    if ('reason' in found) return;
    browser = found.browser;
    const port = await freePort();
    origin = `http://localhost:${port}`;
    standIn = await ProviderStandIn.start(['google', 'github'].map((name) => `${origin}/signin/${name}/callback`));
    const address = { HOST: '127.0.0.1', PORT: String(port), STORYBAR_PUBLIC_URL: origin };
    server = await startServer({ ...address, ...standIn.settings });
  });
  afterAll(async () => {
    if ('reason' in found) return;
    await browser.close();
    await server.stop();
    await standIn.stop();
  });

  it('leads to the provider and back, by keyboard, within the content security policy', async () => {
    standIn.person = { id: 1, email: 'ann@example.com' };
    const { page, complaints } = await visit(browser, origin);
    await page.goto('/signup');
    await page.getByRole('button', { name: 'Continue with Google' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/start');
    expect(await page.getByText('This is your test key “First test key”.').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    // The same address alone doesn't connect an account.
    await page.getByRole('button', { name: 'Continue with GitHub' }).click();
    await page.getByText('You already have an account').first().waitFor();
    await page.goto('/signin');
    await page.getByRole('button', { name: 'Continue with Google' }).click();
    await page.waitForURL('**/dashboard');
    await page.goto('/dashboard/security');
    expect(await page.getByRole('button', { name: /^Disconnect/u }).count()).toBe(1);
    expect(await lookFaults(page, false)).toEqual([]);
    // The page of a refusal has the status 422, which the browser reports.
    const expected = (each: string): boolean =>
      each.startsWith(`left the origin: ${standIn.url}/`) || each.includes('422');
    expect(complaints.filter((each) => !expected(each))).toEqual([]);
    await page.context().close();
  });

  it('shows pages that pass all checks of looks and accessibility', async () => {
    const { page, complaints } = await visit(browser, origin);
    for (const path of ['/signin', '/signin/google/callback']) {
      await page.goto(path);
      expect(await lookFaults(page, path === '/signin')).toEqual([]);
    }
    // The page of an error has the status 422, which the browser reports.
    expect(complaints.filter((each) => !each.includes('422'))).toEqual([]);
    await page.context().close();
  });
});
