// The playground in a real browser: with mouse, keyboard and touch, in several scripts and on a phone.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { decode, plainPng } from '../pictures.ts';
import { form, post } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { priceOfFile, pricedClips, pricedSamples } from '../video/priced-clips.ts';
import { accessibilityFaults, launchBrowser, type Visit, whySkipped } from './browser.ts';
import { EXAMPLES, playgroundParts, visitPlayground } from './playground-page.ts';

const found = await launchBrowser();
/** Runs in the page and compares images as drawn, because the content security policy forbids fetching blob URLs. */
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
  return one.reduce((max, value, index) => Math.max(max, Math.abs(value - other[index])), 0);
}`;

describe.skipIf('reason' in found)(`the playground${whySkipped(found)}`, () => {
  let server: SharedServer;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    server = await sharedServer();
  });
  // A video that keeps playing would slow down the tests after it.
  afterEach(() => page.context().close());
  afterAll(async () => {
    if ('browser' in found) await found.browser.close();
  });

  const open = async (options = {}): Promise<void> => {
    visited = await visitPlayground(found, server.url, options);
    page = visited.page;
  };
  const { handle, caption, position, snippet, settled } = playgroundParts(() => page);
  const overlay = (): Locator => page.locator('img[data-overlay]');
  /** Runs `act` and waits until the stage shows the new overlay. */
  const afterPreview = async (act: () => Promise<unknown>): Promise<void> => {
    const before = await overlay().getAttribute('src');
    await act();
    await expect.poll(() => overlay().getAttribute('src')).not.toBe(before);
    await settled();
  };
  const testKey = async (): Promise<{ url: string; key: string }> => {
    const created = await server.cli('keys', 'create', '--plan', 'free', '--test', '--json');
    return { url: server.url, key: (JSON.parse(created) as { key: string }).key };
  };
  const overlaySize = async (): Promise<unknown> =>
    await page.evaluate(
      `(({ naturalWidth: width, naturalHeight: height }) => ({ width, height }))(document.querySelector('img[data-overlay]'))`,
    );
  /** Returns the largest difference in any channel between two stacks of images, each drawn by the browser on gray. */
  const difference = async (one: readonly string[], other: readonly string[]): Promise<number> =>
    await page.evaluate<number>(`(${COMPARE})(${JSON.stringify([one, other])})`);
  const sourceOf = async (selector: string): Promise<string> =>
    (await page.locator(selector).getAttribute('src')) ?? '';

  it('the playground drags a bar, and the preview matches the API with a test key pixel for pixel', async () => {
    await open();
    const box = await handle(1).boundingBox();
    if (box === null) throw new Error('the handle is not visible');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    // Alt ignores the guides.
    await page.keyboard.down('Alt');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 60, { steps: 6 });
    await expect.poll(() => page.locator('canvas[data-moving]').isVisible()).toBe(true);
    await afterPreview(() => page.mouse.up());
    await page.keyboard.up('Alt');
    const dropped = Number(await position(1).inputValue());
    expect(dropped).toBeGreaterThan(52);
    expect(dropped).toBeLessThan(75);
    const overlays = JSON.stringify([{ text: await caption(1).inputValue(), position: dropped }]);
    // The photo has 1080x1920 pixels. Previews are scaled to a longer side of 1280.
    expect(await overlaySize()).toEqual({ width: 720, height: 1280 });
    const response = await post(await testKey(), form({ width: '720', height: '1280', overlays }));
    expect(response.status).toBe(200);
    const rendered = `data:image/png;base64,${Buffer.from(await response.arrayBuffer()).toString('base64')}`;
    expect(await difference([await sourceOf('img[data-overlay]')], [rendered])).toBe(0);
    const moved = await handle(1).boundingBox();
    expect(Math.abs((moved?.y ?? 0) - box.y - 60)).toBeLessThan(2);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground works with the keyboard only', async () => {
    await open();
    await handle(1).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await afterPreview(() => page.keyboard.press('PageDown'));
    expect(Number(await position(1).inputValue())).toBeCloseTo(66, 0);
    await expect.poll(() => handle(1).getAttribute('aria-valuenow')).toBe('66');
    await afterPreview(() => page.keyboard.press('Home'));
    await expect.poll(() => position(1).inputValue()).toBe('0');
    await page.getByRole('button', { name: 'Add caption' }).focus();
    await page.keyboard.press('Enter');
    // The new caption already has the focus.
    await afterPreview(() => page.keyboard.type('By keyboard'));
    await expect.poll(() => handle(2).getAttribute('aria-label')).toBe('Caption bar 2: By keyboard');
    await page.getByRole('button', { name: 'Remove caption 2' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => handle(2).count()).toBe(0);
    expect(await caption(1).evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Render', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    expect(visited.complaints).toEqual([]);
  });

  it('the playground accepts right-to-left text and emoji, and reports unsupported characters', async () => {
    await open();
    await afterPreview(() => caption(1).fill('شروق الشمس ☀️ 👨‍👩‍👧‍👦'));
    await expect.poll(() => page.locator('[data-count]').first().textContent()).toBe('14 / 180');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('[data-text]')).direction`)).toBe('rtl');
    expect(await page.getByRole('status').textContent()).toBe('');
    await afterPreview(() => caption(1).fill('a \u{f0000} b'));
    await expect
      .poll(() => page.getByRole('status').textContent())
      .toBe("1 character isn't supported and will appear as a box.");
    expect(await snippet('typescript')).toContain("'a \u{f0000} b'");
    expect(visited.complaints).toEqual([]);
  });

  it('renders an image without a key exactly as previewed, watermark included, and shows the response headers', async () => {
    await open();
    const photo = await plainPng(300, 400, '#88aa44');
    await afterPreview(() =>
      page.locator('[data-file]').setInputFiles({ name: 'my photo.png', mimeType: 'image/png', buffer: photo }),
    );
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    const link = page.getByRole('link', { name: 'Download' });
    await link.waitFor();
    await expect.poll(() => link.getAttribute('download')).toBe('my photo-captioned.png');
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    const { width, height } = await decode(readFileSync(await download.path()));
    expect({ width, height }).toEqual({ width: 300, height: 400 });
    const preview = [await sourceOf('[data-media] img'), await sourceOf('img[data-overlay]')];
    // The browser blends premultiplied colors, so its rounding may differ by one.
    expect(await difference(preview, [await sourceOf('[data-result-media] img.after')])).toBeLessThanOrEqual(1);
    const headers = await page.locator('[data-headers]').textContent();
    expect(headers).toMatch(/x-render-duration-ms\d+/u);
    expect(headers).toContain('server-timing');
    expect(await snippet('curl')).toContain("'asset=@my photo.png'");
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground applies the EXIF orientation of a photo, with an overlay of the rotated size', async () => {
    await open();
    const rotated = await sharp(await plainPng(200, 100, '#336699'))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    await afterPreview(() =>
      page.locator('[data-file]').setInputFiles({ name: 'phone.jpg', mimeType: 'image/jpeg', buffer: rotated }),
    );
    expect(await overlaySize()).toEqual({ width: 100, height: 200 });
  });

  it('previews a video and renders it with an API key', async () => {
    await open();
    await afterPreview(() => page.locator('[data-file]').setInputFiles(path.join(EXAMPLES, 'clip.mp4')));
    expect(await overlaySize()).toEqual({ width: 540, height: 960 });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator('summary', { hasText: 'API key' }).click();
    await page.locator('[data-key]').fill(server.key);
    await expect.poll(() => page.locator('[data-price]').textContent()).toMatch(/^\d\.\d s = 1 credit\.$/u);
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await page.locator('[data-result-media] video.after').waitFor();
    await expect.poll(() => page.locator('[data-headers]').textContent()).toContain('video/mp4');
    // The key isn't stored in the document or in local storage.
    expect(
      await page.evaluate('document.documentElement.outerHTML + JSON.stringify({ ...localStorage })'),
    ).not.toContain(server.key);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground shows the price that a render of the video costs', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-prices-'));
    try {
      await open();
      await page.locator('summary', { hasText: 'API key' }).click();
      await page.locator('[data-key]').fill(server.key);
      const video = page.locator('[data-media] video');
      const differences: string[] = [];
      let before: string | null = null;
      for (const file of [...pricedClips(folder), ...pricedSamples()]) {
        await page.locator('[data-file]').setInputFiles(file);
        await expect.poll(() => video.getAttribute('src')).not.toBe(before);
        before = await video.getAttribute('src');
        const charged = priceOfFile(file);
        const shown = await page.locator('[data-price]').textContent();
        if (!shown?.endsWith(` s = ${charged} ${charged === 1 ? 'credit' : 'credits'}.`)) {
          differences.push(`${path.basename(file)}: ${shown} Charged ${charged}.`);
        }
      }
      expect(differences).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('the playground offers times and subtitles for a video only, and the code contains them', async () => {
    await open();
    expect(await page.getByLabel('Start of caption 1 in seconds').isVisible()).toBe(false);
    await afterPreview(() => page.locator('[data-file]').setInputFiles(path.join(EXAMPLES, 'clip.mp4')));
    await page.getByLabel('Start of caption 1 in seconds').fill('1.5');
    await page.getByLabel('End of caption 1 in seconds').fill('2');
    await expect.poll(async () => await snippet('curl')).toContain('"start":1.5,"end":2');
    await page.locator('summary', { hasText: 'Subtitles' }).click();
    await page.locator('[data-captions-file]').setInputFiles(path.join(EXAMPLES, 'subtitles.srt'));
    await expect.poll(async () => await snippet('curl')).toContain('captions=1\n00:00:00,000 --> 00:00:01,500');
    expect(await snippet('curl')).not.toContain('overlays=');
    expect(visited.complaints).toEqual([]);
  });

  it('shows the pages of a transcript on the timeline, has looks for words, and lets a word be edited', async () => {
    await open();
    await afterPreview(() => page.locator('[data-file]').setInputFiles(path.join(EXAMPLES, 'clip.mp4')));
    expect(await page.getByLabel('Highlight').isDisabled()).toBe(true);
    const words = ['Hello', 'there,', 'frend.'].map((word, at) => ({ word, start: at / 4, end: at / 4 + 0.2 }));
    const transcript = {
      name: 'transcript.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ words })),
    };
    await page.locator('summary', { hasText: 'Subtitles' }).click();
    const chooser = page.waitForEvent('filechooser');
    await page.locator('[data-captions-file]').press('Enter');
    await (await chooser).setFiles(transcript);
    const shownPages = page.locator('.cues .span');
    await expect.poll(() => shownPages.allTextContents()).toEqual(['Hello there, frend.']);
    await page.getByRole('button', { name: 'Pop' }).click();
    await page.getByLabel('Words per page').fill('2');
    await expect.poll(() => shownPages.allTextContents()).toEqual(['Hello there,', 'frend.']);
    await expect.poll(async () => await snippet('curl')).toContain('"highlight":"pop"');
    await expect.poll(async () => await snippet('curl')).toContain('max_words=2');
    expect(await caption(1).isVisible()).toBe(false);
    await shownPages.nth(1).click();
    const renders: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/render')) renders.push(request.url());
    });
    await page.getByLabel('Word 1 of page 2').fill('friend.');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('[data-captions]').inputValue()).toContain('<00:00:00.250>');
    await expect.poll(() => shownPages.allTextContents()).toEqual(['Hello there,', 'friend.']);
    expect(renders).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => shownPages.allTextContents()).toEqual(['Hello there,', 'frend.']);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(visited.complaints).toEqual([]);
  });

  it('copies the code in every language', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await afterPreview(() => caption(1).fill("It's 5 o'clock"));
    for (const language of ['curl', 'typescript', 'python', 'n8n']) {
      const label = page.locator(`label[for="tab-playground-${language}"]`);
      await label.click();
      const panel = page.locator(`.panel[data-language="${language}"]`);
      await panel.getByRole('button', { name: 'Copy' }).click();
      await expect.poll(() => panel.getByRole('button').textContent()).toBe('Copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await snippet(language));
    }
    expect(visited.complaints).toEqual([]);
  });

  it('the playground allows at most ten captions', async () => {
    await open();
    const add = page.getByRole('button', { name: 'Add caption' });
    for (let number = 2; number <= 10; number += 1) await add.click();
    expect(await add.isDisabled()).toBe(true);
    for (let number = 2; number < 10; number += 1) await caption(number).fill(`Caption ${number}`);
    await afterPreview(() => caption(10).fill('Caption 10'));
    await expect.poll(() => page.getByRole('slider').count()).toBe(10);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground reports a caption that is too long at its field instead of sending it, and says how to add a first one', async () => {
    await open();
    let renders = 0;
    page.on('request', (request) => (renders += request.url().endsWith('/render') ? 1 : 0));
    await caption(1).fill('a'.repeat(181));
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    expect(
      await caption(1).evaluate((field) => (field as unknown as { validationMessage: string }).validationMessage),
    ).toBe('Captions can have up to 180 characters.');
    expect(await caption(1).evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await caption(1).fill('a'.repeat(180));
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    expect(renders).toBe(1);
    const hint = page.getByText('No captions. Add one');
    expect(await hint.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Remove caption 1' }).click();
    await expect.poll(() => hint.isVisible()).toBe(true);
  });

  it('the playground works on a phone with touch', async () => {
    await open({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const box = await handle(1).boundingBox();
    if (box === null) throw new Error('the handle is not visible');
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

  it('the playground shows the error of the server for a file that the browser cannot open either', async () => {
    await open();
    const buffer = Buffer.from('hello');
    await page.locator('[data-file]').setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer });
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/JPEG, PNG/u);
  });
});
