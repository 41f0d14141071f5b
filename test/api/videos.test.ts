// Video renders over HTTP: the response, and the life cycle of the worker processes.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { holdVideos, videoWorkers } from '../held-workers.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { makeClip, readClip } from '../video/clip.ts';

let server: RunningServer;
let folder: string;
let clip: Buffer;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-videos-'));
  const make = (name: string, size: { width: number; height: number; frames: number }): Buffer => {
    const file = path.join(folder, name);
    const paint = (plane: number, x: number, y: number, frame: number): number =>
      plane === 0 ? (x * 3 + y * 5 + frame * 7) % 220 : 128;
    makeClip({ path: file, container: 'mp4', codec: 'libx264', pixelFormat: 'yuv420p', paint, ...size });
    return readFileSync(file);
  };
  clip = make('clip.mp4', { width: 320, height: 240, frames: 12 });
  server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const videosBusy = (): Promise<boolean> => health(server).then(({ renderer }) => renderer.videos.busy > 0);
const videosReady = (): Promise<boolean> => health(server).then(({ renderer }) => renderer.videos.ready === 2);

describe('a captioned video', () => {
  it('a captioned video is returned as an MP4 with the render facts in the headers', async () => {
    expect((await health(server)).renderer.videos.workers).toBe(1);
    const response = await post(server, form({ asset: clip, text: 'Moving' }));
    expect(response.status).toBe(200);
    const body = Buffer.from(await response.arrayBuffer());
    const id = response.headers.get('x-render-id') ?? '';
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('content-length')).toBe(String(body.length));
    expect(response.headers.get('content-disposition')).toBe(`inline; filename="${id}.mp4"`);
    expect(response.headers.get('x-source-type')).toBe('video');
    expect(body.toString('latin1', 4, 8)).toBe('ftyp');
    const file = path.join(folder, 'response.mp4');
    writeFileSync(file, body);
    const read = readClip(file, 20);
    expect(read).toMatchObject({ width: 320, height: 240, codec: 'h264', audio: undefined });
    expect(read.frames).toHaveLength(12);
  });

  it('the first video starts a second worker, so that short videos do not wait for long ones', async () => {
    await until(videosReady);
    expect((await health(server)).renderer.videos.workers).toBe(2);
  });

  it('a captioned video has the same bar as an image of its size: 23 rows in the middle, black at 60 %', async () => {
    const white = path.join(folder, 'white.mp4');
    const paint = (plane: number): number => (plane === 0 ? 235 : 128);
    makeClip({
      path: white,
      container: 'mp4',
      codec: 'libx264',
      pixelFormat: 'yuv420p',
      width: 320,
      height: 240,
      frames: 3,
      paint,
    });
    const response = await post(server, form({ asset: readFileSync(white), text: 'Moving' }));
    const file = path.join(folder, 'bars.mp4');
    writeFileSync(file, Buffer.from(await response.arrayBuffer()));
    const [frame] = readClip(file).frames;
    const brightness = (y: number): number => frame?.rgb(8, y)[1] ?? 0;
    expect(brightness(120)).toBeGreaterThan(96);
    expect(brightness(120)).toBeLessThan(108);
    for (const outside of [40, 100, 140, 200]) expect(brightness(outside)).toBeGreaterThan(248);
  });

  it('a video does not delay an image render', async () => {
    const release = holdVideos(server);
    const video = post(server, form({ asset: clip, text: 'held' }));
    await until(videosBusy);
    const image = await post(server, form({ width: '64', height: '64', text: 'quick' }));
    expect(image.status).toBe(200);
    expect(await videosBusy()).toBe(true);
    release();
    await image.arrayBuffer();
    expect((await video).status).toBe(200);
    await (await video).arrayBuffer();
  });
});

describe('a video that cannot be rendered', () => {
  it('a video whose content-length is too large gets 413 before its body is read', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let response = '';
    socket.setEncoding('utf8').on('data', (text: string) => (response += text));
    socket.write(
      `POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.key}\r\ncontent-length: 300000000\r\n` +
        'content-type: multipart/form-data; boundary=x\r\n\r\n',
    );
    await until(() => response.includes('"code"'));
    socket.destroy();
    expect(response).toMatch(/^HTTP\/1\.1 413 .*"code":"asset_too_large".*"limit":200000000,"actual":300000000/su);
  });

  it('a video that is truncated before its index gets 422', async () => {
    const response = await post(server, form({ asset: clip.subarray(0, 200), text: 'a' }));
    expect(await problemOf(response)).toMatchObject({ status: 422, code: 'asset_undecodable' });
  });
});

describe('a video worker', () => {
  it('a video worker that is killed is replaced, and the client still gets the video', async () => {
    const losses = (): string[] =>
      server
        .output()
        .stderr.split('\n')
        .filter((line) => line.includes('render worker exited unexpectedly'));
    let hadTheRender = false;
    // Either of the two workers may have the render.
    for (let attempt = 0; attempt < 10 && !hadTheRender; attempt += 1) {
      await until(videosReady);
      const before = losses().length;
      const release = holdVideos(server);
      const pending = post(server, form({ asset: clip, text: 'held' }));
      await until(videosBusy);
      process.kill(must(videoWorkers(server)[attempt % 2], 'a worker for videos'), 'SIGKILL');
      release();
      const response = await pending;
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      const lost = await until(() => losses()[before]);
      hadTheRender = lost.includes(response.headers.get('x-render-id') ?? 'no id');
    }
    expect(hadTheRender).toBe(true);
    expect((await health(server)).renderer.videos.restarts).toBe(losses().length);
  });

  it('a video worker stops and removes its directory when the client disconnects', async () => {
    await until(videosReady);
    const client = new AbortController();
    const release = holdVideos(server);
    const pending = post(server, form({ asset: clip, text: 'held' }), { signal: client.signal });
    pending.catch(() => undefined);
    await until(videosBusy);
    expect(server.workDirectories()).toHaveLength(1);
    client.abort();
    await until(() => videosBusy().then((isBusy) => !isBusy));
    await until(() => server.workDirectories().length === 0);
    expect(await videosBusy()).toBe(false);
    release();
  });
});

it('the health endpoint lists the available codecs', async () => {
  expect((await health(server)).renderer.codecs).toMatchObject({
    ffmpeg: expect.any(String),
    available: { 'encode libx264': true, 'decode h264': true },
  });
});

// This is the last test, because it kills the server.
it('workers for videos exit when the server is killed during a render', async () => {
  await until(videosReady);
  const release = holdVideos(server);
  const pending = post(server, form({ asset: clip, text: 'held' }));
  pending.catch(() => undefined);
  await until(videosBusy);
  const workers = server.workerPids();
  // There is one for images, one for videos and one for short videos.
  expect(workers).toHaveLength(3);
  server.signal('SIGKILL');
  release();
  await until(() => workers.every((pid) => !existsSync(`/proc/${pid}`)));
});
