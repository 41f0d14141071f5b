import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, post, problemOf } from '../running-server.ts';
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

/** Returns the names of the headers that depend on the format, and the kind of the bytes. */
async function facts(response: Response): Promise<unknown[]> {
  expect(response.status).toBe(200);
  const { headers } = response;
  const id = headers.get('x-render-id') ?? '';
  const { format } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
  const filename = headers.get('content-disposition')?.replace(id, '<id>');
  return [format, headers.get('content-type'), filename, headers.get('x-source-pixels')];
}

describe('format', () => {
  it('decides about the bytes, the content type and the file name of an image', async () => {
    const formatted = async (format: string): Promise<unknown[]> =>
      await facts(await post(server, form({ asset: png, text: 'Hello', format })));
    expect(await formatted('')).toEqual(['png', 'image/png', 'inline; filename="<id>.png"', null]);
    expect(await formatted('jpeg')).toEqual(['jpeg', 'image/jpeg', 'inline; filename="<id>.jpg"', 'reencoded']);
    expect(await formatted('jpg')).toEqual(['jpeg', 'image/jpeg', 'inline; filename="<id>.jpg"', 'reencoded']);
    expect(await formatted('webp')).toEqual(['webp', 'image/webp', 'inline; filename="<id>.webp"', null]);
  });

  it('format works in JSON, with a quality, without an asset', async () => {
    const body = JSON.stringify({ width: 64, height: 64, text: 'Hello', format: 'webp', quality: 50 });
    const response = await post(server, body, { headers: { 'content-type': 'application/json' } });
    expect(await facts(response)).toEqual(['webp', 'image/webp', 'inline; filename="<id>.webp"', null]);
  });

  it('accepts mp4 for a video', async () => {
    const response = await post(server, form({ asset: CLIP, text: 'Hello', format: 'mp4', quality: '50' }));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await response.arrayBuffer();
  });

  it('returns 400 with every fault for a format that does not fit the asset', async () => {
    const response = await post(server, form({ asset: CLIP, text: '', format: 'jpeg', quality: '0' }));
    const { status, errors = [] } = await problemOf(response);
    expect([status, ...errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([
      400,
      '#/text blank',
      '#/format invalid_format',
      '#/quality out_of_range',
    ]);
  });

  it('returns 400 for a fetched asset that the format does not fit, and charges nothing', async () => {
    const url = `http://127.0.0.2:${(files.address() as AddressInfo).port}/`;
    const response = await post(server, form({ asset_url: url, text: 'Hello', format: 'png' }));
    expect(response.headers.get('x-credits-charged')).toBe('0');
    const { status, errors } = await problemOf(response);
    expect([status, errors]).toMatchObject([400, [{ pointer: '#/format', code: 'invalid_format' }]]);
  });
});
