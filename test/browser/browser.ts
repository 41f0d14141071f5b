// A real browser for tests: the one that comes with npm, or the machine's own. Where neither starts, tests skip and say so.

import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium as playwright, type Page } from 'playwright-core';

const SYSTEM_CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Containers often run as root, which Chromium's own sandbox refuses. What it opens here is ours alone. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage'];

/** Why there is no browser, when there is none. */
type BrowserOrReason = { readonly browser: Browser } | { readonly reason: string };

export async function launchBrowser(): Promise<BrowserOrReason> {
  const reasons: string[] = [];
  // Twice: another test may be in the middle of unpacking it.
  const candidates = [bundledChromium, bundledChromium, ...SYSTEM_CHROMIUM.map((file) => async () => file)];
  for (const candidate of candidates) {
    try {
      const executablePath = await candidate();
      if (!existsSync(executablePath)) continue;
      return { browser: await playwright.launch({ executablePath, args: ARGS }) };
    } catch (error) {
      reasons.push(String(error).split('\n', 1)[0] ?? '');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
  return { reason: reasons.join('; ') || 'no Chromium found' };
}

/** For the title of tests. */
export function whySkipped(found: BrowserOrReason): string {
  return 'reason' in found ? ` (skipped, no browser: ${found.reason})` : '';
}

/** It unpacks itself, and beside it the system libraries a bare machine lacks; told to, it looks for them there first. */
async function bundledChromium(): Promise<string> {
  process.env['AWS_EXECUTION_ENV'] ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return await chromium.executablePath();
}

export interface Visit {
  readonly page: Page;
  /** What must stay empty: console errors, uncaught errors, breaches of the content security policy, foreign requests. */
  readonly complaints: string[];
}

export async function visit(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, baseURL: origin, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`) && !url.startsWith('data:')) {
      complaints.push(`left the origin: ${url}`);
    }
  });
  return { page, complaints };
}

/** What an automated check finds wrong, as one line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  );
}
