// A real browser for tests: the one that comes with npm, or the machine's own. If neither starts, tests are skipped and
// say so.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium as playwright, type Page } from 'playwright-core';

/** The shell without a user interface comes first: a new window costs it a seventh of the processor time. */
const SYSTEM_CHROMIUM = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);
/** Containers often run as root, which Chromium's own sandbox refuses. The browser opens only our own pages. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage'];

/**
 * The timeout of each action and navigation. It is longer than Playwright's own, because machines that run tests are
 * often busy.
 */
const TIMEOUT_MS = 180_000;

/** A browser, or the reason why there is none. */
export type BrowserOrReason = { readonly browser: Browser } | { readonly reason: string };

export async function launchBrowser(): Promise<BrowserOrReason> {
  const reasons: string[] = [];
  // The bundled browser is tried twice, because another test may be unpacking it. There is none for other processors.
  const bundled = process.arch === 'x64' ? [bundledChromium, bundledChromium] : [];
  const candidates = [...bundled, ...SYSTEM_CHROMIUM.map((file) => async () => file)];
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

/** Returns the reason for the title of tests. */
export function whySkipped(found: BrowserOrReason): string {
  return 'reason' in found ? ` (skipped, no browser: ${found.reason})` : '';
}

/**
 * The browser unpacks itself, together with system libraries that a bare machine lacks. The variable makes it look for
 * them there first.
 */
async function bundledChromium(): Promise<string> {
  process.env['AWS_EXECUTION_ENV'] ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return await chromium.executablePath();
}

export interface Visit {
  readonly page: Page;
  /** Must stay empty: console errors, uncaught errors, violations of the content security policy, foreign requests. */
  readonly complaints: string[];
}

export async function visit(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, baseURL: origin, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
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

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The only checks whose result depends on the theme. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns the faults that an automated check finds, as one line each. */
export async function accessibilityFaults(page: Page, rules: 'all' | 'colors' = 'all'): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(AXE);
  const options = { resultTypes: ['violations'], ...(rules === 'colors' && { runOnly: COLOR_RULES }) };
  return await page.evaluate<string[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  );
}

/** The sizes at which a page is checked on one load: both themes, a desktop, a tablet and two phones. */
const LOOKS = [
  { width: 1_440, colorScheme: 'light', axe: 'always' },
  { width: 1_440, colorScheme: 'dark', axe: 'when thorough' },
  { width: 768, colorScheme: 'dark', axe: 'never' },
  { width: 390, colorScheme: 'light', axe: 'when thorough' },
  { width: 320, colorScheme: 'light', axe: 'never' },
] as const;

/**
 * Runs in the page. Links inside text are exempt, as in WCAG. Inputs without a size of their own count with their
 * label.
 */
const SMALL_TARGETS = `[...document.querySelectorAll('a, button, input, select, textarea, summary, label')].filter((element) => {
  const { display, visibility } = getComputedStyle(element);
  const { width, height, right } = element.getBoundingClientRect();
  if (display === 'inline' || visibility === 'hidden' || width < 2 || right < 0 || element.closest('.visually-hidden')) return false;
  if (element.matches('label') && !element.querySelector('input') && !element.closest('.tabs')) return false;
  if (element.matches('[type=radio], [type=checkbox]') && element.closest('label')) return false;
  return height > 0 && height < 43.5;
}).map((element) => element.outerHTML.slice(0, 120))`;

/**
 * Returns every fault of the open page, in all themes and sizes, as one line each. Pages that share a template need one
 * thorough check among them, because axe takes seconds on a long page.
 */
export async function lookFaults(page: Page, isThorough = true): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, colorScheme, axe: when } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const at = `${new URL(page.url()).pathname} at ${width} in ${colorScheme}:`;
    if (when === 'always' || (isThorough && when === 'when thorough'))
      faults.push(
        ...(await accessibilityFaults(page, colorScheme === 'dark' ? 'colors' : 'all')).map(
          (fault) => `${at} ${fault}`,
        ),
      );
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (overflow > 0) faults.push(`${at} ${overflow} pixels too wide`);
    if (width > 390) continue;
    const small = await page.evaluate<string[]>(SMALL_TARGETS);
    faults.push(...small.map((target) => `${at} target below 44 pixels: ${target}`));
  }
  return faults;
}
