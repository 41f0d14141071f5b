// The playground as an editor, in a real browser: typing on the image, snapping, undo, order, overlay only, work that
// survives a reload, links, videos with a timeline, and the payer.

import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { plainPng } from '../pictures.ts';
import { PASSWORD } from '../site/visitor.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { accessibilityFaults, launchBrowser, lookFaults, visit, type Visit, whySkipped } from './browser.ts';
import { playgroundParts, visitPlayground } from './playground-page.ts';

const found = await launchBrowser();

describe.skipIf('reason' in found)(`the playground editor${whySkipped(found)}`, () => {
  let server: SharedServer;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    server = await sharedServer();
  });
  afterEach(async () => {
    await page.context().close();
  });
  afterAll(async () => {
    if ('browser' in found) await found.browser.close();
  });

  const { handle, caption, position, snippet, settled, openClip } = playgroundParts(() => page);
  const curl = async (): Promise<string> => await snippet('curl');
  const open = async (options = {}): Promise<void> => {
    visited = await visitPlayground(found, server.url, { viewport: { width: 1_440, height: 900 }, ...options });
    page = visited.page;
  };
  const render = (): Locator => page.getByRole('button', { name: 'Render', exact: true });

  it('the playground editor shows everything that matters without scrolling at 1440x900, with captions and code side by side', async () => {
    await open();
    const bottomOf = async (locator: Locator): Promise<number> => {
      const box = await locator.boundingBox();
      return (box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0);
    };
    const essential = [
      page.locator('.sources .file'),
      page.getByRole('button', { name: 'Mountain' }),
      page.locator('.shapes'),
      page.locator('[data-stage]'),
      caption(1),
      page.getByRole('button', { name: 'Add caption' }),
      page.locator('[data-look]'),
      render(),
      page.locator('.panel[data-language="curl"]'),
    ];
    for (const locator of essential) expect(await bottomOf(locator)).toBeLessThanOrEqual(900);
    const [form, code] = [await caption(1).boundingBox(), await page.locator('.panel').first().boundingBox()];
    expect(code?.x).toBeGreaterThan((form?.x ?? 0) + (form?.width ?? 0));
    const above = await page.locator('[data-sources]').boundingBox();
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan(
      (await page.locator('[data-stage]').boundingBox())?.y ?? 0,
    );
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor keeps the stage in view on a phone while captions are edited', async () => {
    await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    for (let number = 2; number <= 5; number += 1) await page.getByRole('button', { name: 'Add caption' }).tap();
    await caption(5).scrollIntoViewIfNeeded();
    const stage = await page.locator('[data-stage]').boundingBox();
    expect(stage?.y).toBeGreaterThanOrEqual(0);
    expect((stage?.y ?? 0) + (stage?.height ?? 0)).toBeLessThan(420);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expect.poll(() => render().isVisible()).toBe(true);
  });

  it('the playground editor types on the image: a click edits a bar, a double-click adds one, an empty one disappears', async () => {
    await open();
    await handle(1).click();
    const editor = page.locator('.caption-editor');
    await editor.fill('Typed on the image');
    await page.keyboard.press('Escape');
    await settled();
    await expect.poll(() => caption(1).inputValue()).toBe('Typed on the image');
    expect(await handle(1).evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => caption(1).inputValue()).toBe('By keyboard');
    const stage = page.locator('[data-stage]');
    const box = await stage.boundingBox();
    await stage.dblclick({ position: { x: 30, y: (box?.height ?? 0) * 0.2 } });
    await editor.fill('A second one');
    await page.locator('h1').click();
    await handle(2).waitFor();
    expect(Number(await position(2).inputValue())).toBeCloseTo(20, 0);
    await handle(2).click();
    await editor.fill('');
    await page.locator('h1').click();
    await expect.poll(() => handle(2).count()).toBe(0);
    await expect.poll(() => page.locator('.bars li').count()).toBe(1);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor snaps a dragged bar to guides, unless Alt is held, and jumps between guides by keyboard', async () => {
    await open();
    const drag = async (share: number): Promise<void> => {
      const [box, stage] = [await handle(1).boundingBox(), await page.locator('[data-stage]').boundingBox()];
      if (box === null || stage === null) throw new Error('the handle is not visible');
      await page.mouse.move(box.x + 40, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + 40, stage.y + stage.height * share, { steps: 4 });
    };
    await drag(1 / 3 + 0.006);
    await expect.poll(() => page.locator('[data-snap-guide]').isVisible()).toBe(true);
    await page.mouse.up();
    await settled();
    await expect.poll(() => position(1).inputValue()).toBe('33.333');
    expect(await page.locator('[data-snap-guide]').isVisible()).toBe(false);
    await page.keyboard.down('Alt');
    await drag(0.506);
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await settled();
    expect(Number(await position(1).inputValue())).not.toBe(50);
    await handle(1).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await settled();
    await expect.poll(() => position(1).inputValue()).toBe('66.667');
    await expect.poll(() => handle(1).getAttribute('aria-valuetext')).toBe('67 percent from the top, lower third');
    await page.keyboard.press('Alt+ArrowDown');
    await settled();
    await expect.poll(() => position(1).inputValue()).toBe('100');
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor undoes a drag and the arrow keys after it as two steps', async () => {
    await open();
    const start = await position(1).inputValue();
    const grip = page.locator('.handle').first();
    const box = must(await grip.boundingBox(), 'the handle');
    await page.mouse.move(box.x + 40, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 40, box.y + box.height / 2 + 90, { steps: 4 });
    await page.mouse.up();
    const dragged = await position(1).inputValue();
    expect(dragged).not.toBe(start);
    await grip.press('ArrowUp');
    await grip.press('ArrowUp');
    expect(await position(1).inputValue()).not.toBe(dragged);
    await page.keyboard.press('Control+z');
    await expect.poll(() => position(1).inputValue()).toBe(dragged);
    await page.keyboard.press('Control+z');
    await expect.poll(() => position(1).inputValue()).toBe(start);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor loads its preview by itself when the browser is online again', async () => {
    await open();
    const status = page.locator('[data-status]');
    await page.context().setOffline(true);
    await caption(1).fill('Written in a tunnel');
    await expect.poll(async () => await status.textContent()).toContain('Check your connection');
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    const problem = page.locator('[data-problem]');
    await expect.poll(async () => await problem.textContent()).toContain("Couldn't reach the server");
    expect(await page.locator('[data-phase]').textContent()).toBe('');
    await page.context().setOffline(false);
    await expect.poll(async () => await status.textContent()).not.toContain('Check your connection');
    expect(await problem.isVisible()).toBe(false);
    // The browser itself reports the requests that failed.
    visited.complaints.splice(0);
  });

  it('the playground editor undoes and redoes typing, moves, removal and style, also from the keyboard', async () => {
    await open();
    const first = await caption(1).inputValue();
    await caption(1).fill('Changed');
    await page.locator('.presets').getByText('outline', { exact: true }).click();
    await page.getByRole('button', { name: 'Duplicate caption 1' }).click();
    await caption(2).fill('Copy');
    await page.getByRole('button', { name: 'Move caption 2 up' }).click();
    expect([await caption(1).inputValue(), await caption(2).inputValue()]).toEqual(['Copy', 'Changed']);
    await page.getByRole('button', { name: 'Remove caption 1' }).click();
    await expect.poll(() => page.locator('.bars li').count()).toBe(1);
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.click();
    expect([await caption(1).inputValue(), await caption(2).inputValue()]).toEqual(['Copy', 'Changed']);
    await undo.click();
    await expect.poll(() => caption(1).inputValue()).toBe('Changed');
    await caption(1).focus();
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('Control+z');
    await expect.poll(() => page.locator('.bars li').count()).toBe(1);
    await expect.poll(() => caption(1).inputValue()).toBe(first);
    expect(await undo.isDisabled()).toBe(true);
    expect(await curl()).not.toContain('outline');
    await page.keyboard.press('Control+Shift+z');
    await page.keyboard.press('Control+y');
    await expect.poll(() => caption(1).inputValue()).toBe('Changed');
    expect(await curl()).toContain('outline');
    expect(visited.complaints).toEqual([]);
  });

  it('renders only the overlay, in the chosen aspect ratio, and crops an image to it', async () => {
    await open();
    await page.locator('.shapes').getByText('1:1').click();
    const size = `(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])`;
    expect(await curl()).toMatch(/width=1080[^]*height=1080[^]*fit=crop/u);
    const shape = `(({ width, height }) => width / height)(document.querySelector('[data-stage]').getBoundingClientRect())`;
    expect(await page.evaluate<number>(shape)).toBeCloseTo(1, 1);
    await page.getByLabel('Overlay only').check();
    await page.locator('.shapes').getByText('16:9').click();
    await settled();
    await expect
      .poll(() => page.getByRole('img', { name: 'Transparent background, 1920 by 1080 pixels' }).isVisible())
      .toBe(true);
    const code = await curl();
    expect(code).toContain('width=1920');
    expect(code).not.toContain('asset=');
    expect(await accessibilityFaults(page)).toEqual([]);
    await render().click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    const shown = '[data-result-media] img.after';
    await expect.poll(() => page.evaluate(`${size}(document.querySelector('${shown}'))`)).toEqual([1_280, 720]);
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor keeps captions, settings and the file over a reload, until the visitor starts over', async () => {
    await open();
    const buffer = await plainPng(300, 500, '#335577');
    await page.locator('[data-file]').setInputFiles({ name: 'mine.png', mimeType: 'image/png', buffer });
    await expect.poll(curl).toContain('mine.png');
    await caption(1).fill('Still here');
    await position(1).fill('12.5');
    await page.locator('.presets').getByText('box-light', { exact: true }).click();
    await page.reload();
    await handle(1).waitFor();
    expect([await caption(1).inputValue(), await position(1).inputValue()]).toEqual(['Still here', '12.5']);
    expect(await curl()).toContain('mine.png');
    expect(await curl()).toContain('box-light');
    await page.getByRole('button', { name: 'Start over' }).click();
    await expect.poll(curl).toContain('cairn.jpg');
    await page.reload();
    await handle(1).waitFor();
    expect(await caption(1).inputValue()).not.toBe('Still here');
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor shares captions and settings by a link that has neither the file nor the key', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Street' }).click();
    await expect.poll(curl).toContain('bus.webp');
    await caption(1).fill('From a link 🔗');
    await page.locator('summary', { hasText: 'API key' }).click();
    await page.locator('[data-key]').fill(server.key);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    const decoded = Buffer.from(link.slice(link.indexOf('draft=') + 6), 'base64url').toString('utf8');
    expect(decoded).toContain('From a link 🔗');
    expect(decoded).not.toContain(server.key);
    await page.context().close();
    await open();
    await caption(1).fill('My own work');
    await settled();
    await page.goto('about:blank');
    await page.goto(link);
    await handle(1).waitFor();
    await expect.poll(() => caption(1).inputValue()).toBe('From a link 🔗');
    await expect.poll(curl).toContain('bus.webp');
    expect(new URL(page.url()).hash).toBe('');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => caption(1).inputValue()).toBe('My own work');
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor works without storage', async () => {
    if ('reason' in found) throw new Error(found.reason);
    visited = await visit(found.browser, server.url);
    page = visited.page;
    await page.addInitScript(`for (const name of ['localStorage', 'indexedDB']) {
      Object.defineProperty(window, name, { get() { throw new DOMException('off', 'SecurityError'); } });
    }`);
    await page.goto('/playground');
    await handle(1).waitFor();
    await caption(1).fill('No storage');
    await settled();
    expect(await curl()).toContain('No storage');
    expect(visited.complaints).toEqual([]);
  });

  it('the playground editor edits the times of a video on a timeline, previews each frame, and takes a dropped subtitle file', async () => {
    await open();
    await openClip();
    const [start, end] = ['Start', 'End'].map((side) => page.getByRole('slider', { name: `${side} of caption bar 1` }));
    if (!start || !end) throw new Error('no ends');
    await start.focus();
    for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowRight');
    await expect.poll(curl).toContain('"start":0.5');
    const tracks = await page.locator('[data-rows]').boundingBox();
    const grip = await end.boundingBox();
    if (tracks === null || grip === null) throw new Error('the timeline is not visible');
    await page.mouse.move(grip.x + grip.width - 2, grip.y + 10);
    await page.mouse.down();
    await page.mouse.move(tracks.x + tracks.width / 2, grip.y + 10, { steps: 4 });
    await page.mouse.up();
    const duration = await page.evaluate<number>(`document.querySelector('[data-media] video').duration`);
    expect(Number(await page.getByLabel('End of caption 1 in seconds').inputValue())).toBeCloseTo(duration / 2, 0);
    const seek = page.getByLabel('Position in the video');
    await seek.fill('0');
    await settled();
    await expect.poll(() => handle(1).isVisible()).toBe(false);
    await seek.fill('0.8');
    await expect.poll(() => handle(1).isVisible()).toBe(true);
    expect(await lookFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.evaluate(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['1\\n00:00:00,000 --> 00:00:01,500\\nDropped\\n'], 'cues.srt'));
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true, bubbles: true }));
    })()`);
    await expect.poll(curl).toContain('captions=1\n00:00:00,000');
    await settled();
    await expect.poll(() => page.locator('img[data-overlay]').isVisible()).toBe(true);
    await expect.poll(() => page.locator('.cues .span').count()).toBe(1);
    expect(visited.complaints).toEqual([]);
  });

  it('renders one short video for free with progress, after one that was canceled before it was uploaded', async () => {
    await open();
    await openClip();
    await expect.poll(() => page.locator('[data-price]').textContent()).toContain('One clip per day');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/playground/render', async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await render().click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => render().isEnabled()).toBe(true);
    expect(await page.getByRole('alert').isVisible()).toBe(false);
    release();
    await page.unroute('**/playground/render');
    await render().click();
    await expect.poll(() => page.locator('[data-progress] progress').isVisible()).toBe(true);
    await page.locator('[data-result-media] video.after').waitFor();
    await render().click();
    await expect
      .poll(() => page.getByRole('alert').textContent())
      .toBe('Without an API key, one video per day is free. Get an API key for more.');
    expect(visited.complaints.filter((complaint) => !complaint.includes('429'))).toEqual([]);
  });

  it('the playground editor lets a signed-in visitor pay from the session and shows price and credits before the click', async () => {
    if ('reason' in found) throw new Error(found.reason);
    visited = await visit(found.browser, server.url);
    page = visited.page;
    await page.goto('/signup');
    await page.getByLabel('Email', { exact: true }).fill('editor@browser.example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/dashboard/start');
    await page.goto('/playground');
    await handle(1).waitFor();
    const price = page.locator('[data-price]');
    await expect.poll(() => price.textContent()).toBe('1 credit. You have 100 left.');
    await render().click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    await expect.poll(() => page.locator('[data-headers]').textContent()).toContain('x-credits-charged1');
    await expect.poll(() => price.textContent()).toBe('1 credit. You have 99 left.');
    expect(await page.content()).not.toContain('x-form-token');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(visited.complaints).toEqual([]);
  });
});
