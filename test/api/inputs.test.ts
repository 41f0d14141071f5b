import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { beforeAll, expect, it } from 'vitest';
import { gifFile } from '../gif-file.ts';
import { grid, heifFile, ispe } from '../heif-boxes.ts';
import { plainPng } from '../pictures.ts';
import { form, health, post, problemOf } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const animation = (): Buffer =>
  gifFile(
    64,
    96,
    [1, 2, 3].map((color) => ({ delay: 400, color })),
  );

async function restarts(): Promise<readonly number[]> {
  const { videos, images } = (await health(server)).renderer;
  return [videos.restarts, images.restarts];
}

async function facts(response: Response): Promise<unknown[]> {
  const { status, headers } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  const isPng = headers.get('content-type') === 'image/png';
  const { width, height } = isPng ? await sharp(bytes).metadata() : { width: 0, height: 0 };
  return [
    status,
    headers.get('content-type'),
    headers.get('x-source-type'),
    headers.get('x-credits-charged'),
    width,
    height,
  ];
}

it('captions AVIF and GIF images and returns PNGs, for one credit each', async () => {
  const avif = await sharp(await plainPng(320, 240, '#4682b4'))
    .avif({ effort: 0 })
    .toBuffer();
  const expected = (width: number, height: number) => [200, 'image/png', 'image', '1', width, height];
  expect(await facts(await post(server, form({ asset: avif, text: 'Hello' })))).toEqual(expected(320, 240));
  expect(await facts(await post(server, form({ asset: animation(), text: 'Hello' })))).toEqual(expected(64, 96));
});

it.skipIf(!hasSharedMedia)('captions a HEIC photo of a phone', async () => {
  const asset = readFileSync(sharedMedia('heif/metadataextrac__cheers_1440x960.heic'));
  const response = await post(server, form({ asset, text: 'Hello' }));
  expect(await facts(response)).toEqual([200, 'image/png', 'image', '1', 1440, 960]);
});

it('the server turns an animated GIF into a video when the format is mp4, at the price of a video', async () => {
  const response = await post(server, form({ asset: animation(), text: 'Hello', format: 'mp4' }));
  expect(await facts(response)).toEqual([200, 'video/mp4', 'video', '3', 0, 0]);
});

it('the server turns an animated WebP into a video when the format is mp4, and into an image of its first frame otherwise', async () => {
  const asset = await sharp(animation(), { animated: true }).webp().toBuffer();
  const video = await post(server, form({ asset, text: 'Hello', format: 'mp4' }));
  expect(await facts(video)).toEqual([200, 'video/mp4', 'video', '3', 0, 0]);
  expect(await facts(await post(server, form({ asset, text: 'Hello' })))).toEqual([
    200,
    'image/png',
    'image',
    '1',
    64,
    96,
  ]);
});

it('the server turns an animated WebP into a video in an asynchronous render, too', async () => {
  const asset = await sharp(animation(), { animated: true }).webp().toBuffer();
  const headers = { prefer: 'respond-async' };
  const accepted = await post(server, form({ asset, text: 'Hello', format: 'mp4' }), { headers });
  expect(accepted.status).toBe(202);
  const { id } = (await accepted.json()) as { id: string };
  const read = { headers: { 'x-api-key': server.key } };
  const render: unknown = await (await fetch(`${server.url}/v1/renders/${id}?wait=30`, read)).json();
  expect(render).toMatchObject({ status: 'succeeded', source_type: 'video', output: { content_type: 'video/mp4' } });
});

it('the server refuses damaged animated WebPs without losing a worker', async () => {
  const before = await restarts();
  const whole = await sharp(animation(), { animated: true }).webp().toBuffer();
  const large = Buffer.from(whole);
  large.writeUIntLE(16_000, 24, 3);
  large.writeUIntLE(16_000, 27, 3);
  const codeOf = async (asset: Buffer): Promise<unknown[]> => {
    const { status, code } = await problemOf(await post(server, form({ asset, text: 'Hello', format: 'mp4' })));
    return [status, code];
  };
  expect(await codeOf(whole.subarray(0, 60))).toEqual([422, 'asset_undecodable']);
  expect(await codeOf(large)).toEqual([413, 'asset_dimensions_too_large']);
  expect(await restarts()).toEqual(before);
});

it.each(['avif', 'webp'] as const)('the server refuses mp4 for a still image: %s', async (format) => {
  const asset = await sharp(await plainPng(64, 64, '#4682b4'))
    .toFormat(format, { effort: 0 })
    .toBuffer();
  const problem = await problemOf(await post(server, form({ asset, text: 'Hello', format: 'mp4' })));
  expect([problem.status, problem.errors?.[0]?.pointer]).toEqual([400, '#/format']);
});

it('the server refuses a video made of a GIF to visitors without a key', async () => {
  const body = form({ asset: animation(), text: 'Hello', format: 'mp4' });
  const response = await fetch(`${server.url}/playground/render`, { method: 'POST', body });
  expect([response.status, (await problemOf(response)).code]).toEqual([401, 'missing_api_key']);
});

it('the server refuses hostile HEIC files without losing a worker', async () => {
  const before = await restarts();
  const tiles = Array.from({ length: 4 }, (_, index) => index + 2);
  const coded = tiles.map((id) => ({ id, type: 'hvc1', properties: [1], extents: [[12, 40]] }) as const);
  const large = (side: number): Buffer =>
    heifFile({
      items: [{ id: 1, type: 'grid', extents: [[0, 12]] }, ...coded],
      properties: [ispe(side / 2, side / 2)],
      references: [['dimg', 1, tiles]],
      data: Buffer.concat([grid(2, 2, side, side), Buffer.alloc(40, 0xff)]),
    });
  const codeOf = async (asset: Buffer): Promise<unknown[]> => {
    const { status, code } = await problemOf(await post(server, form({ asset, text: 'Hello' })));
    return [status, code];
  };
  expect(await codeOf(large(60_000))).toEqual([413, 'asset_too_many_pixels']);
  expect(await codeOf(large(200))).toEqual([422, 'asset_undecodable']);
  expect(await codeOf(large(200).subarray(0, 300))).toEqual([422, 'asset_undecodable']);
  expect(await restarts()).toEqual(before);
});
