// Files that are ready to post: any frame size, covers of videos, limits of the size.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg, plainPng } from '../pictures.ts';
import { form, post, problemOf, until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

const CLIP = readFileSync(path.resolve(import.meta.dirname, '../../examples/clip.mp4'));

let server: SharedServer;
let files: Server;
let png: Buffer;
beforeAll(async () => {
  png = await plainPng(320, 240, '#4682b4');
  server = await sharedServer();
  files = createServer((_, response) => response.end(CLIP)).listen(0, '127.0.0.2');
  await once(files, 'listening');
});
afterAll(async () => {
  files.close();
});

async function faultsOf(values: Readonly<Record<string, string | Buffer>>): Promise<unknown[]> {
  const response = await post(server, form({ text: 'Hello', ...values }));
  const { errors } = await problemOf(response);
  return [response.status, ...(errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)];
}

describe('fit', () => {
  it('gives an image the requested size, and warns when it is enlarged more than twice', async () => {
    const fields = { asset: png, text: 'Hello', fit: 'blur', width: '700', height: '900', format: 'jpeg' };
    const response = await post(server, form(fields));
    const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect([response.status, width, height]).toEqual([200, 700, 900]);
    expect(response.headers.get('x-warnings')).toBe('upscaled');
    expect(response.headers.get('x-credits-charged')).toBe('1');
  });

  it('gives a video the requested size, in the background, too', async () => {
    const fit = JSON.stringify({ mode: 'pad', color: '#ffffff' });
    const response = await post(
      server,
      form({ asset: CLIP, text: 'Hello', fit, width: '200', height: '300', deliver: 'url' }),
    );
    const { output } = (await response.json()) as { output: { width: number; height: number } };
    expect([output.width, output.height]).toEqual([200, 300]);
  });

  it('returns 400 with every fault, also for a video whose size is known only once it is fetched', async () => {
    expect(await faultsOf({ asset: CLIP, fit: 'stretch', width: '101' })).toEqual([
      400,
      '#/width out_of_range',
      '#/height required',
      '#/fit invalid_choice',
    ]);
    const url = `http://127.0.0.2:${(files.address() as AddressInfo).port}/clip.mp4`;
    expect(await faultsOf({ asset_url: url, fit: 'crop', width: '101', height: '103' })).toEqual([
      400,
      '#/width out_of_range',
      '#/height out_of_range',
    ]);
    expect(await faultsOf({ asset: png, fit: 'blur', width: '3000', height: '3000' })).toEqual([
      400,
      '#/fit out_of_range',
    ]);
  });
});

describe('at', () => {
  it('returns a frame of a video as an image, at the price of an image', async () => {
    const response = await post(server, form({ asset: CLIP, text: 'Hello', at: '0.5', format: 'webp' }));
    const { headers } = response;
    const { format } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect([response.status, format, headers.get('content-type')]).toEqual([200, 'webp', 'image/webp']);
    expect([headers.get('x-source-type'), headers.get('x-credits-charged')]).toEqual(['video', '1']);
  });

  it('returns 422 for a time after the end, without a charge', async () => {
    const response = await post(server, form({ asset: CLIP, text: 'Hello', at: '500' }));
    expect(await problemOf(response)).toMatchObject({ status: 422, code: 'at_out_of_range', actual: 500 });
  });

  it('returns 400 for an image, also one that is fetched', async () => {
    expect(await faultsOf({ asset: png, at: '1', quality: '0' })).toEqual([
      400,
      '#/quality out_of_range',
      '#/at conflict',
    ]);
  });

  it('is quoted by a layout at the price of an image', async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': server.key };
    const layout = async (fields: object): Promise<unknown> => {
      const body = JSON.stringify({ width: 100, height: 100, text: 'Hello', ...fields });
      return await (await fetch(`${server.url}/v1/layout`, { method: 'POST', headers, body })).json();
    };
    expect(await layout({ duration: 30 })).toMatchObject({ credits: 6 });
    expect(await layout({ duration: 30, at: 2 })).toMatchObject({ credits: 1 });
    expect(await layout({ duration: 30, at: 31 })).toMatchObject({ code: 'at_out_of_range' });
    expect(await layout({ at: 2 })).toMatchObject({ code: 'invalid_fields' });
  });
});

describe('max_bytes', () => {
  it('returns the best quality that fits, of images and videos', async () => {
    const noise = await noisyJpeg(400, 300);
    const fields = { asset: noise, text: 'Hello', format: 'webp', max_bytes: '30000' };
    const image = await post(server, form(fields));
    expect((await image.arrayBuffer()).byteLength).toBeLessThanOrEqual(30_000);
    expect(Number(image.headers.get('x-quality'))).toBeGreaterThan(1);
    const video = await post(server, form({ asset: CLIP, text: 'Hello', max_bytes: '100000' }));
    expect((await video.arrayBuffer()).byteLength).toBeLessThanOrEqual(100_000);
    expect(Number(video.headers.get('x-quality'))).toBeGreaterThanOrEqual(19);
  });

  it('returns 400 with every fault for quality and for formats without a quality', async () => {
    expect(await faultsOf({ asset: png, max_bytes: '100' })).toEqual([400, '#/max_bytes out_of_range']);
    expect(await faultsOf({ asset: png, max_bytes: '50000', quality: '50' })).toEqual([
      400,
      '#/max_bytes conflict',
      '#/max_bytes conflict',
    ]);
    expect(await faultsOf({ width: '100', height: '100', format: 'webp', max_bytes: '50000' })).toEqual([
      400,
      '#/max_bytes conflict',
    ]);
  });

  it.each(['bytes', 'url'])(
    'charges a render that turns out to be too large only after encoding: %s',
    async (deliver) => {
      const noise = await noisyJpeg(2_000, 1_500);
      const fields = { asset: noise, text: 'Hello', format: 'jpeg', max_bytes: '20000', deliver };
      const response = await post(server, form(fields));
      expect(await problemOf(response)).toMatchObject({ status: 422, code: 'cannot_fit', limit: 20_000 });
      expect(response.headers.get('x-credits-charged')).toBe('1');
    },
  );

  it('charges it once, however it is repeated with the same idempotency key', async () => {
    const noise = await noisyJpeg(2_000, 1_500);
    const fields = { asset: noise, text: 'Hello', format: 'jpeg', max_bytes: '20000' };
    const send = async (more: Readonly<Record<string, string>>, key: string): Promise<unknown[]> => {
      const response = await post(server, form({ ...fields, ...more }), { headers: { 'idempotency-key': key } });
      const { code, limit } = await problemOf(response);
      const isReplay = response.headers.get('idempotency-replayed');
      return [response.status, code, limit, response.headers.get('x-credits-charged'), isReplay];
    };
    const refused = [422, 'cannot_fit', 20_000];
    const waiting = randomUUID();
    expect(await send({}, waiting)).toEqual([...refused, '1', null]);
    expect(await send({}, waiting)).toEqual([...refused, '0', 'true']);
    expect((await send({ async: 'true' }, waiting)).slice(0, 4)).toEqual([...refused, '0']);
    const background = randomUUID();
    const accepted = await post(server, form({ ...fields, async: 'true' }), {
      headers: { 'idempotency-key': background },
    });
    expect(accepted.status).toBe(202);
    expect(await send({}, background)).toEqual([...refused, '0', 'true']);
  });

  it('charges an asynchronous one, too', async () => {
    const noise = await noisyJpeg(2_000, 1_500);
    const fields = { asset: noise, text: 'Hello', format: 'jpeg', max_bytes: '20000', async: 'true' };
    const { id } = (await (await post(server, form(fields))).json()) as { id: string };
    const find = async (): Promise<{ status: string; credits?: number; error?: { code: string } }> =>
      (await (await fetch(`${server.url}/v1/renders/${id}`, { headers: { 'x-api-key': server.key } })).json()) as never;
    await until(async () => (await find()).status === 'failed');
    expect(await find()).toMatchObject({ error: { code: 'cannot_fit' }, credits: 1 });
  });
});

describe('duration', () => {
  it('returns a transparent video of the captions, at the price of a video', async () => {
    const fields = {
      width: '160',
      height: '120',
      captions: '1\n00:00:00,000 --> 00:00:01,000\nHi',
      duration: '6',
      fps: '5',
    };
    for (const [format, type] of [
      ['', 'video/webm'],
      ['mov', 'video/quicktime'],
      ['apng', 'image/apng'],
    ] as const) {
      const response = await post(server, form({ ...fields, format }));
      const { headers } = response;
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
      expect([response.status, headers.get('content-type'), headers.get('x-source-type')]).toEqual([
        200,
        type,
        'video',
      ]);
      expect(headers.get('x-credits-charged')).toBe('2');
    }
  });

  it('returns 413 before rendering for a file that would be too large', async () => {
    const fields = { width: '1920', height: '4096', text: 'Hi', duration: '60', fps: '60', format: 'mov' };
    const response = await post(server, form(fields));
    expect([response.status, response.headers.get('x-credits-charged')]).toEqual([413, '0']);
    await response.arrayBuffer();
  });
});
