// Passkeys in a real browser with a virtual authenticator, and protection against stolen responses.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD, Visitor } from '../site/visitor.ts';
import { accessibilityFaults, launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();

async function addAuthenticator(page: Page): Promise<(isUserVerified: boolean) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return async (isUserVerified) =>
    void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }));
}

describe.skipIf('reason' in found)(`passkeys${whySkipped(found)}`, () => {
  let server: SharedServer;
  let browser: Browser;
  /** Passkeys need a host name. */
  let origin: string;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await sharedServer();
    origin = `http://localhost:${new URL(server.url).port}`;
  });
  afterAll(async () => {
    await browser.close();
  });

  const signUp = async (page: Page, email: string): Promise<void> => {
    await page.goto('/signup');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/dashboard/start');
  };
  const addPasskey = async (page: Page, password = PASSWORD): Promise<void> => {
    await page.goto('/dashboard/security/passkeys');
    await page.getByLabel('Name').fill('Laptop');
    await page.getByLabel('Current password').fill(password);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
  };
  const signOut = async (page: Page): Promise<void> => {
    await page.goto('/dashboard');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/signin?done=signed-out');
  };

  it('passkeys are added with the password, sign in without it, and stop working when they are removed', async () => {
    const { page, complaints } = await visit(browser, origin);
    await addAuthenticator(page);
    await signUp(page, 'ann@browser.example.com');
    await page.goto('/dashboard/security/passkeys');
    expect(await lookFaults(page, false)).toEqual([]);
    await page.setViewportSize({ width: 1_280, height: 800 });
    await addPasskey(page);
    await page.getByText('Passkey added.').waitFor();
    expect(await lookFaults(page, false)).toEqual([]);
    await page.setViewportSize({ width: 1_280, height: 800 });
    await signOut(page);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto('/signin?next=/dashboard/keys');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL('**/dashboard/keys');
    expect(await page.locator('.whoami').textContent()).toContain('ann@browser.example.com');
    await page.goto('/dashboard/security');
    await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
    await page.getByText('Passkey removed.').waitFor();
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('That passkey isn’t known here.').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('passkeys are not created with a wrong password, and not accepted without a check of the user', async () => {
    const { page } = await visit(browser, origin);
    const setUserVerified = await addAuthenticator(page);
    await signUp(page, 'bob@browser.example.com');
    await addPasskey(page, 'not the password');
    await page.getByText('Incorrect password.').waitFor();
    await addPasskey(page);
    await page.getByText('Passkey added.').waitFor();
    await signOut(page);
    await setUserVerified(false);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('No passkey was chosen.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/signin');
    await page.context().close();
  });

  it('passkeys cannot be used with an old response, or with the challenge of another visitor', async () => {
    const { page } = await visit(browser, origin);
    await addAuthenticator(page);
    await signUp(page, 'eve@browser.example.com');
    await addPasskey(page);
    await page.getByText('Passkey added.').waitFor();
    await signOut(page);
    let stolen = '';
    page.on('request', (request) => {
      if (request.url().endsWith('/signin/passkey')) {
        stolen = new URLSearchParams(request.postData() ?? '').get('response') ?? '';
      }
    });
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL('**/dashboard');
    expect(stolen).toContain('clientDataJSON');
    const thief = new Visitor(origin);
    for (const response of [stolen, '', 'null', '{}', stolen.replace('public-key', 'password')]) {
      expect(await thief.submit('/signin', { response }, '/signin/passkey')).toMatchObject({
        location: '/signin?done=passkey-refused',
      });
    }
    expect((await thief.get('/dashboard')).location).toContain('/signin');
    await page.context().close();
  });

  it('passkeys are not offered by a browser without JavaScript, where the password still works', async () => {
    const { page } = await visit(browser, origin, { javaScriptEnabled: false });
    await page.goto('/signin');
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await page.context().close();
  });
});
