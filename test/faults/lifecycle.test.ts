// Starting and stopping.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, health, post, startServer, until } from '../running-server.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/storybar.js');

describe('shutdown', () => {
  it('finishes what runs, refuses what comes, ends its workers and exits with 0', async () => {
    const server = await startServer({ STORYBAR_WORKERS: '1' });
    const running = post(server, form({ asset: await noisyJpeg(5000, 3000), text: 'last one' }));
    await until(() => health(server).then(({ renderer }) => renderer.images.busy > 0));
    const workers = server.workerPids();
    server.signal('SIGTERM');
    const response = await running;
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    for (const pid of workers) expect(existsSync(`/proc/${pid}`)).toBe(false);
    await expect(fetch(`${server.url}/ping`)).rejects.toThrow('fetch failed');
  });

  it('leaves no worker behind when the server itself is killed', async () => {
    const server = await startServer({ STORYBAR_WORKERS: '2', STORYBAR_VIDEO_WORKERS: '1' });
    const workers = server.workerPids();
    expect(workers).toHaveLength(3);
    server.signal('SIGKILL');
    await server.exited;
    await until(() => workers.every((pid) => !existsSync(`/proc/${pid}`)));
  });
});

describe('start', () => {
  it('sweeps directories that a killed server left, but not those of a living one', async () => {
    const first = await startServer({ STORYBAR_WORKERS: '1' });
    const abandoned = path.join(first.dataDirectory, 'work', '999999999', 'render');
    mkdirSync(abandoned, { recursive: true });
    const second = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_DATA_DIR: first.dataDirectory });
    expect(second.output().stdout).not.toContain('sb_live_');
    expect(existsSync(abandoned)).toBe(false);
    expect(existsSync(path.join(first.dataDirectory, 'work', String(first.pid)))).toBe(true);
    second.signal('SIGTERM');
    await second.exited;
    await first.stop();
  });

  it('names every bad setting and does not start', async () => {
    const environment = { PORT: '99999', HOST: '', STORYBAR_WORKERS: 'many', STORYBAR_LOG_LEVEL: 'loud' };
    const failure = await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], { env: environment }).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(failure).toMatchObject({ code: 78 });
    for (const variable of Object.keys(environment)) expect(failure.stderr).toContain(`${variable} must`);
  });
});
