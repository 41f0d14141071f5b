// The playground as tests use it: how it is opened, and where its parts are.

import path from 'node:path';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { newAddress } from '../shared-server.ts';
import { type BrowserOrReason, visit, type Visit } from './browser.ts';

export const EXAMPLES: string = path.resolve(import.meta.dirname, '../../examples');

export async function visitPlayground(
  found: BrowserOrReason,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  if ('reason' in found) throw new Error(found.reason);
  // Visitors without a key have limits by address.
  const extraHTTPHeaders = { 'x-forwarded-for': newAddress() };
  const visited = await visit(found.browser, origin, { extraHTTPHeaders, ...options });
  await visited.page.goto('/playground');
  await playgroundParts(() => visited.page)
    .handle(1)
    .waitFor();
  return visited;
}

export interface PlaygroundParts {
  readonly handle: (number: number) => Locator;
  readonly caption: (number: number) => Locator;
  readonly position: (number: number) => Locator;
  /** The code of the request in a language. */
  readonly snippet: (language: string) => Promise<string>;
  /** Waits until the preview shows the latest change. */
  readonly settled: () => Promise<void>;
  /** Opens the example clip and pauses it, because a video that plays would slow down other tests. */
  readonly openClip: () => Promise<void>;
}

/** `page` returns the page of the current test. */
export function playgroundParts(page: () => Page): PlaygroundParts {
  const settled = async (): Promise<void> => {
    await expect.poll(() => page().locator('[data-stage]').getAttribute('aria-busy')).toBe('false');
  };
  return {
    handle: (number) => page().getByRole('slider', { name: `Caption bar ${number}:` }),
    caption: (number) => page().getByLabel(`Caption ${number}`, { exact: true }),
    position: (number) => page().getByLabel(`Position of caption ${number}`, { exact: true }),
    snippet: async (language) => (await page().locator(`[data-language="${language}"] code`).textContent()) ?? '',
    settled,
    openClip: async () => {
      await page().locator('[data-file]').setInputFiles(path.join(EXAMPLES, 'clip.mp4'));
      await page().getByRole('button', { name: 'Pause' }).click();
      await settled();
    },
  };
}
