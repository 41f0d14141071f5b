// Workers that a file has taken over: whatever they say, the server goes on, and they do not.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeTransparentRecipe } from '../render/recipe.ts';
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

async function render(worker: Worker, limitMs = 10_000): Promise<unknown> {
  const job = { recipe, asset: undefined, output: path.join(folder, 'finished') };
  return await worker.run<'render'>({ type: 'render', job }, { limitMs }, new AbortController().signal);
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
    ['sends an unknown message', `say({ type: 'probed', id: 1 });`],
  ])('%s is ended, and the task can be tried elsewhere', async (_what, script) => {
    const worker = spawn(`${READY} onTask(() => { ${script} });`);
    await worker.ready;
    await expect(render(worker)).rejects.toThrow(WorkerLost);
    expect(worker.killed).toBe(true);
  });

  it('is killed as hung when a task exceeds its time limit', async () => {
    const worker = spawn(`${READY} onTask(() => undefined);`);
    await worker.ready;
    await expect(render(worker, 200)).rejects.toMatchObject({ killReason: 'hung' });
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
