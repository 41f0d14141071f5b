// Styles and safe areas over HTTP, in every encoding.

import { beforeAll, expect, it } from 'vitest';
import { decode, pixelAt } from '../pictures.ts';
import { form, post } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

async function sendJson(path: string, body: object): Promise<Response> {
  return await fetch(new URL(path, server.url), {
    method: 'POST',
    headers: { 'x-api-key': server.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const SIZE = { width: 270, height: 480 };

it('the server draws the same box for JSON, multipart and URL-encoded requests', async () => {
  const style = { preset: 'box', background: '#0000ff', align: 'left', size: 2 };
  const json = await sendJson('/v1/overlay', { ...SIZE, text: 'Hi', style });
  expect(json.status).toBe(200);
  const fields = { width: '270', height: '480', text: 'Hi', style: JSON.stringify(style) };
  const multipart = await post(server, form(fields));
  const encoded = await fetch(new URL('/v1/overlay', server.url), {
    method: 'POST',
    headers: { 'x-api-key': server.key },
    body: new URLSearchParams(fields),
  });
  const [first, ...others] = await Promise.all(
    [json, multipart, encoded].map(async (response) => Buffer.from(await response.arrayBuffer())),
  );
  for (const other of others) expect(other.equals(first ?? Buffer.alloc(0))).toBe(true);
  const pixels = await decode(first ?? Buffer.alloc(0));
  expect(pixelAt(pixels, 0, 240)).toEqual([0, 0, 0, 0]);
  expect(pixelAt(pixels, 12, 240)).toEqual([0, 0, 255, 255]);
});

it('the server reports warnings of styles and safe areas, and refuses them with strict', async () => {
  const body = {
    ...SIZE,
    safe_area: 'reels',
    style: { preset: 'box', color: '#111111', weight: 'bold' },
    overlays: [{ text: 'ᚱᚢᚾᛖ', position: 0 }],
  };
  const warnings = ['safe_area_moved', 'low_contrast', 'no_bold'];
  const rendered = await sendJson('/v1/overlay', body);
  expect(rendered.headers.get('x-warnings')).toBe(warnings.join(', '));
  const strict = await sendJson('/v1/overlay', { ...body, strict: true });
  expect(strict.status).toBe(422);
  expect(await strict.json()).toMatchObject({ code: 'strict_warnings', warnings });
});

it('the server returns every fault of a style in one response', async () => {
  const response = await sendJson('/v1/overlay', {
    ...SIZE,
    style: { size: 9, shape: 'round' },
    safe_area: 'snapchat',
    overlays: [{ text: 'a', style: { preset: 'plain', background: '#000000' } }],
  });
  expect(response.status).toBe(400);
  const { errors } = (await response.json()) as { errors: { pointer: string; code: string }[] };
  expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    '#/overlays/0/style/background conflict',
    '#/style/shape unknown_field',
    '#/style/size out_of_range',
    '#/safe_area invalid_choice',
  ]);
});

it('lays out styles and safe areas as it renders them', async () => {
  const response = await sendJson('/v1/layout', {
    width: 1080,
    height: 1920,
    safe_area: 'shorts',
    style: { preset: 'box', align: 'right' },
    overlays: [
      { text: 'Hi', position: 100 },
      { text: 'full', position: 50, style: 'bar' },
    ],
  });
  expect(response.status).toBe(200);
  const { bars, warnings } = (await response.json()) as {
    bars: { x: number; y: number; width: number; height: number }[];
    warnings: string[];
  };
  expect(warnings).toEqual(['safe_area_moved']);
  const [box, bar] = bars;
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBe(1080 - 192);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(1920 - 672);
  expect(bar).toMatchObject({ x: 0, width: 1080 });
});
