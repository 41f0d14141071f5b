// Tests against the real service.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { StorybarApiError, StorybarConnectionError, StorybarError, Storybar } from '@storybar/client';
import { CLIP, PHOTO, rejection, SERVICE_URL, service, STAND_IN_URL } from './service.ts';

const PNG = '89504e470d0a1a0a';
const FONT = path.resolve(
  import.meta.dirname,
  '../../../node_modules/@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf',
);
const PHOTO_LOGO = path.resolve(import.meta.dirname, '../../../examples/brand-kit/logo.png');
const folder = await mkdtemp(path.join(tmpdir(), 'storybar-client-'));
const server = createServer();
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const startOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 8)).toString('hex');

test('captions a file given by its path, reports progress, and saves the result', async () => {
  const sent: number[] = [];
  const received: number[] = [];
  const render = await service().caption(
    { asset: PHOTO, text: 'Golden hour' },
    {
      onUploadProgress: ({ loaded, total }) => sent.push(loaded, total ?? 0),
      onDownloadProgress: ({ loaded, total }) => received.push(loaded, total ?? 0),
    },
  );
  const file = path.join(folder, 'captioned.png');
  await render.save(file);
  const bytes = await readFile(file);
  const { length: photoBytes } = await readFile(PHOTO);
  assert.equal(startOf(bytes), PNG);
  assert.equal(render.contentType, 'image/png');
  assert.equal(render.filename, `${render.renderId}.png`);
  assert.equal(render.sourceType, 'image');
  assert.equal(render.creditsCharged, 1);
  assert.deepEqual(render.warnings, []);
  assert.deepEqual(sent.slice(-2), [photoBytes, photoBytes]);
  assert.deepEqual(received.slice(-2), [bytes.length, bytes.length]);
  await rejection(render.bytes(), StorybarError);
});

test('gets the same image for a path, a Blob, bytes, a web stream, a Node.js stream and a URL', async () => {
  const bytes = new Uint8Array(await readFile(PHOTO));
  const assets = [PHOTO, new Blob([bytes]), bytes, bytes.buffer, new Blob([bytes]).stream(), createReadStream(PHOTO)];
  const sources = [
    ...assets.map((asset) => ({ asset })),
    { asset: () => createReadStream(PHOTO) },
    { asset_url: `${STAND_IN_URL}/files/photo.jpg` },
  ];
  const results = [];
  for (const source of sources) {
    const render = await service().caption({ ...source, overlays: [{ text: 'One', position: 20 }, { text: 'Two' }] });
    results.push(Buffer.from(await render.bytes()).toString('base64'));
  }
  assert.equal(new Set(results).size, 1);
});

test('captions a video and renders captions without a file', async () => {
  const video = await service().caption({ asset: CLIP, text: 'Wait for it' });
  assert.equal((await video.blob()).type, 'video/mp4');
  assert.equal(video.sourceType, 'video');
  const overlay = await service().caption({ width: 320, height: 200, text: 'Alone', lang: 'en' });
  assert.equal(startOf(await overlay.bytes()), PNG);
});

test('reads a stream only as fast as the server takes it', async () => {
  let produced = 0;
  const producedAtFirstChunk = new Promise<number>((resolve) => {
    server.on('request', (request) => {
      request.once('data', () => resolve(produced));
      request.once('end', () => request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    });
  });
  const asset = () => Readable.from(chunks(1_600, (bytes) => (produced += bytes)));
  const client = service({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const caption = client.caption({ asset, text: 'Large' });
  assert.ok((await producedAtFirstChunk) < 10_000_000);
  await caption;
  assert.equal(produced, 1_600 * 65_536);
});

test('lists every fault of an invalid request in one error', async () => {
  const overlays = [{ text: '' }, { text: 'Too low', position: 101 }];
  const error = await rejection(service().caption({ overlays }), StorybarApiError);
  assert.equal(error.status, 400);
  assert.equal(error.code, 'invalid_fields');
  const faults = error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
  for (const fault of ['#/overlays/0/text blank', '#/overlays/1/position out_of_range', '#/width required']) {
    assert.ok(faults.includes(fault), `${fault} is missing from ${faults.join(', ')}`);
  }
  assert.match(error.message, /#\/overlays\/1\/position: .*101/u);
  assert.match(error.renderId ?? '', /^[0-9a-f-]{36}$/u);
});

test('reports a refused key while a large upload is under way', async () => {
  const client = service({ apiKey: 'sb_live_wrong' });
  const upload = client.caption({ asset: Readable.from(chunks(200)), text: 'Secret' });
  const error = await rejection(upload, StorybarApiError);
  assert.equal(error.status, 401);
  assert.equal(error.code, 'invalid_api_key');
});

function* chunks(count: number, onChunk: (bytes: number) => void = () => {}): Generator<Uint8Array> {
  for (let index = 0; index < count; index += 1) {
    onChunk(65_536);
    yield new Uint8Array(65_536);
  }
}

test('sends the same result again, free of charge, for the same idempotency key', async () => {
  const idempotencyKey = crypto.randomUUID();
  const first = await service().caption({ width: 320, height: 200, text: 'Once' }, { idempotencyKey });
  const firstBytes = await first.bytes();
  const second = await service().caption({ width: 320, height: 200, text: 'Once' }, { idempotencyKey });
  assert.equal(first.idempotencyKey, idempotencyKey);
  assert.equal(second.isReplay, true);
  assert.equal(second.creditsCharged, 0);
  assert.deepEqual(await second.bytes(), firstBytes);
});

test('previews a layout and reads usage', async () => {
  const layout = await service().layout({ width: 1080, height: 1920, text: 'Golden hour', duration: 11 });
  assert.equal(layout.bars[0]?.lines[0]?.text, 'Golden hour');
  assert.equal(layout.credits, 3);
  const usage = await service().usage();
  assert.ok(usage.credits.used > 0);
  assert.equal(usage.credits.remaining, usage.credits.limit - usage.credits.used - usage.credits.reserved);
  const past = await service().usage({ from: '2020-01-01', to: '2020-01-02' });
  assert.deepEqual(past.days, []);
});

test('rejects with the reason of the signal when the caller aborts', async () => {
  const reason = new Error('The user left the page.');
  const controller = new AbortController();
  const upload = service().caption(
    { asset: CLIP, text: 'Never' },
    { signal: controller.signal, onUploadProgress: () => controller.abort(reason) },
  );
  assert.equal(await rejection(upload, Error), reason);
});

test('reports a server that cannot be reached, a missing file and missing settings', async () => {
  const unreachable = new Storybar({ baseUrl: 'http://127.0.0.1:9', apiKey: 'sb_live_x', maxRetries: 0 });
  await rejection(unreachable.usage(), StorybarConnectionError);
  const missing = await rejection(service().caption({ asset: 'no-such-file.jpg', text: 'x' }), Error);
  assert.match(missing.message, /ENOENT.*no-such-file\.jpg/u);
  assert.throws(() => new Storybar({ baseUrl: SERVICE_URL }), /apiKey/u);
  assert.throws(() => new Storybar({ baseUrl: 'captions', apiKey: 'sb_live_x' }), /baseUrl.*captions/u);
});

test('uploads a logo, uses it in a saved style, and deletes both', async () => {
  const storybar = service();
  const logo = await storybar.logos.add(PHOTO_LOGO);
  assert.match(logo.id, /^logo_/u);
  assert.ok((await storybar.logos.list()).some(({ id }) => id === logo.id));
  assert.deepEqual(await storybar.logos.get(logo.id), logo);
  await storybar.styles.save('client-brand', { preset: 'box', logo: { id: logo.id, corner: 'bottom-left' } });
  const layout = await storybar.layout({ width: 400, height: 800, text: 'Hi', style: 'client-brand' });
  assert.equal(layout.logo?.x, 16);
  await storybar.styles.delete('client-brand');
  await storybar.logos.delete(logo.id);
  const error = await rejection(storybar.logos.get(logo.id), StorybarApiError);
  assert.equal(error.code, 'logo_not_found');
});

test('uploads a font, draws with it and deletes it', async () => {
  const storybar = service();
  const font = await storybar.fonts.add(FONT, { licenseConfirmed: true });
  assert.equal(font.family, 'Bangers');
  assert.ok((await storybar.fonts.list()).some(({ id }) => id === font.id));
  assert.deepEqual(await storybar.fonts.get(font.id), font);
  const { bars } = await storybar.layout({ width: 400, height: 800, text: 'Hi', style: { font: font.id } });
  assert.equal(bars[0]?.fonts[0], font.id);
  await storybar.fonts.delete(font.id);
  const error = await rejection(storybar.fonts.get(font.id), StorybarApiError);
  assert.equal(error.code, 'font_not_found');
});
