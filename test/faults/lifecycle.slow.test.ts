// Shutdown and startup of the server, continued: draining, clients that don't read, and servers that are killed.

import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { holdImages } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { form, health, post, startServer, until } from '../running-server.ts';
import { openConnection } from './open-connection.ts';

it('keeps serving while it drains, reports not ready and closes connections after each response', async () => {
  const server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_DRAIN_SECONDS: '5' });
  server.signal('SIGTERM');
  const ready = await until(async () => {
    const response = await fetch(`${server.url}/ready`);
    return response.status === 503 && response;
  });
  expect(await ready.json()).toEqual({ ready: false, fault: 'shutting down' });
  const response = await post(server, form({ width: '64', height: '64', text: 'just in time' }));
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  await response.arrayBuffer();
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

it('does not wait for a client that stopped reading', async () => {
  const server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_SHUTDOWN_SECONDS: '1' });
  const body = new Uint8Array(
    await new Response(form({ asset: await noisyJpeg(2500, 2000), text: 'x' })).arrayBuffer(),
  );
  const boundary = new TextDecoder().decode(body.subarray(2, body.indexOf(13)));
  const reader = await openConnection(server.url);
  reader.pause();
  reader.write(
    `POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.key}\r\ncontent-length: ${body.length}\r\n` +
      `content-type: multipart/form-data; boundary=${boundary}\r\n\r\n`,
  );
  const release = holdImages(server);
  reader.write(body);
  await until(() => health(server).then(({ renderer }) => renderer.images.busy > 0));
  release();
  await until(() => health(server).then(({ renderer }) => renderer.images.busy === 0));
  expect(server.workDirectories()).toHaveLength(1);
  server.signal('SIGTERM');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  reader.destroy();
});

it('leaves no worker process behind when the server is killed', async () => {
  const server = await startServer({ STORYBAR_WORKERS: '2', STORYBAR_VIDEO_WORKERS: '1' });
  const workers = server.workerPids();
  // Two for images and one for videos.
  expect(workers).toHaveLength(3);
  server.signal('SIGKILL');
  await server.exited;
  await until(() => workers.every((pid) => !existsSync(`/proc/${pid}`)));
});

it('deletes work directories of a killed server, but not those of a running one', async () => {
  const first = await startServer({ STORYBAR_WORKERS: '1' });
  const abandoned = path.join(first.dataDirectory, 'work', '999999999', 'render');
  mkdirSync(abandoned, { recursive: true });
  utimesSync(path.dirname(abandoned), 0, 0);
  const second = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_DATA_DIR: first.dataDirectory });
  expect(second.output().stdout).not.toContain('sb_live_');
  expect(existsSync(abandoned)).toBe(false);
  expect(existsSync(path.join(first.dataDirectory, 'work', String(first.pid)))).toBe(true);
  second.signal('SIGTERM');
  await second.exited;
  await first.stop();
});
