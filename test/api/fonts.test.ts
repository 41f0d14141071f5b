// Fonts of an account through the API: upload, use in every kind of request, who may change them, and their end.

import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildFont } from '../attack-fonts.ts';
import { BANGERS, fontForm, INTER_BOLD, renamedTo } from '../font-samples.ts';
import { hold, imageWorkers } from '../held-workers.ts';
import { runCommand } from '../run-command.ts';
import { until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { plainClip } from '../video/plain-clip.ts';
import { workDirectory } from '../video/render-clip.ts';
import { lowestPsnr } from '../video/psnr.ts';

interface Font {
  readonly id: string;
  readonly family: string;
  readonly bytes: number;
}

interface Problem {
  readonly code: string;
  readonly errors?: readonly { readonly pointer: string; readonly code: string; readonly detail: string }[];
}

const CANVAS = { width: 300, height: 400 };
/** As long as the ids of fonts are. */
const NO_FONT = `font_${'0'.repeat(32)}`;

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

async function call(
  method: string,
  address: string,
  body?: unknown,
  key = server.key,
  headers = {},
): Promise<Response> {
  const isForm = body instanceof FormData;
  return await fetch(new URL(address, server.url), {
    method,
    headers: {
      'x-api-key': key,
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
}

async function json<Body>(response: Promise<Response>, status: number): Promise<Body> {
  const text = await (await response).text();
  expect([(await response).status, text]).toEqual([status, expect.anything()]);
  return JSON.parse(text) as Body;
}

const upload = async (file: Buffer, key?: string): Promise<Font> =>
  await json(call('POST', '/v1/fonts', fontForm(file), key), 201);

async function png(style: unknown, { text = 'Golden hour', key = server.key } = {}): Promise<Buffer> {
  const response = await call('POST', '/v1/overlay', { text, style, ...CANVAS }, key);
  expect([response.status, response.headers.get('x-warnings')]).toEqual([200, null]);
  return Buffer.from(await response.arrayBuffer());
}

async function newKey(...args: readonly string[]): Promise<string> {
  return (JSON.parse(await server.cli('keys', 'create', ...args, '--json')) as { key: string }).key;
}

async function errorsOf(body: unknown, key?: string): Promise<Problem['errors']> {
  return (await json<Problem>(call('POST', '/v1/overlay', body, key), 400)).errors;
}

describe('an uploaded font', () => {
  it('is described, listed and deleted', async () => {
    const font = await upload(BANGERS);
    expect(font).toMatchObject({ family: 'Bangers', style: 'Regular', weights: [400], scripts: ['Latin'] });
    expect(font.id).toMatch(/^font_[\da-f]{32}$/u);
    expect(await json(call('GET', `/v1/fonts/${font.id}`), 200)).toEqual(font);
    const { fonts } = await json<{ fonts: Font[] }>(call('GET', '/v1/fonts'), 200);
    expect(fonts).toContainEqual(font);
    expect((await call('DELETE', `/v1/fonts/${font.id}`)).status).toBe(204);
    expect(await json(call('GET', `/v1/fonts/${font.id}`), 404)).toMatchObject({ code: 'font_not_found' });
    expect(await errorsOf({ text: 'Hi', style: { font: font.id }, ...CANVAS })).toMatchObject([
      { pointer: '#/style/font', code: 'unknown_font' },
    ]);
  });

  it('draws the letters of its file, in requests and in saved styles', async () => {
    const { id } = await upload(BANGERS);
    const lines = async (font: string): Promise<unknown> => {
      const body = { text: 'Golden hour', style: { font }, ...CANVAS };
      return (await json<{ bars: { lines: unknown }[] }>(call('POST', '/v1/layout', body), 200)).bars[0]?.lines;
    };
    expect(await lines(id)).toEqual(await lines('bangers'));
    const expected = await png({ font: id });
    await json(call('PUT', '/v1/styles/with-font', { font: id }), 200);
    expect((await png('with-font')).equals(expected)).toBe(true);
    expect((await png('bar')).equals(expected)).toBe(false);
  });

  it('can be WOFF2, and has bold letters if its file is bold', async () => {
    const font = await upload(INTER_BOLD);
    expect(font).toMatchObject({ family: 'Inter', style: 'Bold', weights: [700] });
    const [bold, usual] = [await png({ font: font.id, weight: 'bold' }), await png({ font: font.id })];
    expect(bold.equals(usual)).toBe(true);
  });

  it('leaves characters that it lacks to other fonts, with a warning', async () => {
    const { id } = await upload(BANGERS);
    const response = await call('POST', '/v1/overlay', { text: 'Golden 夕焼け', style: { font: id }, ...CANVAS });
    expect([response.status, response.headers.get('x-warnings')]).toEqual([200, 'font_fallback']);
    const layout = await json<{ bars: { fonts: string[] }[] }>(
      call('POST', '/v1/layout', { text: 'Golden 夕焼け', lang: 'ja', style: { font: id }, ...CANVAS }),
      200,
    );
    expect(layout.bars[0]?.fonts).toEqual([id, 'main', 'noto-sans-jp']);
  });

  it('draws the letters of its file in a video', async () => {
    const work = workDirectory();
    const clip = readFileSync(plainClip(work.path('clip.mp4'), { width: 320, height: 240, frames: 10 }));
    const video = async (font: string): Promise<string> => {
      const body = new FormData();
      body.set('asset', new Blob([new Uint8Array(clip)]), 'clip.mp4');
      body.set('text', 'Golden hour');
      body.set('style', JSON.stringify({ font, size: 2 }));
      const response = await call('POST', '/v1/overlay', body);
      expect([response.status, response.headers.get('x-warnings')]).toEqual([200, null]);
      const path = work.path(`${font}.mp4`);
      writeFileSync(path, Buffer.from(await response.arrayBuffer()));
      return path;
    };
    try {
      const { id } = await upload(BANGERS);
      const own = await video(id);
      const [same, other] = [lowestPsnr(own, await video('bangers')), lowestPsnr(own, await video('inter'))];
      expect(same).toBeGreaterThan(other + 10);
    } finally {
      work.remove();
    }
  });

  it('stays with renders that were accepted before it was deleted', async () => {
    const { id } = await upload(BANGERS);
    const expected = await png({ font: id });
    const release = hold(imageWorkers(server));
    let location = '';
    try {
      const body = { text: 'Golden hour', style: { font: id }, ...CANVAS };
      const accepted = await call('POST', '/v1/overlay', body, server.key, { prefer: 'respond-async' });
      expect(accepted.status).toBe(202);
      location = accepted.headers.get('location') ?? '';
      expect((await call('DELETE', `/v1/fonts/${id}`)).status).toBe(204);
    } finally {
      release();
    }
    const render = async (): Promise<{ status: string; output: { url: string } | null }> =>
      await json(call('GET', location), 200);
    await until(async () => ['succeeded', 'failed'].includes((await render()).status));
    const { status, output } = await render();
    expect(status).toBe('succeeded');
    const result = await call('GET', output?.url ?? '');
    expect(Buffer.from(await result.arrayBuffer()).equals(expected)).toBe(true);
  });

  it('belongs to its account alone', async () => {
    const { id } = await upload(BANGERS);
    const other = await newKey('--plan', 'business');
    expect(await json(call('GET', `/v1/fonts/${id}`, undefined, other), 404)).toMatchObject({ code: 'font_not_found' });
    expect((await call('DELETE', `/v1/fonts/${id}`, undefined, other)).status).toBe(404);
    expect(await errorsOf({ text: 'Hi', style: { font: id }, ...CANVAS }, other)).toMatchObject([
      { code: 'unknown_font' },
    ]);
    expect(await json(call('GET', '/v1/fonts', undefined, other), 200)).toEqual({ fonts: [] });
  });

  it('never meets a font of the same name of another account', async () => {
    const other = await newKey('--plan', 'business');
    const [own, theirs] = await Promise.all([upload(BANGERS), upload(renamedTo('Bangers', INTER_BOLD), other)]);
    expect(theirs.family).toBe(own.family);
    const [usual, expected] = [await png({ font: own.id }), await png({ font: theirs.id }, { key: other })];
    expect(usual.equals(expected)).toBe(false);
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        expect((await png({ font: own.id })).equals(usual)).toBe(true);
        expect((await png({ font: theirs.id }, { key: other })).equals(expected)).toBe(true);
      }),
    );
  });
});

describe('an upload', () => {
  it('needs the confirmation of the license', async () => {
    for (const fields of [{}, { license_confirmed: 'false' }]) {
      const { errors } = await json<Problem>(call('POST', '/v1/fonts', fontForm(BANGERS, fields)), 400);
      expect(errors).toMatchObject([{ pointer: '#/license_confirmed', code: 'required' }]);
    }
  });

  it('reports unknown fields and a missing file together', async () => {
    const form = new FormData();
    form.set('text', 'Hi');
    const { errors } = await json<Problem>(call('POST', '/v1/fonts', form), 400);
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['#/text', '#/license_confirmed', '#/asset']);
  });

  it('an upload is refused if it is damaged, too large or not a font', async () => {
    const status = async (file: Buffer): Promise<[number, string]> => {
      const response = await call('POST', '/v1/fonts', fontForm(file));
      return [response.status, ((await response.json()) as Problem).code];
    };
    expect(await status(Buffer.from('not a font'))).toEqual([415, 'unsupported_asset']);
    expect(await status(Buffer.from('wOFF and more'))).toEqual([415, 'unsupported_asset']);
    expect(await status(BANGERS.subarray(0, 20_000))).toEqual([422, 'asset_undecodable']);
    expect(await status(INTER_BOLD.subarray(0, 20_000))).toEqual([422, 'asset_undecodable']);
    const large = Buffer.concat([BANGERS, Buffer.alloc(8 * 1024 * 1024)]);
    expect(await status(large)).toEqual([413, 'asset_too_large']);
  });

  it('needs a live key without allowed origins, and so does deleting', async () => {
    const { id } = await upload(BANGERS);
    const test = await newKey('--account', server.account, '--test');
    const created = await server.cli('keys', 'create', '--account', server.account, '--json');
    const page = JSON.parse(created) as { id: string; key: string };
    await server.cli('keys', 'origins', page.id, 'https://page.example');
    for (const key of [test, page.key]) {
      for (const [method, address, body] of [
        ['POST', '/v1/fonts', fontForm(BANGERS)],
        ['DELETE', `/v1/fonts/${id}`, undefined],
      ] as const) {
        const request = call(method, address, body, key, { origin: 'https://page.example' });
        expect(await json<Problem>(request, 403)).toMatchObject({ code: 'server_key_required' });
      }
      const body = { text: 'Hi', style: { font: id }, ...CANVAS };
      expect((await call('POST', '/v1/overlay', body, key, { origin: 'https://page.example' })).status).toBe(200);
    }
  });

  it('is refused for a while after 30 of an hour, whatever became of them, and logos count for themselves', async () => {
    const key = await newKey('--plan', 'business');
    for (const kind of ['font', 'logo']) {
      const empty = async (): Promise<Response> => await call('POST', `/v1/${kind}s`, new FormData(), key);
      for (let count = 0; count < 30; count += 1) expect((await empty()).status).toBe(400);
      const refused = await empty();
      expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.closeTo(120, -1)]);
      expect(await refused.json()).toMatchObject({
        code: 'rate_limited',
        detail: `You can upload 30 ${kind}s per hour. Try again after \`retry-after\` seconds.`,
      });
    }
  });

  it('is refused with the value and the limit if a render with it would be slow', async () => {
    const points = Array.from({ length: 6_000 }, (_, index) => [index % 500, index % 7] as const);
    const file = buildFont({ glyphs: [{ advance: 600, contours: [points] }], characters: 'a' });
    expect(await json(call('POST', '/v1/fonts', fontForm(file)), 422)).toMatchObject({
      code: 'asset_undecodable',
      detail: expect.stringMatching(/^A glyph of the font has 6,00\d points; the limit is 5,000\./u),
    });
  });

  it('is refused when the account has as many fonts as its plan allows', async () => {
    const key = await newKey('--plan', 'business');
    for (let count = 0; count < 20; count += 1) await upload(BANGERS, key);
    expect(await json(call('POST', '/v1/fonts', fontForm(BANGERS), key), 409)).toMatchObject({
      code: 'too_many_fonts',
    });
  });
});

it('a style can’t be saved with a font that the account lacks', async () => {
  const { errors } = await json<Problem>(call('PUT', '/v1/styles/lost', { font: NO_FONT }), 400);
  expect(errors).toMatchObject([{ pointer: '#/font', code: 'unknown_font' }]);
});

describe('storybar fonts', () => {
  const runFonts = async (...args: string[]) =>
    await runCommand(['fonts', ...args], { env: { STORYBAR_URL: server.url, STORYBAR_API_KEY: server.key } });

  it('adds, lists and deletes fonts', async () => {
    const work = workDirectory();
    const file = work.path('font.ttf');
    writeFileSync(file, BANGERS);
    const unconfirmed = await runFonts('add', file);
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([64, expect.stringContaining('--license-confirmed')]);
    const added = await runFonts('add', file, '--license-confirmed');
    const id = added.stdout.trim();
    expect([added.code, id]).toEqual([0, expect.stringMatching(/^font_[0-9a-f]{32}$/u)]);
    expect((await runFonts('list')).stdout).toMatch(new RegExp(`${id} +Bangers +Regular +400 +555`, 'u'));
    expect((await runFonts('delete', id)).stdout).toBe(`deleted ${id}\n`);
    const again = await runFonts('delete', id);
    expect([again.code, again.stderr]).toEqual([65, expect.stringContaining('Font not found')]);
    work.remove();
  });
});
