// The playground, used by a visitor: with the mouse, with the keyboard alone, in several scripts and on a phone.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { decode, plainPng } from '../pictures.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';
import { accessibilityFaults, launchBrowser, visit, type Visit, whySkipped } from './browser.ts';

const found = await launchBrowser();
/** Runs in the page, whose policy lets nobody fetch what a picture shows: so pictures are compared as they are drawn. */
const COMPARE = `async (stacks) => {
  const [one, other] = await Promise.all(stacks.map(async (sources) => {
    const images = sources.map((src) => Object.assign(new Image(), { src }));
    await Promise.all(images.map((image) => image.decode()));
    const canvas = new OffscreenCanvas(images[0].naturalWidth, images[0].naturalHeight);
    const context = canvas.getContext('2d');
    context.fillStyle = '#888';
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (const image of images) context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
  }));
  if (one.length !== other.length) return 255;
  return one.reduce((most, value, index) => Math.max(most, Math.abs(value - other[index])), 0);
}`;
const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');

/** A busy machine takes its time; what never comes still fails. */
const PATIENCE = { timeout: 30_000 } as const;

describe.skipIf('reason' in found)(`the playground${whySkipped(found)}`, { timeout: 120_000 }, () => {
  let server: RunningServer;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    server = await startServer({ STORYBAR_WORKERS: '2' });
  });
  // A clip that goes on playing would take the machine's time from the tests after it.
  afterEach(() => page.context().close());
  afterAll(async () => {
    if ('browser' in found) await found.browser.close();
    await server.stop();
  });

  const open = async (options = {}): Promise<void> => {
    if ('reason' in found) throw new Error(found.reason);
    visited = await visit(found.browser, server.url, options);
    page = visited.page;
    await page.goto('/playground');
    await handle(1).waitFor();
  };
  const handle = (number: number): Locator => page.getByRole('slider', { name: `Bar ${number}:` });
  const overlay = (): Locator => page.locator('img[data-overlay]');
  const caption = (number: number): Locator => page.getByLabel(`Caption ${number}`);
  const position = (number: number): Locator => page.getByLabel(`Position of bar ${number}`);
  const snippet = async (language: string): Promise<string> =>
    (await page.locator(`[data-language="${language}"] code`).textContent()) ?? '';
  /** Does something, and waits until the server's overlay for it is on the stage. */
  const afterPreview = async (act: () => Promise<unknown>): Promise<void> => {
    const before = await overlay().getAttribute('src');
    await act();
    await expect.poll(() => overlay().getAttribute('src'), PATIENCE).not.toBe(before);
    await expect.poll(() => page.locator('[data-stage]').getAttribute('aria-busy'), PATIENCE).toBe('false');
  };
  const overlaySize = async (): Promise<unknown> =>
    await page.evaluate(
      `(({ naturalWidth: width, naturalHeight: height }) => ({ width, height }))(document.querySelector('img[data-overlay]'))`,
    );
  /** The largest difference of any channel between two stacks of pictures, each drawn by the browser on grey. */
  const difference = async (one: readonly string[], other: readonly string[]): Promise<number> =>
    await page.evaluate<number>(`(${COMPARE})(${JSON.stringify([one, other])})`);
  const sourceOf = async (selector: string): Promise<string> =>
    (await page.locator(selector).getAttribute('src')) ?? '';

  it('drags a bar; the preview is what the API answers for that position, to the pixel', async () => {
    await open();
    const box = await handle(1).boundingBox();
    if (box === null) throw new Error('the handle is nowhere');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 60, { steps: 6 });
    expect(await page.locator('canvas[data-moving]').isVisible()).toBe(true);
    await afterPreview(() => page.mouse.up());
    const placed = Number(await position(1).inputValue());
    expect(placed).toBeGreaterThan(52);
    expect(placed).toBeLessThan(75);
    const overlays = JSON.stringify([{ text: await caption(1).inputValue(), position: placed }]);
    const answer = await post(server, form({ width: '1080', height: '1920', overlays }));
    expect(answer.status).toBe(200);
    const baked = `data:image/png;base64,${Buffer.from(await answer.arrayBuffer()).toString('base64')}`;
    expect(await difference([await sourceOf('img[data-overlay]')], [baked])).toBe(0);
    const moved = await handle(1).boundingBox();
    expect(Math.abs((moved?.y ?? 0) - box.y - 60)).toBeLessThan(2);
    expect(visited.complaints).toEqual([]);
  });

  it('works with the keyboard alone', async () => {
    await open();
    await handle(1).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await afterPreview(() => page.keyboard.press('PageDown'));
    expect(Number(await position(1).inputValue())).toBeCloseTo(66, 0);
    expect(await handle(1).getAttribute('aria-valuenow')).toBe('66');
    await afterPreview(() => page.keyboard.press('Home'));
    expect(await position(1).inputValue()).toBe('0');
    await page.getByRole('button', { name: 'Add a bar' }).focus();
    await page.keyboard.press('Enter');
    // The new caption has the focus already.
    await afterPreview(() => page.keyboard.type('By keyboard'));
    expect(await handle(2).getAttribute('aria-label')).toBe('Bar 2: By keyboard');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => handle(2).count(), PATIENCE).toBe(0);
    await page.getByRole('button', { name: 'Render', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The file' }).waitFor();
    expect(visited.complaints).toEqual([]);
  });

  it('takes right-to-left text and emoji, and says what has no font', async () => {
    await open();
    await afterPreview(() => caption(1).fill('شروق الشمس ☀️ 👨‍👩‍👧‍👦'));
    expect(await page.locator('[data-count]').first().textContent()).toBe('14 / 180');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('[data-text]')).direction`)).toBe('rtl');
    expect(await page.getByRole('status').textContent()).toBe('');
    await afterPreview(() => caption(1).fill('a \u{f0000} b'));
    expect(await page.getByRole('status').textContent()).toBe('1 character has no font and will show as a box.');
    expect(await snippet('javascript')).toContain("'a \u{f0000} b'");
    expect(visited.complaints).toEqual([]);
  });

  it('renders the file without a key, as the preview showed it, and shows what the server said', async () => {
    await open();
    const photo = await plainPng(300, 400, '#88aa44');
    await afterPreview(() =>
      page.locator('[data-file]').setInputFiles({ name: 'my photo.png', mimeType: 'image/png', buffer: photo }),
    );
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    const link = page.getByRole('link', { name: 'Download' });
    await link.waitFor();
    expect(await link.getAttribute('download')).toBe('my photo-captioned.png');
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    const { width, height } = await decode(readFileSync(await download.path()));
    expect({ width, height }).toEqual({ width: 300, height: 400 });
    const preview = [await sourceOf('[data-media] img'), await sourceOf('img[data-overlay]')];
    // The browser blends with premultiplied colors, so it may round differently, by one.
    expect(await difference(preview, [await sourceOf('[data-result-media] img')])).toBeLessThanOrEqual(1);
    const headers = await page.locator('[data-headers]').textContent();
    expect(headers).toMatch(/x-render-duration-ms\d+/u);
    expect(headers).toContain('server-timing');
    expect(await snippet('curl')).toContain("'asset=@my photo.png'");
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(visited.complaints).toEqual([]);
  });

  it('shows a photo that lies on its side upright, with an overlay of that size', async () => {
    await open();
    const turned = await sharp(await plainPng(200, 100, '#336699'))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    await afterPreview(() =>
      page.locator('[data-file]').setInputFiles({ name: 'phone.jpg', mimeType: 'image/jpeg', buffer: turned }),
    );
    expect(await overlaySize()).toEqual({ width: 100, height: 200 });
  });

  it('previews a video, and renders it with a key', async () => {
    await open();
    await afterPreview(() => page.locator('[data-file]').setInputFiles(path.join(EXAMPLES, 'clip.mp4')));
    expect(await overlaySize()).toEqual({ width: 540, height: 960 });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await expect
      .poll(() => page.getByRole('alert').textContent(), PATIENCE)
      .toBe('A video needs an API key. Photos do not.');
    await page.getByLabel('API key').fill(server.key);
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await page.locator('[data-result-media] video').waitFor({ timeout: 90_000 });
    expect(await page.locator('[data-headers]').textContent()).toContain('video/mp4');
    // The key is nowhere but in its field.
    expect(
      await page.evaluate('document.documentElement.outerHTML + JSON.stringify({ ...localStorage })'),
    ).not.toContain(server.key);
    expect(visited.complaints).toEqual([]);
  });

  it('copies the call in every language', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await afterPreview(() => caption(1).fill("It's 5 o'clock"));
    for (const language of ['curl', 'javascript', 'python', 'n8n']) {
      const label = page.locator(`label[for="tab-playground-${language}"]`);
      await label.click();
      const panel = page.locator(`.panel[data-language="${language}"]`);
      await panel.getByRole('button', { name: 'Copy' }).click();
      await expect.poll(() => panel.getByRole('button').textContent(), PATIENCE).toBe('Copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await snippet(language));
    }
    expect(visited.complaints).toEqual([]);
  });

  it('takes no more than ten bars', async () => {
    await open();
    const add = page.getByRole('button', { name: 'Add a bar' });
    for (let bar = 2; bar <= 10; bar += 1) await add.click();
    expect(await add.isDisabled()).toBe(true);
    for (let bar = 2; bar < 10; bar += 1) await caption(bar).fill(`Bar ${bar}`);
    await afterPreview(() => caption(10).fill('Bar 10'));
    await expect.poll(() => page.getByRole('slider').count(), PATIENCE).toBe(10);
    expect(visited.complaints).toEqual([]);
  });

  it('works on a phone, by touch', async () => {
    await open({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const box = await handle(1).boundingBox();
    if (box === null) throw new Error('the handle is nowhere');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const touch = await page.context().newCDPSession(page);
    const send = (type: string, points: { x: number; y: number }[]) =>
      touch.send('Input.dispatchTouchEvent', { type: type as 'touchStart', touchPoints: points });
    await send('touchStart', [{ x, y }]);
    for (let step = 1; step <= 6; step += 1) await send('touchMove', [{ x, y: y - step * 10 }]);
    await afterPreview(() => send('touchEnd', []));
    expect(Number(await position(1).inputValue())).toBeLessThan(48);
    expect(visited.complaints).toEqual([]);
  });

  it('says when a file is none it can show', async () => {
    await open();
    const buffer = Buffer.from('hello');
    await page.locator('[data-file]').setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer });
    await expect
      .poll(() => page.getByRole('status').textContent(), PATIENCE)
      .toBe('This browser cannot open the file as a picture or video.');
  });
});
