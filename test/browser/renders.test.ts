// The pages of stored renders in a real browser.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD } from '../site/visitor.ts';
import { launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();

describe.skipIf('reason' in found)(`pages of stored renders${whySkipped(found)}`, () => {
  let server: SharedServer;
  let browser: Browser;
  let files: Server;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await sharedServer();
    // The file is fast enough for the server to continue, but endless.
    files = createServer((_request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(4_096, 1)), 200);
      response.on('close', () => clearInterval(timer));
      response.write(Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
    });
    await new Promise<void>((resolve) => void files.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await browser.close();
    files.closeAllConnections();
    files.close();
  });

  it('pages of stored renders fit every screen, are accessible, and cancel and delete a render', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/signup');
    await page.getByLabel('Email').fill('renders@browser.example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/dashboard/start');
    await page.goto('/dashboard/keys');
    await page.getByLabel('Name', { exact: true }).fill('Production');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.locator('.new-key code').textContent()) ?? '';
    const photo = await noisyJpeg(300, 200);
    const slowUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}/slow.jpg`;
    const start = async (fields: Parameters<typeof form>[0]): Promise<string> => {
      const headers = { prefer: 'respond-async' };
      const response = await post({ url: server.url, key }, form({ text: 'Hello', ...fields }), { headers });
      return ((await response.json()) as { id: string }).id;
    };
    const [good, bad] = [await start({ asset: photo }), await start({ asset: photo.subarray(0, 200) })];
    for (const id of [good, bad]) {
      await fetch(`${server.url}/v1/renders/${id}?wait=60`, { headers: { 'x-api-key': key } });
    }
    await page.goto('/dashboard/renders');
    await page.getByRole('link', { name: 'Open', exact: true }).waitFor();
    expect(await lookFaults(page)).toEqual([]);
    for (const id of [good, bad]) {
      await page.goto(`/dashboard/renders/${id}`);
      expect(await lookFaults(page, false)).toEqual([]);
    }
    // Started last, because the server gives up after two minutes.
    await page.goto(`/dashboard/renders/${await start({ asset_url: slowUrl })}`);
    expect(await lookFaults(page, false)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel render' }).click();
    await page.getByText('Render canceled.').waitFor();
    await page.getByText('Delete this render').click();
    await page.getByRole('button', { name: 'Delete render' }).click();
    await page.getByText('Render deleted.').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
