// The pages of captions in the playground, whose words a visitor can change.

import { beforeAll, expect, it } from 'vitest';
import { form } from '../running-server.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';

interface CaptionPages {
  readonly pages: readonly { readonly text: string; readonly words: readonly { readonly text: string }[] }[];
  readonly captions: string;
}

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** Pages of up to two words each. */
const pagesOf = async (written: readonly string[], style: string): Promise<CaptionPages> => {
  const words = written.map((word, at) => ({ word, start: at, end: at + 0.9 }));
  const size = { width: '400', height: '800', duration: '6', max_words: '2', style };
  const fields = { ...size, captions: JSON.stringify({ words }) };
  const headers = { 'x-forwarded-for': newAddress() };
  const response = await fetch(`${server.url}/playground/pages`, { method: 'POST', body: form(fields), headers });
  return (await response.json()) as CaptionPages;
};

it('a transcript becomes pages with the times of their words, and WebVTT', async () => {
  const { pages, captions } = await pagesOf(['Hello', 'there,', 'friend.'], 'bar');
  expect(pages.map(({ text }) => text)).toEqual(['Hello there,', 'friend.']);
  expect(pages[0]?.words[1]).toEqual({ text: 'there,', start: 1, end: 1.9 });
  expect(captions).toContain('Hello <00:00:01.000>there,');
});

it('the pages of a style in capitals have the letters of the request', async () => {
  const written = ['Die', 'Straße', 'nach', 'İzmir,', 'ﬁnally.'];
  const { pages, captions } = await pagesOf(written, '{"case":"upper"}');
  expect(pages.flatMap(({ words }) => words.map(({ text }) => text))).toEqual(written);
  expect(pages.map(({ text }) => text).join(' ')).toBe(written.join(' '));
  expect(captions).toContain('Straße');
});
