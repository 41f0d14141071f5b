// The TypeScript client in a real browser: bundled as for a web page, with a key that pages may use.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { launchBrowser } from '../../test/browser/browser.ts';
import type { Environment } from './package.ts';

const ESBUILD = path.resolve(import.meta.dirname, '../../node_modules/esbuild/bin/esbuild');
/** The most bytes of a small page with the client, compressed. */
const LARGEST_BUNDLE = 6_000;
const PAGE = '<!doctype html><title>Client</title><script type="module" src="/bundle.js"></script>';

const PROGRAM = `
import { Storybar } from '@storybar/client';
window.caption = async (baseUrl, apiKey) => {
  const photo = await (await fetch('/photo.jpg')).blob();
  const client = new Storybar({ baseUrl, apiKey });
  const progress = [];
  const observed = await client.caption({ asset: photo, text: 'Web' }, { onUploadProgress: ({ loaded }) => progress.push(loaded) });
  const plain = await client.caption({ asset: photo.stream(), text: 'Web' });
  const refused = await client.caption({ asset: photo, text: '' }).catch((error) => error.faults?.[0]?.pointer);
  const [first, second] = [await observed.bytes(), await plain.bytes()];
  const isSame = first.length === second.length && first.every((byte, index) => byte === second[index]);
  return { isSame, size: first.length, expected: observed.size, warnings: observed.warnings, refused, sent: progress.at(-1) };
};`;

interface Outcome {
  readonly isSame: boolean;
  readonly size: number;
  readonly expected: number;
  readonly refused: string;
  readonly sent: number;
}

export async function testInBrowser(folder: string, env: Environment): Promise<void> {
  writeFileSync(path.join(folder, 'page.js'), PROGRAM);
  execFileSync(
    ESBUILD,
    ['page.js', '--bundle', '--minify', '--format=esm', '--outfile=bundle.js', '--log-level=error'],
    {
      cwd: folder,
    },
  );
  const { length } = gzipSync(readFileSync(path.join(folder, 'bundle.js')));
  if (length > LARGEST_BUNDLE) throw new Error(`The bundle of a page has ${length} bytes; at most ${LARGEST_BUNDLE}.`);
  const found = await launchBrowser();
  if ('reason' in found) {
    console.log(`skipped in a browser: ${found.reason}`);
    return;
  }
  const site = createServer(({ url }, response) => {
    if (url === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else if (url === '/bundle.js')
      response.setHeader('content-type', 'text/javascript').end(readFileSync(path.join(folder, 'bundle.js')));
    else if (url === '/photo.jpg') response.end(readFileSync(path.join(folder, 'photo.jpg')));
    else response.writeHead(404).end();
  });
  try {
    await new Promise<void>((resolve) => {
      site.listen(Number(new URL(env['STORYBAR_PAGE_ORIGIN'] ?? '').port), '127.0.0.1', resolve);
    });
    const page = await found.browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`, { waitUntil: 'load' });
    const call = `window.caption(${JSON.stringify(env['TESTS_URL'])}, ${JSON.stringify(env['STORYBAR_PAGE_KEY'])})`;
    const outcome = (await page.evaluate(call)) as Outcome;
    const photoBytes = readFileSync(path.join(folder, 'photo.jpg')).length;
    const isRight =
      outcome.isSame && outcome.size === outcome.expected && outcome.refused !== undefined && outcome.sent > photoBytes;
    if (!isRight) throw new Error(`The client in the browser returned ${JSON.stringify(outcome)}.`);
    console.log(`ok: in a browser, ${outcome.sent} bytes sent and ${outcome.size} received`);
  } finally {
    await found.browser.close();
    site.close();
  }
}
