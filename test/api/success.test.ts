import { beforeAll, describe, expect, it } from 'vitest';
import { decode, pixelAt, plainPng, rowsWhere } from '../pictures.ts';
import { form, post } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;
const isBarOnWhite = (pixel: number[]): boolean => pixel[0] === 102 && pixel[1] === 102 && pixel[2] === 102;

describe('a captioned image', () => {
  it('a captioned image is returned as a file with the render facts in the headers', async () => {
    const response = await post(server, form({ asset: await plainPng(540, 960, '#fff'), text: 'Hello' }));
    expect(response.status).toBe(200);
    const body = await response.arrayBuffer();
    const { headers } = response;
    const id = headers.get('x-render-id') ?? '';
    expect(id).toMatch(UUID);
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('content-length')).toBe(String(body.byteLength));
    expect(headers.get('content-disposition')).toBe(`inline; filename="${id}.png"`);
    expect(headers.get('x-source-type')).toBe('image');
    expect(Number(headers.get('x-render-duration-ms'))).toBeGreaterThan(0);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-missing-glyphs')).toBeNull();
    expect(headers.get('server-timing')).toMatch(/receive;dur=[\d.]+, .*decode;dur=.*layout;dur=.*encode;dur=/u);
    expect(await decode(body)).toMatchObject({ width: 540, height: 960, channels: 3 });
  });

  it('a captioned image has one centered bar of 9.6 % of the shorter side, black at 60 %, and no other changed pixels', async () => {
    const response = await post(server, form({ asset: await plainPng(1000, 1400, '#fff'), text: 'Hello' }));
    const pixels = await decode(await response.arrayBuffer());
    expect(rowsWhere(pixels, isBarOnWhite)).toEqual([{ top: 652, bottom: 748 }]);
    expect(rowsWhere(pixels, (pixel) => pixel.every((value) => value === 255))).toEqual([
      { top: 0, bottom: 652 },
      { top: 748, bottom: 1400 },
    ]);
  });

  it('a captioned image has bars at their positions, with 0 at the top edge and 100 at the bottom edge', async () => {
    const overlays = JSON.stringify([
      { text: 'top', position: 0 },
      { text: 'quarter', position: 25 },
      { text: 'bottom', position: 100 },
    ]);
    const response = await post(server, form({ asset: await plainPng(500, 1000, '#fff'), overlays }));
    const bars = rowsWhere(await decode(await response.arrayBuffer()), isBarOnWhite);
    expect(bars).toEqual([
      { top: 0, bottom: 48 },
      { top: 226, bottom: 274 },
      { top: 952, bottom: 1000 },
    ]);
  });

  it('a captioned image has default bars 10 % apart and ignores unknown keys, null positions, width and height', async () => {
    const overlays = JSON.stringify([{ text: 'a', position: null, color: 'red' }, { text: 'b' }, { text: 'c' }]);
    const asset = await plainPng(500, 1000, '#fff');
    const response = await post(server, form({ asset, overlays, width: 'nonsense', height: '-1' }));
    expect(response.status).toBe(200);
    const bars = rowsWhere(await decode(await response.arrayBuffer()), isBarOnWhite);
    expect(bars.map(({ top, bottom }) => (top + bottom) / 2)).toEqual([500, 600, 700]);
  });

  it('a captioned image reports the number of characters without a font in x-missing-glyphs', async () => {
    const text = 'known \u{e000}\u{10ffff} \u{f0000}';
    const response = await post(server, form({ width: '320', height: '320', text }));
    expect(response.headers.get('x-missing-glyphs')).toBe('2');
    await response.arrayBuffer();
  });
});

describe('an overlay without an asset', () => {
  it('an overlay without an asset is returned as a transparent PNG of the requested size with x-source-type image', async () => {
    const response = await post(server, form({ width: '640', height: '360', text: 'Hi' }));
    expect(response.status).toBe(200);
    expect(response.headers.get('x-source-type')).toBe('image');
    const pixels = await decode(await response.arrayBuffer());
    expect(pixels).toMatchObject({ width: 640, height: 360, channels: 4 });
    expect(pixelAt(pixels, 0, 0)).toEqual([0, 0, 0, 0]);
    expect(pixelAt(pixels, 0, 180)).toEqual([0, 0, 0, 153]);
  });

  it('an overlay without an asset is rendered when a browser form sends an empty file field', async () => {
    const data = form({ width: '64', height: '64', text: 'Hi' });
    data.append('asset', new Blob([]), '');
    const response = await post(server, data);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  it('an overlay without an asset is rendered when the overlays are sent as a file part', async () => {
    const data = form({ width: '64', height: '64' });
    data.append('overlays', new Blob(['[{"text":"from a file"}]'], { type: 'application/json' }), 'overlays.json');
    const response = await post(server, data);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });
});

describe('other endpoints', () => {
  it('ping and health return 200', async () => {
    const ping = await fetch(`${server.url}/ping`);
    expect([ping.status, await ping.text()]).toEqual([200, 'pong\n']);
    const health = await fetch(`${server.url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('serve the error documentation that problem responses link to', async () => {
    const page = await (await fetch(`${server.url}/docs/errors`)).text();
    expect(page).toContain('id="asset_undecodable"');
  });
});
