import { describe, expect, it } from 'vitest';
import { must } from '../../shared/must.ts';
import { parseRequest, prepare, readForm } from './parse.ts';
import { asReplay, readRequest, storeRequest, webhookUrlIn } from './stored-request.ts';

const SIZE = { width: 1080, height: 1920 };
const CAPTIONS = {
  words: [
    { word: 'Hello', start: 0, end: 0.5, confidence: 0.9, speaker: 'A' },
    { word: 'world', start: 0.6, end: 1, confidence: 0.8 },
  ],
};
const LOOK = { style: { preset: 'box', highlight: 'pop' }, safe_area: 'tiktok', lang: 'en', max_words: 1 };
const HOOK = 'https://hooks.example/a?b=1';

function formOf(values: Readonly<Record<string, unknown>>) {
  const fields = Object.entries(values).map(([name, value]) => ({ name, value }));
  return { fields, isJson: true, hasAsset: false, asset: undefined, faults: [] };
}

async function parse(values: Readonly<Record<string, unknown>>) {
  return await parseRequest(readForm(formOf(values)), { faultOf: () => undefined });
}

describe('a stored request', () => {
  it.each([
    ['captions with words', { captions: CAPTIONS, ...LOOK, ...SIZE, duration: 2, format: 'webm' }],
    [
      'overlays',
      {
        overlays: [
          { text: 'a', style: { size: 2 } },
          { text: 'b', lang: 'ja' },
        ],
        ...LOOK,
        ...SIZE,
      },
    ],
    ['a file to fetch', { text: 'a', asset_url: 'https://files.example/a.jpg', fit: 'pad', ...SIZE, async: true }],
  ])('renders the same as the request that was accepted: %s', async (_name, values) => {
    const { speech: _speech, request, ...parsed } = await parse(values);
    const { request: stored } = readRequest(storeRequest(request), false);
    const { speech: _again, request: _request, ...restored } = await prepare(stored, undefined);
    expect(JSON.stringify(restored)).toBe(JSON.stringify(parsed));
  });

  it('keeps only the words and times of a transcript, and no secret of put_url', async () => {
    const put = { put_url: 'https://bucket.example/a.mp4?signature=hidden', put_headers: { 'x-amz-acl': 'hidden' } };
    const json = storeRequest((await parse({ captions: CAPTIONS, ...LOOK, ...SIZE, duration: 2, ...put })).request);
    expect(json).not.toMatch(/confidence|speaker|hidden/u);
  });

  it('makes captions of a transcript with the look of the request', async () => {
    const request = { captions: 'auto', asset_url: 'https://files.example/a.mp4', ...LOOK };
    const { request: stored } = readRequest(storeRequest((await parse(request)).request), false);
    const { speech, overlays } = await prepare(stored, undefined);
    expect(overlays).toEqual([]);
    expect(must(speech, 'the speech').lang).toBe('en');
    expect(await must(speech, 'the speech').overlaysFor(CAPTIONS)).toMatchObject([
      { text: 'Hello world', safeArea: 'tiktok', lang: 'en', style: { preset: 'box' }, paging: { maxWords: 1 } },
    ]);
  });

  it('is not checked again by rules that are stricter than when it was accepted', async () => {
    const { request } = await parse({ text: 'a', style: { size: 2 }, ...SIZE });
    const larger = { ...request, look: { ...request.look, style: { size: 99 } } };
    const restored = await prepare(readRequest(storeRequest(larger), false).request, undefined);
    expect(restored.overlays).toMatchObject([{ text: 'a', style: { size: 99 } }]);
  });

  it('is a repetition once it was delivered', async () => {
    const json = asReplay(storeRequest((await parse({ text: 'a', ...SIZE })).request), '{"sha256":"ab"}');
    expect(readRequest(json, false)).toMatchObject({ replay: { sha256: 'ab' }, request: { strict: false } });
  });

  it('of version 0.2.0 has its fields as they were sent', async () => {
    const values = { text: 'a', style: 'box', webhook_url: HOOK, ...SIZE };
    const { fields, isJson } = formOf(values);
    const json = JSON.stringify({ isJson, fields });
    expect(readRequest(json, false)).toMatchObject(JSON.parse(storeRequest((await parse(values)).request)));
    expect(webhookUrlIn(json)).toBe(HOOK);
    expect(webhookUrlIn(storeRequest((await parse(values)).request))).toBe(HOOK);
  });
});
