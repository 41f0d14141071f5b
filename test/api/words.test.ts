// Transcripts over HTTP: pages and words of a layout, renders with a highlight, sizes of bodies, and what is stored.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, post, problemOf } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { plainClip } from '../video/plain-clip.ts';

let server: SharedServer;
let folder: string;
let clip: Buffer;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-words-'));
  const timeBase = { num: 1, den: 10 };
  clip = readFileSync(plainClip(path.join(folder, 'clip.mp4'), { width: 180, height: 320, frames: 8, timeBase }));
  server = await sharedServer();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TRANSCRIPT = {
  text: 'Hello there, friend. Goodbye!',
  words: [
    { word: 'Hello', start: 0.1, end: 0.2 },
    { word: 'there', start: 0.2, end: 0.3 },
    { word: 'friend', start: 0.3, end: 0.4 },
    { word: 'Goodbye', start: 0.5, end: 0.7 },
  ],
};

interface Layout {
  readonly bars: readonly {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    readonly page: {
      readonly text: string;
      readonly start: number;
      readonly end: number;
      readonly words: readonly { text: string; start: number; x: number; y: number; width: number; height: number }[];
    } | null;
  }[];
  readonly captions: string | null;
  readonly warnings: readonly string[];
}

async function askLayout(body: object): Promise<Response> {
  return await fetch(`${server.url}/v1/layout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': server.key },
    body: JSON.stringify({ width: 720, height: 1280, duration: 60, ...body }),
  });
}

async function layout(body: object): Promise<Layout> {
  const response = await askLayout(body);
  expect(response.status).toBe(200);
  return (await response.json()) as Layout;
}

describe('POST /v1/layout with a transcript', () => {
  it('returns pages with the times and the rectangle of every word, inside the bar and from left to right', async () => {
    const { bars, warnings } = await layout({ captions: TRANSCRIPT, style: { highlight: 'box' } });
    expect(warnings).toEqual([]);
    expect(bars.map(({ page }) => [page?.text, page?.start, page?.end])).toEqual([
      ['Hello there, friend.', 0.1, 0.5],
      ['Goodbye!', 0.5, 0.9],
    ]);
    for (const { y, height, page } of bars) {
      for (const word of page?.words ?? []) {
        expect(word.y).toBeGreaterThanOrEqual(y);
        expect(word.y + word.height).toBeLessThanOrEqual(y + height);
      }
    }
    const [first] = bars;
    expect(first?.page?.words.map(({ text, start }) => [text, start])).toEqual([
      ['Hello', 0.1],
      ['there,', 0.2],
      ['friend.', 0.3],
    ]);
    const lefts = first?.page?.words.map(({ x }) => x) ?? [];
    expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
  });

  it('returns the pages as WebVTT, which gives the same pages when it is sent', async () => {
    const { captions, bars } = await layout({ captions: TRANSCRIPT, max_words: 2, style: { highlight: 'color' } });
    expect(captions).toBe(
      'WEBVTT\n\n00:00:00.100 --> 00:00:00.300\nHello <00:00:00.200>there,\n\n' +
        '00:00:00.300 --> 00:00:00.500\nfriend.\n\n00:00:00.500 --> 00:00:00.900\nGoodbye!\n',
    );
    const again = await layout({ captions, style: { highlight: 'color' } });
    expect(again.captions).toBe(captions);
    expect(again.bars.map(({ page }) => page?.text)).toEqual(bars.map(({ page }) => page?.text));
  });

  it('counts as one request per started 100 words', async () => {
    const remainingAfter = async (words: number): Promise<number> => {
      // A new account has its whole limit, so the count can't depend on how fast it refills.
      const { key } = JSON.parse(await server.cli('keys', 'create', '--plan', 'free', '--json')) as { key: string };
      const list = Array.from({ length: words }, (_, at) => ({ word: 'Hi', start: at / 10, end: at / 10 + 0.1 }));
      const response = await fetch(`${server.url}/v1/layout`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({ width: 720, height: 1280, duration: 300, captions: { words: list }, max_words: 12 }),
      });
      expect(response.status).toBe(200);
      return Number(/r=(\d+)/u.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    };
    const few = await remainingAfter(100);
    // The first request counts before the words are known, and one may have been refilled since.
    expect([9, 10]).toContain(few - (await remainingAfter(1_001)));
  });

  it('warns when it estimates the times of words, and when a highlight has no captions', async () => {
    const captions = '0:01 --> 0:02\nHello there';
    expect((await layout({ captions })).warnings).toEqual([]);
    expect((await layout({ captions, style: { highlight: 'pop' } })).warnings).toEqual(['word_times_estimated']);
    expect((await layout({ captions, max_words: 1 })).warnings).toEqual(['word_times_estimated']);
    expect((await layout({ text: 'Hello', style: { highlight: 'pop' } })).warnings).toEqual(['timing_ignored']);
  });

  it('writes capitals by the rules of the language', async () => {
    const upper = async (text: string, lang: string): Promise<unknown> => {
      const { bars } = await layout({ captions: [{ text, start: 0, end: 1 }], lang, style: { case: 'upper' } });
      return bars[0]?.page?.text;
    };
    expect(await upper('istanbul', 'tr')).toBe('İSTANBUL');
    expect(await upper('Καλημέρα', 'el')).toBe('ΚΑΛΗΜΕΡΑ');
    expect(await upper('Straße', 'de')).toBe('STRASSE');
  });

  it('accepts 1 MiB of captions in a body of up to 2 MiB, and refuses more', async () => {
    const padded = (bytes: number): object => ({ captions: { ...TRANSCRIPT, padding: 'x'.repeat(bytes) } });
    expect((await layout(padded(1_000_000))).bars).toHaveLength(2);
    expect(await problemOf(await askLayout(padded(1_100_000)))).toMatchObject({
      status: 400,
      errors: [{ pointer: '#/captions', code: 'too_large' }],
    });
    expect(await problemOf(await askLayout(padded(2_200_000)))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    });
  });
});

describe('POST /v1/overlay with a transcript', () => {
  it('renders it from a form, where it is text', async () => {
    const captions = JSON.stringify(TRANSCRIPT);
    const style = JSON.stringify({ highlight: { mode: 'box', background: '#0000ff' } });
    const response = await post(server, form({ asset: clip, captions, max_words: '1', style }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('x-warnings')).toBeNull();
  });

  it('reports every fault with a pointer to its word', async () => {
    const words = [{ word: 'a', start: 0, end: 'x' }, { word: 'b' }];
    const response = await post(server, form({ asset: clip, captions: JSON.stringify({ words }) }));
    const { errors } = (await problemOf(response)) as unknown as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toEqual([
      '#/captions/words/0/end',
      '#/captions/words/1/start',
      '#/captions/words/1/end',
    ]);
  });
});
