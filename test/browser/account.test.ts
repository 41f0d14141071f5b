// The account pages in a real browser: from sign-up to the first render, with the keyboard alone, and under attack from
// other sites. Their look is checked in looks.slow.test.ts.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import nodePath from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, post, type RunningServer, startServer } from '../running-server.ts';
import { PASSWORD } from '../site/visitor.ts';
import { createKey, fill, signUp } from './account-steps.ts';
import { accessibilityFaults, launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';
import { type ForeignSite, startForeignSite } from './foreign-site.ts';

const found = await launchBrowser();
const HOSTILE = '<img src=x onerror="document.title=\'broken\'">';

/** Presses Tab until the target has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let steps = 0; steps < 80; steps += 1) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
  }
  throw new Error(`${String(target)} cannot be reached by keyboard`);
}

describe.skipIf('reason' in found)(`account pages${whySkipped(found)}`, () => {
  let server: RunningServer;
  let browser: Browser;
  let foreignSite: ForeignSite;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_CONTACT: 'help@example.com' });
    foreignSite = await startForeignSite();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await foreignSite.stop();
  });

  it('two clicks and two fields lead from the front page to the first render', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.addInitScript(`document.addEventListener('click', (event) => {
      if (event.isTrusted) sessionStorage.setItem('clicks', Number(sessionStorage.getItem('clicks')) + 1);
    }, true);`);
    await page.goto('/');
    await page.getByRole('main').getByRole('link', { name: 'Get an API key' }).first().click();
    await page.waitForURL('**/signup');
    expect(await page.locator('main input:visible').count()).toBe(2);
    await fill(page, { Email: 'ann@example.com', Password: PASSWORD }, 'Create account');
    await page.waitForURL('**/dashboard/start');
    const code = (await page.locator('[data-language="curl"] code').textContent()) ?? '';
    const status = page.locator('[data-first-request]');
    expect(await status.getAttribute('data-state')).toBe('waiting');
    const folder = mkdtempSync(nodePath.join(tmpdir(), 'first-request-'));
    await promisify(execFile)('bash', ['-ec', code], { cwd: folder });
    expect((await sharp(nodePath.join(folder, 'captioned.png')).metadata()).format).toBe('png');
    rmSync(folder, { recursive: true });
    await expect.poll(() => status.getAttribute('data-state')).toBe('delivered');
    expect(await status.getAttribute('class')).toBe('done');
    expect(Number(await page.evaluate(`sessionStorage.getItem('clicks')`))).toBeLessThanOrEqual(3);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('a user creates a key, copies it, renders with it and sees the render on the usage page', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await signUp(page);
    const key = await createKey(page, 'my shop');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // The page also has code with a button of its own.
    const block = page.locator('.new-key');
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    const response = await post({ url: server.url, key }, form({ width: '64', height: '64', text: HOSTILE }));
    await response.arrayBuffer();
    const renderId = response.headers.get('x-render-id') ?? '';
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByTitle(renderId).waitFor();
    // Credits count as used shortly after the last byte of the response.
    await expect
      .poll(async () => {
        await page.reload();
        return await page.locator('.figure').textContent();
      })
      .toBe('1 of 100 credits used (Free)');
    await page.getByText('View as table').click();
    await page.getByRole('cell', { name: new Date().toISOString().slice(0, 10), exact: true }).waitFor();
    expect(await page.title()).toBe('Usage - Storybar');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('account pages can be used with the keyboard alone', async () => {
    const { page } = await visit(browser, server.url);
    await page.goto('/signup');
    await tabTo(page, page.getByLabel('Email'));
    await page.keyboard.type('keyboard@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/start');
    await tabTo(page, page.getByRole('link', { name: 'Keys' }));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/keys');
    await tabTo(page, page.getByLabel('Name', { exact: true }));
    await page.keyboard.type('typed');
    await tabTo(page, page.getByRole('button', { name: 'Create key' }));
    await page.keyboard.press('Space');
    await page.locator('.new-key').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Done' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('link', { name: 'typed' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByText('Revoke this key'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Revoke key' }));
    await page.keyboard.press('Enter');
    await page.getByText('Key revoked.').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Sign out' }));
    await page.keyboard.press('Enter');
    await page.getByText('You’re signed out.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/signin');
    await page.context().close();
  });

  it('a password field shows what was typed while the visitor wants to see it', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/signup');
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('a horse');
    await page.getByRole('button', { name: 'Show password' }).click();
    expect(await password.getAttribute('type')).toBe('text');
    await page.getByRole('button', { name: 'Hide password' }).click();
    expect(await password.getAttribute('type')).toBe('password');
    expect(await lookFaults(page, false)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the contact page says how to reach the operator, and the footer leads there', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/');
    await page.getByRole('contentinfo').getByRole('link', { name: 'Contact' }).click();
    await page.waitForURL('**/contact');
    expect(await page.getByRole('link', { name: 'help@example.com' }).getAttribute('href')).toBe(
      'mailto:help@example.com',
    );
    expect(await lookFaults(page)).toEqual([]);
    await page.goto('/pricing');
    expect(await page.getByRole('link', { name: /^Ask for / }).count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the request log opens a request with a click anywhere in its row, finds one by its ID, and shows new ones by itself', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await signUp(page);
    const key = await createKey(page, 'A key with a name that is longer than any column of a table can be');
    const render = async (): Promise<string> => {
      const response = await post({ url: server.url, key }, form({ width: '64', height: '64', text: 'a' }));
      await response.arrayBuffer();
      return response.headers.get('x-render-id') ?? '';
    };
    const id = await render();
    const row = page.locator('.entries tbody tr');
    await expect
      .poll(async () => {
        await page.goto('/dashboard/requests');
        return await row.count();
      })
      .toBe(1);
    expect(await lookFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 1_280, height: 800 });
    const time = row.locator('time');
    // The link of the entry lies over all cells.
    await time.hover({ force: true });
    const local = await time.evaluate((element) =>
      new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }).format(
        new Date(element.getAttribute('datetime') ?? ''),
      ),
    );
    await expect.poll(async () => await row.locator('a').first().getAttribute('title')).toBe(local);
    await row.locator('td').last().click({ force: true });
    await page.waitForURL(`**/dashboard/requests/${id}`);
    await page.goto('/dashboard/requests');
    await page.getByLabel('Request or render ID').fill(id);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(`**/dashboard/requests/${id}`);
    await page.goto('/dashboard/requests?id=nothing');
    expect(await page.getByRole('alert').textContent()).toContain('has the ID nothing');
    await page.goto('/dashboard/requests');
    await render();
    await expect.poll(async () => await row.count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('account pages work without JavaScript', async () => {
    const { page } = await visit(browser, server.url, { javaScriptEnabled: false });
    await signUp(page);
    expect(await createKey(page, 'plain')).toMatch(/^sb_live_/u);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.context().close();
  });

  it('forms show an error next to its field and announce it to screen readers', async () => {
    const { page } = await visit(browser, server.url);
    await page.goto('/signup');
    await fill(page, { Email: 'ann@example.com', Password: 'short' }, 'Create account');
    const password = page.getByLabel('Password', { exact: true });
    expect(await password.getAttribute('aria-invalid')).toBe('true');
    // The hint stays, and both are read.
    expect(await password.getAttribute('aria-describedby')).toBe('password-hint password-fault');
    expect(await page.locator('#password-fault').textContent()).toContain('at least 12');
    expect(await password.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    expect(await page.title()).toMatch(/^Error: /u);
    expect(await page.getByLabel('Email').inputValue()).toBe('ann@example.com');
    expect(await accessibilityFaults(page)).toEqual([]);
    // A fault of the whole form is an alert above it, which gets the focus.
    await page.goto('/signin');
    await fill(page, { Email: 'ann@example.com', Password: 'wrong password' }, 'Sign in');
    const alert = page.getByRole('alert');
    expect(await alert.evaluate((text) => text === text.ownerDocument.activeElement)).toBe(true);
    expect(await page.title()).toMatch(/^Error: /u);
    await page.context().close();
  });

  describe('the form in the documentation', () => {
    const price = (page: Page): Locator => page.locator('[data-price]');
    const headers = (page: Page): Locator => page.locator('[data-headers]');
    const imageSize = async (page: Page): Promise<unknown> => {
      await page.locator('[data-media] img').waitFor();
      return await page.evaluate(
        `(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])(document.querySelector('[data-media] img'))`,
      );
    };

    it('the form in the documentation sends a request that the account of a signed-in visitor pays for, with the keyboard alone', async () => {
      const { page, complaints } = await visit(browser, server.url);
      await signUp(page);
      await page.goto('/docs#try-it');
      await expect.poll(() => price(page).textContent()).toBe('1 credit. You have 100 left.');
      await tabTo(page, page.getByLabel('text', { exact: true }));
      await page.keyboard.type('From the docs');
      await page.keyboard.press('Enter');
      expect(await imageSize(page)).toEqual([1_080, 1_920]);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Response 200');
      for (const header of ['content-typeimage/png', 'x-credits-charged1', 'x-credits-remaining99', 'x-render-id'])
        expect(await headers(page).textContent()).toContain(header);
      await expect.poll(() => price(page).textContent()).toBe('1 credit. You have 99 left.');
      await page.getByText('Code for this request').click();
      expect(await page.locator('[data-snippets="try-it"] [data-language="curl"]').textContent()).toContain(
        "--form-string 'text=From the docs'",
      );
      expect(await lookFaults(page, false)).toEqual([]);
      const scripts = `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;
      expect(await page.evaluate(scripts)).toBeGreaterThan(1_000);
      expect(await page.evaluate(scripts)).toBeLessThan(60_000);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('the form in the documentation shows a visitor what is wrong with a request, and accepts a key without storing it', async () => {
      const { page } = await visit(browser, server.url);
      await page.goto('/docs/quickstart');
      const send = async (): Promise<void> => await page.getByRole('button', { name: 'Send request' }).click();
      const body = page.locator('[data-body]');
      await expect.poll(() => price(page).textContent()).toContain('Free, with a watermark');
      await page.getByLabel('position', { exact: true }).fill('101');
      await send();
      await page.getByRole('alert').getByText('Position must be between 0 and 100; got 101.').waitFor();
      expect(JSON.parse((await body.textContent()) ?? '')).toMatchObject({ status: 400, code: 'invalid_fields' });
      expect(await page.locator('[aria-invalid]').getAttribute('name')).toBe('position');
      expect(await page.locator('[data-error-link]').getAttribute('href')).toBe('/docs/errors#invalid_fields');
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByLabel('position', { exact: true }).fill('40');
      expect(await page.locator('[aria-invalid]').count()).toBe(0);
      expect(await page.getByRole('alert').isVisible()).toBe(false);
      await page.getByLabel('asset', { exact: true }).selectOption('None: overlay only');
      const key = page.getByLabel('x-api-key');
      await key.fill('sb_live_wrong');
      await send();
      await expect.poll(() => body.textContent()).toContain('"code": "invalid_api_key"');
      await key.fill(server.key);
      expect(await price(page).textContent()).toBe('1 credit.');
      await send();
      expect(await imageSize(page)).toEqual([720, 1_280]);
      expect(await headers(page).textContent()).toContain('x-credits-charged1');
      const kept = 'document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }])';
      expect(await page.evaluate(kept)).not.toContain(server.key);
      await page.context().close();
    });
  });

  describe('are protected from other sites', () => {
    /**
     * The host is the same and the port differs, so the browser sends our cookie, and only the server can reject the
     * request.
     */
    const visitForeignSite = async (page: Page, html: string): Promise<void> => {
      foreignSite.show(html);
      await page.goto(foreignSite.origin);
    };

    it('another site cannot send our forms', async () => {
      const { page } = await visit(browser, server.url);
      await signUp(page);
      const token = (await page.locator('input[name=token]').first().getAttribute('value')) ?? '';
      await visitForeignSite(
        page,
        `<form method="post" action="${server.url}/dashboard/keys"><input name="token" value="${token}">
         <input name="name" value="stolen"><button>Win a prize</button></form>`,
      );
      const [response] = await Promise.all([
        page.waitForResponse(`${server.url}/dashboard/keys`),
        page.getByRole('button').click(),
      ]);
      expect(response.status()).toBe(403);
      await page.getByText('This form was sent from another site.').waitFor();
      await page.goto('/dashboard/keys');
      expect(await page.getByText('stolen').count()).toBe(0);
      await page.context().close();
    });

    it('another site cannot embed our pages', async () => {
      const { page } = await visit(browser, server.url);
      await signUp(page);
      await visitForeignSite(page, `<iframe src="${server.url}/dashboard/keys"></iframe>`);
      await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/u);
      await page.context().close();
    });

    it('another site can read the response to a render only with a key that lists its origin', async () => {
      const { page } = await visit(browser, server.url);
      await signUp(page);
      const allowed = await createKey(page, 'page', foreignSite.origin);
      const serverOnly = await createKey(page, 'server');
      const other = await createKey(page, 'other', 'https://shop.example');
      await visitForeignSite(page, '');
      const render = async (key: string): Promise<unknown> =>
        await page.evaluate(`(async () => {
          const body = new FormData();
          for (const [name, value] of Object.entries({ width: '32', height: '32', text: 'a' })) body.set(name, value);
          const headers = { 'x-api-key': '${key}', 'idempotency-key': crypto.randomUUID?.() ?? String(Math.random()) };
          const response = await fetch('${server.url}/v1/overlay', { method: 'POST', body, headers });
          return [response.status, response.headers.has('x-render-id'), response.headers.get('x-credits-remaining')];
        })().catch((error) => error.name)`);
      expect(await render(allowed)).toEqual([200, true, '99']);
      expect(await render(serverOnly)).toBe('TypeError');
      expect(await render(other)).toBe('TypeError');
      await page.context().close();
    });
  });
});
