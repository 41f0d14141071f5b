// Free requests before paying: POST /v1/layout, GET /v1/usage, warnings and `strict`.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, post, problemOf, until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { headerSeconds, priceOfFile, pricedClips, pricedSamples } from '../video/priced-clips.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const JSON_TYPE = { 'content-type': 'application/json' };
const UNSUPPORTED = '\u{12000}';

interface Layout {
  readonly width: number;
  readonly bars: readonly { y: number; height: number; lines: { text: string }[]; warnings: string[] }[];
  readonly warnings: string[];
  readonly credits: number;
}

async function createKey(plan = 'free', ...more: string[]): Promise<{ key: string; id: string }> {
  return JSON.parse(await server.cli('keys', 'create', '--plan', plan, '--json', ...more)) as {
    key: string;
    id: string;
  };
}

const askLayout = async (body: object, key = server.key): Promise<Response> =>
  await fetch(`${server.url}/v1/layout`, {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-api-key': key },
    body: JSON.stringify(body),
  });

const layout = async (body: object): Promise<Layout> => {
  const response = await askLayout(body);
  expect(response.status).toBe(200);
  return (await response.json()) as Layout;
};

describe('POST /v1/layout', () => {
  it('shows where a long word is cut, by the syllables of its language', async () => {
    const text = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz';
    const { bars } = await layout({ width: 1080, height: 1920, text, lang: 'de-AT', style: { size: 1.3 } });
    expect(bars[0]?.lines.map((line) => line.text)).toEqual([
      'Rindfleischetikettierungs-',
      'überwachungsaufgaben-',
      'übertragungsgesetz',
    ]);
  });

  it('returns the rectangle, lines, fonts and warnings of every bar, and the price, free of charge', async () => {
    const { key } = await createKey();
    const overlays = [{ text: 'Hello\nworld', position: 0 }, { text: `שלום ${UNSUPPORTED}🎬` }];
    const response = await askLayout({ width: 1000, height: 1000, overlays }, key);
    expect(response.headers.get('ratelimit-policy')).toBe('"burst";q=600;w=60');
    expect(await response.json()).toEqual({
      width: 1000,
      height: 1000,
      bars: [
        {
          x: 0,
          y: 0,
          width: 1000,
          height: 154,
          font_size: 48,
          direction: 'ltr',
          lines: [
            { text: 'Hello', x: expect.any(Number), width: expect.any(Number), baseline: expect.any(Number) },
            { text: 'world', x: expect.any(Number), width: expect.any(Number), baseline: expect.any(Number) },
          ],
          fonts: ['main'],
          missing_characters: [],
          warnings: [],
          page: null,
        },
        {
          x: 0,
          y: 552,
          width: 1000,
          height: 96,
          font_size: 48,
          direction: 'rtl',
          lines: [expect.objectContaining({ text: expect.stringContaining('שלום') as string })],
          fonts: expect.arrayContaining([
            expect.stringContaining('hebrew'),
            expect.stringContaining('emoji'),
          ]) as string[],
          missing_characters: [UNSUPPORTED],
          warnings: ['missing_glyphs'],
          page: null,
        },
      ],
      captions: null,
      logo: null,
      warnings: ['missing_glyphs'],
      credits: 1,
    });
    const render = await post({ url: server.url, key }, form({ width: '32', height: '32', text: 'a' }));
    expect(render.headers.get('x-credits-remaining')).toBe('99');
  });

  it('prices a video by its duration', async () => {
    const size = { width: 320, height: 320, text: 'a' };
    expect((await layout({ ...size, duration: 5 })).credits).toBe(1);
    expect((await layout({ ...size, duration: 12.5 })).credits).toBe(3);
  });

  it('quotes what a render of a clip with this duration costs', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-quotes-'));
    try {
      const differences: string[] = [];
      const compare = async (file: string, charged: number): Promise<void> => {
        const duration = headerSeconds(file);
        const { credits } = await layout({ width: 320, height: 320, text: 'a', duration });
        if (charged !== credits) differences.push(`${path.basename(file)}: quoted ${credits}, charged ${charged}`);
      };
      for (const file of pricedClips(folder)) {
        const render = await post(server, form({ asset: readFileSync(file), text: 'a' }));
        expect(render.status).toBe(200);
        await compare(file, Number(render.headers.get('x-credits-charged')));
      }
      for (const file of pricedSamples()) await compare(file, priceOfFile(file));
      expect(differences).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('reports shrunk text and overlapping bars', async () => {
    const crowded = await layout({
      width: 400,
      height: 40,
      overlays: [
        { text: Array.from({ length: 20 }, () => 'a').join('\n'), position: 50 },
        { text: 'b', position: 50 },
      ],
    });
    expect(crowded.warnings).toEqual(['text_shrunk', 'bars_overlap', 'text_too_small']);
    expect(crowded.bars.map(({ warnings }) => warnings)).toEqual([
      ['text_shrunk', 'bars_overlap', 'text_too_small'],
      ['bars_overlap', 'text_too_small'],
    ]);
  });

  it('returns every field error in one response', async () => {
    const problem = await problemOf(
      await askLayout({ text: '', width: 5, asset_url: 'https://example.com', duration: -1, strict: 'yes' }),
    );
    expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/asset_url unknown_field',
      '#/width out_of_range',
      '#/height required',
      '#/text blank',
      '#/strict wrong_type',
      '#/duration out_of_range',
    ]);
  });

  it('runs at most eight at a time for an account', async () => {
    const { key } = await createKey();
    const headers = { ...JSON_TYPE, 'x-api-key': key, 'content-length': '100' };
    const unfinished = Array.from({ length: 8 }, () => request(`${server.url}/v1/layout`, { method: 'POST', headers }));
    for (const each of unfinished) each.on('error', () => undefined).flushHeaders();
    const body = { width: 32, height: 32, text: 'a' };
    // Requests are sent slowly, because each counts toward the rate limit, which is refused with the same status.
    const codeOf = async (): Promise<string | undefined> => {
      await sleep(200);
      const response = await askLayout(body, key);
      return response.status === 200 ? 'none' : (await problemOf(response)).code;
    };
    await until(async () => (await codeOf()) === 'too_many_renders');
    expect((await askLayout(body)).status).toBe(200);
    for (const each of unfinished) each.destroy();
    await until(async () => (await codeOf()) === 'none');
  });

  it('needs a key and takes no file', async () => {
    expect((await problemOf(await askLayout({}, 'wrong'))).status).toBe(401);
    const response = await fetch(`${server.url}/v1/layout`, {
      method: 'POST',
      headers: { 'x-api-key': server.key },
      body: form({ width: '32', height: '32', text: 'a' }),
    });
    expect((await problemOf(response)).code).toBe('unsupported_content_type');
    expect((await fetch(`${server.url}/v1/layout`)).status).toBe(405);
  });
});

describe('warnings', () => {
  const overlays = JSON.stringify([
    { text: UNSUPPORTED, position: 50 },
    { text: 'b', position: 51 },
  ]);

  it('warnings are sent as a header of the render, in the documented order, and the header is absent without warnings', async () => {
    const asset = await plainPng(320, 320, '#fff');
    const response = await post(server, form({ asset, overlays }));
    expect(response.headers.get('x-warnings')).toBe('missing_glyphs, bars_overlap');
    const fine = await post(server, form({ asset, text: 'a' }));
    expect(fine.headers.get('x-warnings')).toBeNull();
  });

  it('warnings are errors with strict, and the request costs nothing', async () => {
    const asset = await plainPng(320, 320, '#fff');
    const { key } = await createKey();
    const caller = { url: server.url, key };
    const refused = await post(caller, form({ asset, overlays, strict: 'true' }));
    expect(refused.headers.get('x-credits-charged')).toBe('0');
    expect(await problemOf(refused)).toMatchObject({
      status: 422,
      code: 'strict_warnings',
      warnings: ['missing_glyphs', 'bars_overlap'],
    });
    const json = { width: 320, height: 320, overlays: JSON.parse(overlays) as unknown, strict: true };
    const asJson = await post(caller, JSON.stringify(json), { headers: JSON_TYPE });
    expect((await problemOf(asJson)).code).toBe('strict_warnings');
    const fine = await post(caller, form({ asset, text: 'a', strict: 'true' }));
    expect([fine.status, fine.headers.get('x-credits-remaining')]).toEqual([200, '99']);
    expect((await post(caller, form({ asset, overlays, strict: 'false' }))).status).toBe(200);
  });
});

describe('GET /v1/usage', () => {
  const askUsage = async (key: string, query = '', headers: Record<string, string> = {}): Promise<Response> =>
    await fetch(`${server.url}/v1/usage${query}`, { headers: { 'x-api-key': key, ...headers } });

  it('returns plan, period, credits and limits, and renders per day and key', async () => {
    const { key, id } = await createKey('starter');
    const render = await post({ url: server.url, key }, form({ width: '32', height: '32', text: 'a' }));
    await render.arrayBuffer();
    const today = new Date().toISOString().slice(0, 10);
    const usage = await until(async () => {
      const body = (await (await askUsage(key)).json()) as { keys: unknown[] };
      return body.keys.length > 0 ? body : undefined;
    });
    expect(usage).toMatchObject({
      plan: {
        name: 'starter',
        credits: 2_000,
        requests_per_minute: 300,
        concurrent_renders: 4,
        limits: { image_bytes: 25_000_000, video_seconds: 60 },
      },
      period: { starts_at: expect.any(String), ends_at: expect.any(String), renews: true },
      credits: { limit: 2_000, used: 1, reserved: 0, remaining: 1_999 },
      to: today,
      days: [{ day: today, mode: 'live', outcome: 'delivered', renders: 1, credits: 1 }],
      keys: [{ day: today, key_id: id, mode: 'live', renders: 1, credits: 1 }],
    });
    const past = await (await askUsage(key, '?from=2020-01-01&to=2020-01-31')).json();
    expect(past).toMatchObject({ from: '2020-01-01', to: '2020-01-31', days: [], keys: [] });
  });

  it('returns 400 for days that do not exist and ranges that are too long', async () => {
    const { errors = [] } = await problemOf(await askUsage(server.key, '?from=2026-02-30&to=tomorrow'));
    expect(errors.map(({ pointer }) => pointer)).toEqual(['#/from', '#/to']);
    expect((await askUsage(server.key, '?from=2020-01-01&to=2026-01-01')).status).toBe(400);
    expect((await askUsage(server.key, '?from=2026-02-01&to=2026-01-01')).status).toBe(400);
  });

  it('needs a key, and can be read by pages that may use the key', async () => {
    expect((await askUsage('wrong')).status).toBe(401);
    const preflight = await fetch(`${server.url}/v1/usage`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE');
  });
});
