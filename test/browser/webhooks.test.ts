// The webhook pages in a real browser: an endpoint, a test event and its response, without faults of accessibility or
// look.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD } from '../site/visitor.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import { launchBrowser, lookFaults, visit, whySkipped } from './browser.ts';

const found = await launchBrowser();

describe.skipIf('reason' in found)(`webhook pages${whySkipped(found)}`, () => {
  let server: SharedServer;
  let browser: Browser;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    if ('reason' in found) throw new Error(found.reason);
    ({ browser } = found);
    server = await sharedServer();
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await browser.close();
    await receiver.stop();
  });

  /** On several screens, in light and dark mode. */
  const check = async (page: Page, isThorough = false): Promise<void> =>
    expect(await lookFaults(page, isThorough)).toEqual([]);

  it('webhook pages lead from a new endpoint to the response of a test event', async () => {
    const { page, complaints } = await visit(browser, server.url);
    await page.goto('/signup');
    await page.getByLabel('Email').fill('webhooks@browser.example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/dashboard/start');
    await page.getByRole('link', { name: 'Webhooks' }).first().click();
    await page.getByText('No webhook endpoints yet.').waitFor();
    await check(page);
    const url = `${receiver.url}/switch/with/a/path/that/is/quite/long/so/that/it/has/to/wrap/somewhere?token=0123456789`;
    await page.getByRole('textbox', { name: 'URL' }).fill(url);
    await page.getByLabel('render.failed').check();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByText('Endpoint added.').waitFor();
    await page.getByText('Show secret').click();
    await page.getByText('Rotate secret').first().click();
    await check(page, true);
    // The checks end on a narrow screen, where a list has no column for the response.
    await page.setViewportSize({ width: 1_280, height: 860 });
    await page.getByRole('button', { name: 'Send test event' }).click();
    await expect
      .poll(async () => {
        await page.reload();
        return await page.getByRole('cell', { name: '500' }).count();
      })
      .toBe(1);
    await page.getByRole('link', { name: 'webhook.test' }).click();
    await page.getByText('The receiver responded with 500.').first().waitFor();
    for (const summary of ['Request headers', 'Response']) await page.getByText(summary, { exact: true }).click();
    await check(page);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Sent again.').waitFor();
    await page.goto('/dashboard/webhooks/deliveries');
    await check(page);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
