// Public pages in a real browser: accessible in light and dark mode, without console errors or third-party requests,
// on a narrow screen, and without JavaScript.

import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { accessibilityFaults, launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();
/** One page of each template. looks.slow.test.ts has the others. */
const PATHS = ['/', '/playground', '/docs/quickstart', '/pricing', '/status'];

/** Runs in the page: the words inside code that lie on more than one line. */
const BROKEN_WORDS = `[...document.querySelectorAll('article :not(pre) > code')].flatMap((code) => {
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z0-9]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(code.textContent);
    }
  }
  return broken;
})`;

describe.skipIf('reason' in found)(`public pages${whySkipped(found)}`, () => {
  let server: SharedServer;
  let browser: Browser;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await sharedServer();
  });
  afterAll(async () => {
    await browser.close();
  });

  it.each(PATHS)('%s is accessible and fits every screen in light and dark mode', async (path) => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto(path, { waitUntil: 'load' });
    expect(await lookFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each(['/', '/playground', '/docs'])('%s hardly moves while its files arrive one after the other', async (path) => {
    const { page } = await visit(browser, server.url, { viewport: { width: 390, height: 844 } });
    await page.addInitScript(`window.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    // The page loads as on a slow connection: the page, styles and scripts, then everything else file by file, painted
    // in between.
    let previous: Promise<unknown> = Promise.resolve();
    await page.route('**/*', async (route) => {
      if (['document', 'stylesheet'].includes(route.request().resourceType())) return await route.continue();
      previous = previous.then(async () => {
        const response = await route.fetch();
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        await route.fulfill({ response });
      });
      return await previous;
    });
    await page.goto(path, { waitUntil: 'load' });
    await expect.poll(() => page.evaluate('document.fonts.status')).toBe('loaded');
    await page.unrouteAll({ behavior: 'wait' });
    expect(await page.evaluate('window.shift')).toBeLessThan(0.05);
    await page.context().close();
  });

  it('an unknown path shows an accessible error page', async () => {
    const { page } = await visit(browser, server.url);
    const response = await page.goto('/nowhere');
    expect(response?.status()).toBe(404);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().close();
  });

  it('an address of the API that is opened in a tab shows a page with the request to send', async () => {
    const { page } = await visit(browser, server.url);
    const response = await page.goto('/v1/overlay');
    expect(response?.status()).toBe(405);
    expect(await page.locator('.code').textContent()).toContain(`curl ${server.url}/v1/overlay`);
    expect(await lookFaults(page)).toEqual([]);
    expect((await page.goto('/v1/renders'))?.status()).toBe(401);
    expect(await page.locator('.code').count()).toBe(0);
    await page.context().close();
  });

  it('the front page shows sample overlays and renders the caption that a visitor types', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/');
    const overlay = page.locator('.hero .frame .overlay');
    expect(await overlay.getAttribute('src')).toMatch(/^\/assets\/.*\/samples\/hero\.png$/u);
    for (const frame of await page.locator('.frame:visible').all()) {
      await frame.scrollIntoViewIfNeeded();
    }
    const unloaded = `[...document.querySelectorAll('.frame img')].filter((img) => img.naturalWidth === 0).length`;
    await expect.poll(() => page.evaluate(unloaded)).toBe(0);
    await page.getByLabel('Try a caption').fill('مرحبا 👋');
    await expect.poll(() => overlay.getAttribute('src')).toMatch(/^blob:/u);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the front page compares before and after with a slider, which the keyboard moves, too', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/');
    const slider = page.getByRole('slider', { name: 'Before and after' });
    await slider.focus();
    const shown = async (): Promise<string> =>
      await page
        .locator('.compare .overlay')
        .evaluate((image) => image.ownerDocument.defaultView?.getComputedStyle(image).clipPath ?? '');
    const before = await shown();
    await slider.press('End');
    expect(await shown()).toBe('inset(0px 0px 0px 100%)');
    expect(before).not.toBe(await shown());
    await slider.press('Home');
    expect(await slider.getAttribute('aria-valuetext')).toBe('100 percent captioned');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the pricing page calculates the credits of a month and names the first plan that has them', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/pricing');
    const output = page.locator('[data-calculator] output');
    const amount = async (label: string, value: string): Promise<void> =>
      await page.getByLabel(label, { exact: true }).fill(value);
    await amount('Images', '40');
    await amount('Videos', '5');
    await amount('Seconds per video', '60');
    // A started 5 seconds of video cost 1 credit: 40 + 5 x 12.
    expect(await output.textContent()).toBe('100 credits per month: Free is enough.');
    await amount('Seconds per video', '61');
    expect(await output.textContent()).toBe('105 credits per month: Starter is enough.');
    await amount('Images', '1000000');
    expect(await output.textContent()).toBe('1,000,065 credits per month: more than any plan has.');
    await amount('Videos', '');
    expect(await output.textContent()).toContain('1,000,000 credits');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the docs and the front page work without JavaScript, and the playground says that it doesn’t', async () => {
    const { page } = await visit(browser, server.url, { javaScriptEnabled: false });
    await page.goto('/docs');
    const python = page.locator('[data-snippets="one-caption-on-a-photo"] [data-language="python"]');
    expect(await python.isVisible()).toBe(false);
    await page.locator('label[for="tab-one-caption-on-a-photo-python"]').click();
    await expect.poll(() => python.isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.goto('/');
    expect(await page.getByLabel('Try a caption').isVisible()).toBe(false);
    await page.goto('/playground');
    expect(await page.locator('noscript p').isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Render', exact: true }).isVisible()).toBe(false);
    await page.context().close();
  });

  it('dark mode has no large light areas, and light mode is light', async () => {
    const { page } = await visit(browser, server.url, { viewport: { width: 1_440, height: 900 } });
    await page.goto('/dev/components');
    const lightShare = async (colorScheme: 'light' | 'dark'): Promise<number> => {
      await page.emulateMedia({ colorScheme });
      const photo = await page.screenshot({ fullPage: true });
      const { data } = await sharp(photo).greyscale().raw().toBuffer({ resolveWithObject: true });
      return data.filter((value) => value > 160).length / data.length;
    };
    expect(await lightShare('dark')).toBeLessThan(0.03);
    expect(await lightShare('light')).toBeGreaterThan(0.8);
    await page.context().close();
  });

  it('the search finds a section, and the chosen language is remembered on the next page', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/docs');
    await page.locator('label[for="tab-video-python"]').click();
    expect(await page.locator('[data-snippets="one-caption-on-a-photo"] [data-language="python"]').isVisible()).toBe(
      true,
    );
    await page.keyboard.press('/');
    await page.keyboard.type('idempotent retries');
    await page.locator('[data-search-results] a').first().click();
    await page.waitForURL(/#idempoten/u);
    await page.goto('/');
    await expect
      .poll(() => page.locator('[data-snippets="integration"] [data-language="python"]').isVisible())
      .toBe(true);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each(['/docs', '/docs/errors', '/docs/configuration'])('%s breaks no name inside a word', async (path) => {
    const { page } = await visit(browser, server.url);
    await page.goto(path);
    for (const width of [1_440, 820, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await page.evaluate<string[]>(BROKEN_WORDS)]).toEqual([width, []]);
    }
    await page.context().close();
  });

  it('the search works with the keyboard alone', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/docs/limits');
    await page.locator('#search:enabled').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('verify webhook');
    const results = page.locator('[data-search-results] a');
    await results.nth(1).waitFor();
    const focused = async (): Promise<string | null> =>
      await page.evaluate<string | null>('document.activeElement.getAttribute("href")');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe(await results.nth(0).getAttribute('href'));
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe(await results.nth(1).getAttribute('href'));
    for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowUp');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('search');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/webhooks#verify-them');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the search leads on when it finds nothing, and corrects what it can', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/docs/quickstart');
    await page.locator('#search').fill('xyzzyplugh');
    const hint = page.locator('[data-search-hint]');
    await hint.waitFor();
    expect(await hint.locator('a').count()).toBeGreaterThan(2);
    await page.locator('#search').fill('webhok signature');
    await page.locator('[data-search-results] a').first().waitFor();
    expect(await page.locator('[data-search-status]').textContent()).toMatch(/for “webhook signature”$/u);
    expect(await hint.isVisible()).toBe(false);
    expect(await lookFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each(['/', '/playground'])(
    '%s weighs less than 600 KB without clips, and its scripts less than 60 KB',
    async (path) => {
      const { page } = await visit(browser, server.url);
      const session = await page.context().newCDPSession(page);
      await session.send('Network.enable');
      const urls = new Map<string, string>();
      const sums = { all: 0, scripts: 0 };
      session.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url));
      session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        const url = urls.get(requestId) ?? '';
        if (!url.endsWith('.mp4')) sums.all += encodedDataLength;
        if (url.endsWith('.js')) sums.scripts += encodedDataLength;
      });
      await page.goto(path, { waitUntil: 'load' });
      for (const frame of await page.locator('.frame:visible').all()) await frame.scrollIntoViewIfNeeded();
      await expect.poll(() => page.evaluate('[...document.images].every(({ complete }) => complete)')).toBe(true);
      await expect.poll(() => sums.all).toBeGreaterThan(200_000);
      expect(sums.all).toBeLessThan(600_000);
      expect(sums.scripts).toBeLessThan(60_000);
      await page.context().close();
    },
  );

  it('the link in an error leads to its row in the docs', async () => {
    const { page } = await visit(browser, server.url);
    await page.goto('/docs/errors#rate_limited');
    const row = page.locator('tr:target');
    expect(await row.textContent()).toContain('Too many requests');
    await page.context().close();
  });
});
