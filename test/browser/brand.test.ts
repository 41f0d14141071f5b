// The pages of a brand in a real browser: logos, fonts, styles and their previews.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { signUp } from './account-steps.ts';
import { launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();
const LOGO = path.resolve(import.meta.dirname, '../../examples/brand-kit/logo.png');
const FONT = path.resolve(import.meta.dirname, '../fuzz/corpus/fonts/truetype.ttf');
/** Set it to look at the pages. */
const PICTURES = process.env['TESTS_BRAND_PICTURES'] ?? '';
const SIZES = [390, 768, 1_440] as const;

async function photograph(page: Page, name: string): Promise<void> {
  if (PICTURES === '') return;
  mkdirSync(PICTURES, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of SIZES) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: path.join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

async function look(page: Page, name: string): Promise<void> {
  await photograph(page, name);
  expect(await lookFaults(page, false)).toEqual([]);
  await page.setViewportSize({ width: 1_280, height: 900 });
}

const READ_PREVIEW = `(() => {
  const image = document.querySelector('[data-preview]');
  if (!image.complete || image.naturalWidth === 0) return undefined;
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL();
})()`;

const SPECIMEN_WIDTH = `document.querySelector('img[src$="specimen.png"]').naturalWidth`;

/** Returns the pixels of the preview, once it is drawn. */
async function previewOf(page: Page): Promise<string> {
  return await until(async () => await page.evaluate<string | undefined>(READ_PREVIEW));
}

describe.skipIf('reason' in found)(`pages of a brand${whySkipped(found)}`, () => {
  let server: SharedServer;
  let browser: Browser;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await sharedServer();
  });
  afterAll(async () => await browser.close());

  it('a member uploads a logo and a font, saves a style of both with a live preview, and deletes all of them', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await signUp(page);
    await page.goto('/dashboard/brand');
    await look(page, 'empty');
    await page.getByRole('link', { name: 'Logos' }).click();
    await page.getByLabel('File').setInputFiles(LOGO);
    await page.getByRole('button', { name: 'Upload logo' }).click();
    await page.getByText('Logo added.').waitFor();
    const id = (await page.locator('.logo-id').textContent()) ?? '';
    await look(page, 'logos');

    await page.getByRole('link', { name: 'Fonts' }).click();
    await page.getByLabel('File').setInputFiles(FONT);
    await page.getByLabel('The license of the font').check();
    await page.getByRole('button', { name: 'Upload font' }).click();
    await page.getByText('Font added.').waitFor();
    const font = (await page.locator('.logo-id').textContent()) ?? '';
    await until(async () => ((await page.evaluate<number>(SPECIMEN_WIDTH)) > 0 ? true : undefined));
    await look(page, 'fonts');

    await page.goto('/dashboard/brand/new');
    const plain = await previewOf(page);
    await page.getByLabel('Name', { exact: true }).fill('acme');
    await page.getByLabel('Preset').selectOption('box');
    await page.getByLabel('Font').selectOption(font);
    await page.getByLabel('Background').fill('#1d3557');
    await page.getByLabel('Logo', { exact: true }).selectOption(id);
    await page.getByLabel('Width in percent').fill('30');
    await until(async () => ((await previewOf(page)) === plain ? undefined : true));
    await look(page, 'editor');
    await page.getByRole('button', { name: 'Save style' }).click();
    await page.getByText('Style saved.').waitFor();
    const saved = await previewOf(page);
    expect(saved).not.toBe(plain);

    await page.goto('/playground');
    const overlay = page.locator('img[data-overlay]');
    await page.getByRole('slider').first().waitFor();
    const without = await until(async () => (await overlay.getAttribute('src')) ?? undefined);
    await page.getByLabel('Logo').selectOption(id);
    await page.getByLabel('Corner').selectOption('bottom-left');
    const code = page.locator('[data-language="curl"] code');
    await expect.poll(() => code.textContent()).toContain(`style={"logo":{"id":"${id}","corner":"bottom-left"}}`);
    await expect.poll(() => overlay.getAttribute('src')).not.toBe(without);
    await expect.poll(() => page.locator('[data-stage]').getAttribute('aria-busy')).toBe('false');
    await look(page, 'playground');

    await page.goto('/dashboard/brand');
    await page.getByText('Version 1').waitFor();
    expect(await previewOf(page)).toBe(saved);
    await look(page, 'styles');
    await page.getByRole('link', { name: 'acme' }).click();
    expect(complaints).toEqual([]);
    await page.getByLabel('Text color').fill('blue');
    await page.locator('[data-preview-note]').getByText('#').waitFor();
    await page.getByRole('button', { name: 'Save style' }).click();
    await page.locator('.fault').first().waitFor();
    expect(await page.getByLabel('Text color').getAttribute('aria-invalid')).toBe('true');

    await page.goto('/dashboard/brand/styles/acme');
    await page.getByText('Delete this style').click();
    await page.getByRole('button', { name: 'Delete style' }).click();
    await page.getByText('Style deleted.').waitFor();
    await page.goto('/dashboard/brand/logos');
    await page.locator('summary').getByText('Delete').click();
    await page.getByRole('button', { name: 'Delete logo' }).click();
    await page.getByText('Logo deleted.').waitFor();
    await page.goto('/dashboard/brand/fonts');
    await page.locator('summary').getByText('Delete').click();
    await page.getByRole('button', { name: 'Delete font' }).click();
    await page.getByText('Font deleted.').waitFor();
    await page.context().close();
  });
});
