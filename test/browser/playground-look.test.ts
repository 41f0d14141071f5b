// Styles and safe areas in the playground, in a real browser.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { accessibilityFaults, launchBrowser, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();

describe.skipIf('reason' in found)(`the look of captions${whySkipped(found)}`, () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await sharedServer();
  });
  afterAll(async () => {
    if ('browser' in found) await found.browser.close();
  });

  it('the look of captions can be chosen in the playground, which previews it, shows its code and keeps bars in the safe area', async () => {
    if ('reason' in found) throw new Error(found.reason);
    const { page } = await visit(found.browser, server.url, {});
    await page.goto('/playground');
    const overlay = page.locator('img[data-overlay]');
    const guide = page.locator('[data-safe-guide]');
    await page.getByRole('slider').first().waitFor();
    const buffer = await plainPng(540, 960, '#456789');
    await page.locator('[data-file]').setInputFiles({ name: 'story.png', mimeType: 'image/png', buffer });
    await expect.poll(() => page.locator('[data-stage]').getAttribute('aria-busy')).toBe('false');
    const before = await overlay.getAttribute('src');
    await page.locator('.presets').getByText('outline', { exact: true }).click();
    expect(await page.getByLabel('Background').isDisabled()).toBe(true);
    await page.getByLabel('Size').fill('1.5');
    await page.getByLabel('Safe area').selectOption('shorts');
    await expect.poll(() => overlay.getAttribute('src')).not.toBe(before);
    const code = (await page.locator('[data-language="curl"] code').textContent()) ?? '';
    expect(code).toContain('style={"preset":"outline","size":1.5}');
    expect(code).toContain('safe_area=shorts');
    const [stage, area] = await Promise.all([page.locator('[data-media]').boundingBox(), guide.boundingBox()]);
    expect((area?.y ?? 0) - (stage?.y ?? 0)).toBeCloseTo(0.15 * (stage?.height ?? 0), -1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await expect.poll(() => page.locator('[data-stage]').getAttribute('aria-busy')).toBe('false');
    const bar = page.getByRole('slider').first();
    await bar.hover();
    await page.mouse.down();
    await page.mouse.move(stage?.x ?? 0, stage?.y ?? 0, { steps: 5 });
    expect((await bar.boundingBox())?.y, 'the top of a dragged bar').toBeGreaterThan((area?.y ?? 0) - 2);
    await page.mouse.up();
    await page.locator('[data-file]').setInputFiles({
      name: 'square.png',
      mimeType: 'image/png',
      buffer: await plainPng(300, 300, '#456789'),
    });
    await expect.poll(() => guide.isHidden()).toBe(true);
    await page.context().close();
  });
});
