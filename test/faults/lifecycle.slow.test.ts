// Startup and shutdown of the server.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { holdImages } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { form, health, post, startServer, until } from '../running-server.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/storybar.js');

describe('shutdown', () => {
  it('finishes running requests, but neither accepts new ones nor waits for idle connections, and leaves no worker', async () => {
    const server = await startServer({ STORYBAR_SHUTDOWN_SECONDS: '3600' });
    // These connections have sent nothing, or a part of a request.
    const silent: Socket[] = [];
    for (const sent of ['', 'POST /v1/over', 'GET /ping HTTP/1.1\r\nhost: x\r\n\r\nGET /pi']) {
      const connection = await openConnection(server.url);
      connection.write(sent);
      silent.push(connection);
    }
    const release = holdImages(server);
    const running = post(server, form({ asset: await noisyJpeg(1000, 1000), text: 'last one' }));
    await until(() => health(server).then(({ renderer }) => renderer.images.busy > 0));
    const workers = server.workerPids();
    const late = await openConnection(server.url);
    server.signal('SIGTERM');
    await until(() => server.output().stderr.includes('server draining'));
    await until(() =>
      fetch(`${server.url}/ping`).then(
        () => false,
        () => true,
      ),
    );
    late.write(`POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.key}\r\ncontent-length: 0\r\n\r\n`);
    await until(() => late.destroyed || late.read() !== null);
    release();
    const response = await running;
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    for (const pid of workers) expect(existsSync(`/proc/${pid}`)).toBe(false);
    for (const connection of silent) connection.destroy();
  });

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

  it('shutdown does not wait for a client that stopped reading', async () => {
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
});

async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** A port that is in use, and a data directory. */
async function takenPort(): Promise<{ port: string; data: string; release: () => void }> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const data = mkdtempSync(path.join(tmpdir(), 'storybar-port-'));
  return {
    port: String((listener.address() as AddressInfo).port),
    data,
    release: () => {
      listener.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

describe('startup', () => {
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

  it('prints no key and no link unless the output is a terminal, and logs the commands that create them', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'storybar-silent-'));
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      STORYBAR_DATA_DIR: directory,
      STORYBAR_WORKERS: '1',
      STORYBAR_OPERATOR_EMAIL: 'boss@example.com',
    };
    const start = async (file: string, args: string[], expected: RegExp): Promise<string> => {
      const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (printed += String(text)));
      await expect.poll(() => printed).toMatch(expected);
      process.kill(-must(child.pid, 'pid'), 'SIGTERM');
      await once(child, 'close');
      return printed;
    };
    const silent = await start(process.execPath, [PROGRAM, 'serve'], /the operator has no password yet/u);
    expect(silent).toContain('"command":"storybar keys create --plan business --name first"');
    expect(silent).toContain('"command":"storybar users invite boss@example.com --operator"');
    expect(silent).not.toMatch(/sb_live_|\?link=/u);
    // Nothing was created, so the next start on a terminal still shows everything.
    const command = `${process.execPath} ${PROGRAM} serve`;
    const shown = await start('script', ['--quiet', '--command', command, '/dev/null'], /\?link=/u);
    expect(shown).toMatch(/curl \S+\/v1\/overlay[^]+x-api-key: sb_live_\w+/u);
    rmSync(directory, { recursive: true, force: true });
  });

  it('exits with an error that names PORT when the port is in use', async () => {
    const { port, data, release } = await takenPort();
    const failure = await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], {
      env: { PORT: port, STORYBAR_DATA_DIR: data, STORYBAR_WORKERS: '1' },
    }).catch((error: { code: number; stderr: string }) => error);
    expect(failure).toMatchObject({ code: 78, stderr: expect.stringContaining(`PORT ${port}`) });
    release();
  });

  it('exits with an error that names PORT when the health port of a worker is in use, and leaves nothing behind', async () => {
    const { port, data, release } = await takenPort();
    const failure = await promisify(execFile)(process.execPath, [PROGRAM, 'worker'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: port,
        STORYBAR_DATA_DIR: data,
        STORYBAR_WORKERS: '1',
        STORYBAR_VIDEO_WORKERS: '0',
        // Nothing listens there, so a worker that kept running would keep trying to connect.
        STORYBAR_NATS_URL: 'nats://127.0.0.1:1',
      },
    }).catch((error: { code: number; stderr: string }) => error);
    expect(failure).toMatchObject({ code: 78, stderr: expect.stringContaining(`PORT ${port}`) });
    expect(readdirSync(path.join(data, 'work'))).toEqual([]);
    release();
  });

  it('exits with an error that names STORYBAR_INTERNAL_PORT when that port is in use', async () => {
    const { port, data, release } = await takenPort();
    const failure = await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], {
      env: {
        PORT: '0',
        STORYBAR_DATA_DIR: data,
        STORYBAR_WORKERS: '0',
        STORYBAR_VIDEO_WORKERS: '0',
        STORYBAR_INTERNAL_PORT: port,
        // Nothing listens there, so a server that got this far would keep trying to connect.
        STORYBAR_NATS_URL: 'nats://127.0.0.1:1',
      },
    }).catch((error: { code: number; stderr: string }) => error);
    expect(failure).toMatchObject({ code: 78, stderr: expect.stringContaining(`STORYBAR_INTERNAL_PORT ${port}`) });
    release();
  });

  it('exits with an error that names every invalid setting', async () => {
    const environment = { PORT: '99999', HOST: '', STORYBAR_WORKERS: 'many', STORYBAR_LOG_LEVEL: 'loud' };
    const failure = await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], { env: environment }).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(failure).toMatchObject({ code: 78 });
    for (const variable of Object.keys(environment)) expect(failure.stderr).toContain(`${variable} must`);
  });
});
