// The finished files of the playground in a real browser: what can be opened, shapes, covers, clips, results, saved styles, and
// small windows.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { plainPng } from '../pictures.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD } from '../site/visitor.ts';
import { accessibilityFaults, launchBrowser, visit, type Visit, whySkipped } from './browser.ts';
import { playgroundParts, visitPlayground } from './playground-page.ts';

const found = await launchBrowser();

describe.skipIf('reason' in found)(`the files of the playground${whySkipped(found)}`, () => {
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

  const open = async (options = {}): Promise<void> => {
    visited = await visitPlayground(found, server.url, { viewport: { width: 1_440, height: 900 }, ...options });
    page = visited.page;
  };
  const { handle, snippet, settled, openClip } = playgroundParts(() => page);
  const upload = (): Locator => page.locator('[data-file]');
  const curl = async (): Promise<string> => await snippet('curl');
  const render = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
  };
  const signUp = async (email: string): Promise<void> => {
    if ('reason' in found) throw new Error(found.reason);
    const extraHTTPHeaders = { 'x-forwarded-for': newAddress() };
    visited = await visit(found.browser, server.url, { extraHTTPHeaders });
    page = visited.page;
    await page.goto('/signup');
    await page.getByLabel('Email', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/dashboard/start');
    await page.goto('/playground');
    await handle(1).waitFor();
  };
  const factsAre = async (pattern: RegExp): Promise<void> => {
    await expect.poll(() => page.locator('[data-facts]').textContent()).toMatch(pattern);
  };

  it.skipIf(!hasSharedMedia)('the server previews a HEIC photo that the browser cannot show, upright', async () => {
    await open();
    await upload().setInputFiles(sharedMedia('heif/metadataextrac__IMG_2927.heic'));
    await expect.poll(curl).toContain('metadataextrac__IMG_2927.heic');
    await settled();
    await handle(1).waitFor();
    const shape = await page.locator('[data-media] img').evaluate((image) => {
      const { naturalWidth, naturalHeight } = image as unknown as { naturalWidth: number; naturalHeight: number };
      return [naturalWidth, naturalHeight];
    });
    expect(Math.max(...shape)).toBe(1_280);
    await render();
    await factsAre(/^\d+ × \d+ PNG, \d/u);
    expect(visited.complaints).toEqual([]);
  });

  it('a file that is too large or too long is named when it is chosen, before anything is uploaded', async () => {
    await open();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    const photo = path.join(server.dataDirectory, 'large.png');
    writeFileSync(
      photo,
      Buffer.concat([await plainPng(40, 40, '#345678'), Buffer.alloc(26_000_000)]).subarray(0, 26e6),
    );
    await upload().setInputFiles(photo);
    const price = page.locator('[data-price]');
    await expect.poll(() => price.textContent()).toBe('This file has 26 MB. Images can have up to 25 MB.');
    await expect.poll(() => price.getAttribute('class')).toContain('over');
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('26 MB');
    expect(sent).not.toContain('/playground/render');
  });

  it('a result belongs to its file, says what it is and what it cost, and can be compared with the file', async () => {
    await open();
    const photo = await plainPng(300, 400, '#88aa44');
    await upload().setInputFiles({ name: 'green.png', mimeType: 'image/png', buffer: photo });
    await expect.poll(curl).toContain('green.png');
    await settled();
    await render();
    await factsAre(/^300 × 400 PNG, \d+ KB, \d+\.\d s, free$/u);
    const slider = page.getByLabel('Compare before and after');
    await slider.fill('50');
    const clip = (name: string): Promise<string> =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('[data-result] .${name}')).clipPath`);
    expect([await clip('before'), await clip('after')]).toEqual([
      expect.stringContaining('inset(0px'),
      expect.stringMatching(/50%\)$/u),
    ]);
    const outdated = page.getByText('Your latest changes aren’t in it.');
    expect(await outdated.isVisible()).toBe(false);
    await page.getByLabel('Caption 1', { exact: true }).fill('Changed');
    await expect.poll(() => outdated.isVisible()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Street' }).click();
    await expect.poll(curl).toContain('bus.webp');
    expect(await page.locator('[data-result]').isVisible()).toBe(false);
    expect(visited.complaints).toEqual([]);
  });

  it('a file is brought to another shape, whose preview has the shape of the result', async () => {
    await open();
    await page.locator('.shapes').getByText('Custom').click();
    await page.getByLabel('Width').fill('400');
    await page.getByLabel('Height').fill('300');
    await page.getByLabel('Fit').selectOption('pad');
    await page.locator('[name="fit_color"]').fill('#ffcc00');
    await settled();
    expect(await curl()).toContain('fit={"mode":"pad","color":"#ffcc00"}');
    const box = must(await page.locator('[data-stage]').boundingBox(), 'the stage');
    expect(box.width / box.height).toBeCloseTo(4 / 3, 1);
    await render();
    await factsAre(/^400 × 300 PNG/u);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.locator('[name="fit_color"]').inputValue()).toBe('#000000');
    expect(visited.complaints).toEqual([]);
  });

  it('a cover is an image of the moment that the player is at', async () => {
    await open();
    await openClip();
    await page.getByLabel('Position in the video').fill('0.8');
    await page.getByLabel('Format').selectOption('jpeg');
    await expect.poll(curl).toContain('at=0.8');
    await render();
    await factsAre(/^540 × 960 JPEG, /u);
    expect(visited.complaints).toEqual([]);
  });

  it('a clip of captions has a length and needs an account, which may save its look as a style', async () => {
    await open();
    await page.getByLabel('Overlay only').check();
    await page.getByLabel('Format').selectOption('webm');
    await page.getByLabel('Length, s').fill('1');
    const price = page.locator('[data-price]');
    await expect.poll(() => price.textContent()).toContain('Clips of captions need an API key.');
    await expect.poll(() => page.getByRole('slider', { name: 'End of caption bar 1' }).isVisible()).toBe(true);
    await page.context().close();
    await signUp('clips@files.example.com');
    await page.getByLabel('Overlay only').check();
    await page.locator('.shapes').getByText('1:1').click();
    await page.getByLabel('Format').selectOption('webm');
    await page.getByLabel('Length, s').fill('1');
    await page.locator('.presets').getByText('box', { exact: true }).click();
    await page.locator('summary', { hasText: 'Save as style' }).click();
    await page.getByLabel('Name').fill('bad name');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const note = page.locator('[data-saved]');
    await expect.poll(() => note.textContent()).toContain('1 to 40 letters');
    await page.getByLabel('Name').fill('acme');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => note.textContent()).toContain('Saved as version 1');
    expect(await curl()).toContain('style={"preset":"acme"}');
    await settled();
    await render();
    await factsAre(/^1080 × 1080 WebM, .*, 1 credit$/u);
    await page.reload();
    await handle(1).waitFor();
    await expect.poll(() => page.getByLabel('acme').isChecked()).toBe(true);
    expect(visited.complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
  });

  it.each([
    ['a phone', { width: 390, height: 844 }],
    ['a laptop at 200 %', { width: 720, height: 450 }],
  ])('the first caption is visible on %s, and nothing that has the focus is covered', async (_name, viewport) => {
    await open({ viewport });
    // Hidden inputs stand for their labels, and what is outside the playground is on every page.
    const covered = `(() => {
      if (!document.activeElement.matches('.playground :not(.visually-hidden)')) return '';
      const { left, top, width, height } = document.activeElement.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      const isSame = hit !== null && (document.activeElement.contains(hit) || hit.contains(document.activeElement));
      return isSame ? '' : document.activeElement.outerHTML.slice(0, 120);
    })()`;
    const field = must(await page.getByLabel('Caption 1', { exact: true }).boundingBox(), 'the field');
    const bar = must(await page.locator('.render-bar').boundingBox(), 'the bar');
    expect(field.y + field.height).toBeLessThanOrEqual(Math.min(viewport.height, bar.y));
    await page.getByLabel('Caption 1', { exact: true }).focus();
    for (let step = 0; step < 20; step += 1) {
      await page.keyboard.press('Tab');
      // The page scrolls to the focus.
      await expect.poll(() => page.evaluate<string>(covered)).toBe('');
    }
  });
});
