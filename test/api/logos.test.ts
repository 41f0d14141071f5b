// Logos through the API: uploads, their use in every kind of render, and who may change them.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { gifFile } from '../gif-file.ts';
import { runCommand } from '../run-command.ts';
import { until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

interface Logo {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

const RED = { r: 255, g: 0, b: 0 };
const CANVAS = { text: 'Hi', width: 400, height: 800, position: 50 };
let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

async function square(format: 'png' | 'webp' | 'jpeg', side = 100): Promise<Buffer> {
  const image = sharp({ create: { width: side, height: side, channels: 4, background: { ...RED, alpha: 1 } } });
  return await image.toFormat(format, { lossless: true, quality: 100 }).toBuffer();
}

async function upload(file: Buffer, key = server.key, fields: Record<string, string> = {}): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('asset', new Blob([new Uint8Array(file)]), 'logo');
  return await fetch(new URL('/v1/logos', server.url), { method: 'POST', headers: { 'x-api-key': key }, body });
}

async function uploaded(file: Buffer): Promise<Logo> {
  const response = await upload(file);
  const text = await response.text();
  expect([response.status, text]).toEqual([201, expect.anything()]);
  return JSON.parse(text) as Logo;
}

async function call(method: string, address: string, body?: unknown, key = server.key): Promise<Response> {
  return await fetch(new URL(address, server.url), {
    method,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

interface Pixels {
  at(x: number, y: number): number[];
}

async function pixelsOf(image: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(image).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { at: (x, y) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)] };
}

async function render(body: unknown): Promise<Response> {
  const response = await call('POST', '/v1/overlay', body);
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  return response;
}

const imageOf = async (response: Response): Promise<Pixels> =>
  await pixelsOf(Buffer.from(await response.arrayBuffer()));
const codeOf = async (response: Response): Promise<string> => ((await response.json()) as { code: string }).code;

async function newKey(...args: readonly string[]): Promise<string> {
  return (JSON.parse(await server.cli('keys', 'create', ...args, '--json')) as { key: string }).key;
}

describe('a logo', () => {
  it.each(['png', 'webp', 'jpeg'] as const)(
    'a logo is stored as a PNG and drawn in its corner, from %s',
    async (format) => {
      const { id, width, height } = await uploaded(await square(format));
      expect([width, height]).toEqual([100, 100]);
      const logo = { id, corner: 'bottom-left', width: 25, margin: 5 };
      const pixels = await imageOf(await render({ ...CANVAS, style: { logo } }));
      const [red = 0, green = 0, blue = 0, alpha] = pixels.at(70, 730);
      expect([red > 250, green < 5, blue < 5, alpha]).toEqual([true, true, true, 255]);
      expect(pixels.at(15, 730)).toEqual([0, 0, 0, 0]);
      expect(pixels.at(70, 790)).toEqual([0, 0, 0, 0]);
    },
  );

  it('a logo has its opacity, and edges without a dark rim', async () => {
    const half = await sharp({ create: { width: 64, height: 64, channels: 4, background: { ...RED, alpha: 0.5 } } })
      .png()
      .toBuffer();
    const { id } = await uploaded(half);
    const pixels = await imageOf(await render({ ...CANVAS, style: { logo: { id, width: 20, opacity: 0.5 } } }));
    const [red, green, blue, alpha = 0] = pixels.at(350, 50);
    expect([red, green, blue]).toEqual([255, 0, 0]);
    expect(Math.abs(alpha - 64)).toBeLessThanOrEqual(2);
  });

  it('a logo moves away from captions with its margin, and a warning that strict refuses', async () => {
    const { id } = await uploaded(await square('png'));
    const style = { logo: { id, corner: 'top-left', width: 25, margin: 5 } };
    const body = { ...CANVAS, position: 5, style };
    const response = await render(body);
    expect(response.headers.get('x-warnings')).toBe('logo_moved');
    const layout = (await (await call('POST', '/v1/layout', body)).json()) as {
      bars: { y: number; height: number }[];
      logo: { x: number; y: number; width: number; height: number };
      warnings: string[];
    };
    const [bar = { y: 0, height: 0 }] = layout.bars;
    expect(layout.warnings).toEqual(['logo_moved']);
    expect(layout.logo).toEqual({ x: 20, y: bar.y + bar.height + 20, width: 100, height: 100 });
    const pixels = await imageOf(response);
    expect(pixels.at(70, layout.logo.y).slice(0, 3)).toEqual([255, 0, 0]);
    expect(pixels.at(70, layout.logo.y - 1)).toEqual([0, 0, 0, 0]);
    const strict = await call('POST', '/v1/overlay', { ...body, strict: true });
    expect(await codeOf(strict)).toBe('strict_warnings');
    const free = await call('POST', '/v1/layout', { ...CANVAS, style });
    expect(await free.json()).toMatchObject({ logo: { x: 20, y: 20 }, warnings: [] });
    expect(await (await call('POST', '/v1/layout', CANVAS)).json()).toMatchObject({ logo: null });
  });

  it('a logo is the first frame of an animation, without metadata, and no larger than 1 MB', async () => {
    const frames = gifFile(64, 96, [
      { delay: 10, color: 1 },
      { delay: 10, color: 2 },
    ]);
    const animation = await sharp(frames, { animated: true }).webp({ lossless: true }).toBuffer();
    expect(await uploaded(animation)).toMatchObject({ width: 64, height: 96 });
    const turned = await sharp(await square('png', 120))
      .resize({ width: 120, height: 60, fit: 'fill' })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    expect(await uploaded(turned)).toMatchObject({ width: 60, height: 120 });
    const noise = randomBytes(700 * 700 * 3);
    const photo = await sharp(noise, { raw: { width: 700, height: 700, channels: 3 } })
      .jpeg({ quality: 80 })
      .toBuffer();
    const { bytes, width, height } = await uploaded(photo);
    expect(bytes).toBeLessThanOrEqual(1_000_000);
    expect(width).toBe(height);
    expect(width).toBeGreaterThan(350);
  });

  it('a logo is part of saved styles and of asynchronous renders, which keep it after it was deleted', async () => {
    const { id } = await uploaded(await square('png'));
    expect((await call('PUT', '/v1/styles/branded', { preset: 'plain', logo: { id } })).status).toBe(200);
    const expected = Buffer.from(await (await render({ ...CANVAS, style: 'branded' })).arrayBuffer());
    const accepted = await call('POST', '/v1/overlay', { ...CANVAS, style: 'branded', async: true });
    expect(accepted.status).toBe(202);
    const render1 = (await accepted.json()) as { id: string };
    expect((await call('DELETE', `/v1/logos/${id}`)).status).toBe(204);
    const url = await until(async () => {
      const found = (await (await call('GET', `/v1/renders/${render1.id}`)).json()) as {
        output: { url: string } | null;
      };
      return found.output?.url;
    });
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(expected);
    const later = await call('POST', '/v1/overlay', { ...CANVAS, style: 'branded' });
    expect(((await later.json()) as { errors: unknown }).errors).toMatchObject([
      { pointer: '#/style', code: 'unknown_logo' },
    ]);
  });

  it('a logo is drawn on photos, and keeps the pixels of a JPEG elsewhere', async () => {
    const { id } = await uploaded(await square('png'));
    const photo = await sharp({ create: { width: 640, height: 640, channels: 3, background: '#336699' } })
      .jpeg()
      .toBuffer();
    const body = new FormData();
    body.append('text', 'Hi');
    body.append('format', 'jpeg');
    body.append('style', JSON.stringify({ logo: { id, corner: 'top-right', width: 20 } }));
    body.append('asset', new Blob([new Uint8Array(photo)]), 'photo.jpg');
    const response = await fetch(new URL('/v1/overlay', server.url), {
      method: 'POST',
      headers: { 'x-api-key': server.key },
      body,
    });
    expect(response.headers.get('x-source-pixels')).toBe('kept');
    const [red = 0, green = 255] = (await imageOf(response)).at(560, 80);
    expect(red).toBeGreaterThan(240);
    expect(green).toBeLessThan(20);
  });

  it("a logo is refused when it isn't an image, too large, unknown or of another account", async () => {
    expect(await codeOf(await upload(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')))).toBe(
      'unsupported_asset',
    );
    expect(await codeOf(await upload((await square('png')).subarray(0, 60)))).toBe('asset_undecodable');
    expect(await codeOf(await upload(await square('png', 2_100)))).toBe('asset_too_many_pixels');
    expect(await codeOf(await upload(Buffer.alloc(2_100_000, await square('png'))))).toBe('asset_too_large');
    expect(await codeOf(await upload(await square('png'), server.key, { text: 'x' }))).toBe('invalid_fields');
    const { id } = await uploaded(await square('png'));
    const key = await newKey('--plan', 'business');
    const foreign = await call('POST', '/v1/overlay', { ...CANVAS, style: { logo: { id } } }, key);
    expect(((await foreign.json()) as { errors: unknown }).errors).toMatchObject([{ code: 'unknown_logo' }]);
    expect((await call('GET', `/v1/logos/${id}`, undefined, key)).status).toBe(404);
    const overlays = [{ text: 'x', style: { logo: { id } } }];
    const inOverlay = await call('POST', '/v1/overlay', { overlays, width: 99, height: 99 });
    expect(((await inOverlay.json()) as { errors: unknown }).errors).toMatchObject([
      { pointer: '#/overlays/0/style/logo', code: 'unknown_field' },
    ]);
  });

  it('an upload without a file and with an unknown field is refused with both faults', async () => {
    const form = new FormData();
    form.set('text', 'Hi');
    const refused = await fetch(`${server.url}/v1/logos`, {
      method: 'POST',
      headers: { 'x-api-key': server.key },
      body: form,
    });
    expect(await refused.json()).toMatchObject({
      code: 'invalid_fields',
      errors: [
        { pointer: '#/text', code: 'unknown_field', detail: 'Unknown field. Send only the file, in asset.' },
        { pointer: '#/asset', code: 'required' },
      ],
    });
  });

  it('a logo can be uploaded and deleted only with a key that stays on a server', async () => {
    const test = await newKey('--account', server.account, '--test');
    expect(await codeOf(await upload(await square('png'), test))).toBe('server_key_required');
    const { id } = await uploaded(await square('png'));
    expect(await codeOf(await call('DELETE', `/v1/logos/${id}`, undefined, test))).toBe('server_key_required');
    expect((await call('POST', '/v1/overlay', { ...CANVAS, style: { logo: { id } } }, test)).status).toBe(200);
  });
});

describe('storybar logos', () => {
  const runLogos = async (...args: string[]) =>
    await runCommand(['logos', ...args], { env: { STORYBAR_URL: server.url, STORYBAR_API_KEY: server.key } });

  it('adds, lists and deletes logos', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-logos-'));
    const file = path.join(folder, 'logo.png');
    writeFileSync(file, await square('png', 30));
    const added = await runLogos('add', file);
    const id = added.stdout.trim();
    expect([added.code, id]).toEqual([0, expect.stringMatching(/^logo_[0-9a-f]{32}$/u)]);
    expect((await runLogos('list')).stdout).toContain(`${id}  30x30`);
    expect((await runLogos('delete', id)).stdout).toBe(`deleted ${id}\n`);
    const again = await runLogos('delete', id);
    expect([again.code, again.stderr]).toEqual([65, expect.stringContaining('Logo not found')]);
    rmSync(folder, { recursive: true });
  });
});
