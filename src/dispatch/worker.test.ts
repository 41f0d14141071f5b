// Workers that a file has taken over: whatever they say, the server goes on, and they do not.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../render/video-recipe.ts';
import { WorkerDirectory } from './worker-directory.ts';
import { Worker, WorkerLost } from './worker.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-worker-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const recipe = composeTransparentRecipe({ width: 16, height: 16 }, [{ text: 'a', position: null }]);
const READY = `say({ type: 'ready' });`;

/** Runs the script in place of a worker; `say` sends a message, `write` what is none. */
function spawn(script: string): Worker {
  const program = `
    const write = (text) => require('node:fs').writeSync(3, text);
    const say = (message) => write(JSON.stringify(message) + '\\n');
    const channel = new (require('node:net').Socket)({ fd: 3, readable: true, writable: true });
    const onTask = (listener) => channel.once('data', listener);
    channel.on('close', () => process.exit(0));
    ${script}`;
  const start = { file: process.execPath, args: ['-e', program], env: {} };
  return new Worker({ start, directory: new WorkerDirectory(folder, folder), memoryBytes: 2 * 1024 ** 3 });
}

async function render(worker: Worker): Promise<unknown> {
  const job = { recipe, asset: undefined, output: path.join(folder, 'finished') };
  return await worker.run<'render'>({ type: 'render', job }, { limitMs: 10_000 }, new AbortController().signal);
}

const PROBE = `{ kind: 'image', width: 16, height: 16, isSrgb: true }`;

/** The whole render on an image. Its look at it is over soon or never; what follows takes as long as the look allows. */
async function renderImage(worker: Worker, afterProbeMs: number | undefined): Promise<unknown> {
  const asset = { path: path.join(folder, 'asset'), format: 'png' } as const;
  writeFileSync(asset.path, '');
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
  const job = { draft: { overlays: [], limits, watermark: false }, asset, output: path.join(folder, 'finished') };
  const terms = { limitMs: 1_500, onProbed: () => afterProbeMs };
  return await worker.run<'image'>({ type: 'image', job }, terms, new AbortController().signal);
}

describe('a worker that', () => {
  it.each([
    ['sends no JSON', `write('{broken\\n');`],
    ['sends null', 'say(null);'],
    ['sends a number', 'say(1);'],
    ['sends what nobody knows', `say({ type: 'NODE_HANDLE', cmd: 'NODE_HANDLE' });`],
    ['answers before it was asked', `say({ type: 'done', id: 1, result: {} });`],
  ])('%s is ended', async (_what, script) => {
    const worker = spawn(script);
    await expect(worker.ready).rejects.toThrow(WorkerLost);
    expect(await worker.exited).toMatchObject({ signal: 'SIGKILL' });
  });

  it.each([
    ['answers another task', `say({ type: 'done', id: 99, result: {} });`],
    ['answers without a result', `say({ type: 'done', id: 1 });`],
    ['fails with a code of its own', `say({ type: 'failed', id: 1, failure: { code: 'toString', message: 'x' } });`],
    [
      'fails with a code of the server',
      `say({ type: 'failed', id: 1, failure: { code: 'quota_exceeded', message: 'x' } });`,
    ],
    ['is ready twice', READY],
    ['has probed what it was not asked to', `say({ type: 'probed', id: 1, probe: ${PROBE} });`],
  ])('%s is ended, and the task can be tried elsewhere', async (_what, script) => {
    const worker = spawn(`${READY} onTask(() => { ${script} });`);
    await worker.ready;
    await expect(render(worker)).rejects.toThrow(WorkerLost);
    expect(worker.killed).toBe(true);
  });

  it.each([
    ['says what cannot be of its image', `say({ type: 'probed', id: 1, probe: ${PROBE} });`, undefined],
    ['says it twice', `for (let i = 0; i < 2; i += 1) say({ type: 'probed', id: 1, probe: ${PROBE} });`, 10_000],
    ['says nothing of it', `say({ type: 'probed', id: 1 });`, 10_000],
    ['has no width for it', `say({ type: 'probed', id: 1, probe: { ...${PROBE}, width: '16' } });`, 10_000],
  ])('%s is ended', async (_what, script, afterProbeMs) => {
    const worker = spawn(`${READY} onTask(() => { ${script} });`);
    await worker.ready;
    await expect(renderImage(worker, afterProbeMs)).rejects.toMatchObject({ killReason: undefined });
    expect(worker.killed).toBe(true);
  });

  it('hangs is ended in time, before and after it has probed', async () => {
    const silent = spawn(`${READY} onTask(() => undefined);`);
    await silent.ready;
    await expect(renderImage(silent, 60_000)).rejects.toMatchObject({ killReason: 'hung' });
    const stuck = spawn(`${READY} onTask(() => say({ type: 'probed', id: 1, probe: ${PROBE} }));`);
    await stuck.ready;
    await expect(renderImage(stuck, 50)).rejects.toMatchObject({ killReason: 'hung' });
  });

  it('has probed may take as long as its image needs', async () => {
    const worker = spawn(`${READY} onTask(() => {
      say({ type: 'probed', id: 1, probe: ${PROBE} });
      setTimeout(() => {
        require('node:fs').writeFileSync(${JSON.stringify(path.join(folder, 'output-1'))}, '');
        say({ type: 'done', id: 1, result: { late: true } });
      }, 2_000);
    });`);
    await worker.ready;
    expect(await renderImage(worker, 10_000)).toEqual({ late: true });
    worker.kill();
  });

  it('closes its channel is ended at the next task', async () => {
    const worker = spawn(`${READY} require('node:fs').closeSync(3); setInterval(() => undefined, 1000);`);
    await worker.ready;
    await expect(render(worker)).rejects.toThrow(WorkerLost);
  });

  it('crashes is seen to have crashed', async () => {
    const worker = spawn(`${READY} onTask(() => process.kill(process.pid, 'SIGSEGV'));`);
    await worker.ready;
    await expect(render(worker)).rejects.toMatchObject({ exit: { signal: 'SIGSEGV' }, killReason: undefined });
  });
});
