import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeTransparentRecipe } from '../../engine/render/recipe.ts';
import { createAsset } from '../../engine/media/asset.ts';
import { WorkerDirectory } from './worker-directory.ts';
import type { TaskOf } from './tasks.ts';

let folder: string;
let shared: (name: string) => string;
let task: TaskOf<'render'>;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-directory-'));
  mkdirSync(path.join(folder, 'shared'));
  mkdirSync(path.join(folder, 'render'));
  shared = (name) => path.join(folder, 'shared', name);
  const asset = path.join(folder, 'render', 'asset');
  writeFileSync(asset, 'image');
  writeFileSync(path.join(folder, 'secret'), 'secret');
  const recipe = composeTransparentRecipe({ width: 16, height: 16 }, [{ text: 'a', position: null }]);
  const output = path.join(folder, 'render', 'output');
  task = { type: 'render', job: { recipe, asset: createAsset({ path: asset, format: 'png', bytes: 7 }), output } };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Stages the task and does what a worker would do, or must not do. */
async function stage(directory: WorkerDirectory, work: (output: string) => void) {
  const staged = await directory.stage(task);
  work(shared(path.basename(staged.task.job.output)));
  return staged;
}

describe('WorkerDirectory', () => {
  it('stages the asset under a name inside and moves the output out', async () => {
    const staged = await stage(new WorkerDirectory(shared(''), '/inside'), (output) =>
      writeFileSync(output, 'finished'),
    );
    expect(staged.task.job).toMatchObject({
      asset: { path: '/inside/asset-1', format: 'png' },
      output: '/inside/output-1',
    });
    expect(readFileSync(shared('asset-1'), 'utf8')).toBe('image');
    await staged.collect();
    expect(readFileSync(task.job.output, 'utf8')).toBe('finished');
    await staged.cleanUp();
    expect(readdirSync(shared(''))).toEqual([]);
    expect(readdirSync(path.join(folder, 'render'))).toEqual(['asset', 'output']);
  });

  it('stages a font as a copy, so that a worker can’t change it for other renders', async () => {
    const font = path.join(folder, 'font');
    writeFileSync(font, 'letters');
    const files = [{ id: 'font_1', sha256: 'a', bytes: 7, path: font }];
    const staged = await new WorkerDirectory(shared(''), '/inside').stage({ ...task, job: { ...task.job, files } });
    expect(staged.task.job.files).toEqual([{ ...files[0], path: '/inside/file-1-0' }]);
    expect(readFileSync(shared('file-1-0'), 'utf8')).toBe('letters');
    writeFileSync(shared('file-1-0'), 'changed');
    expect(readFileSync(font, 'utf8')).toBe('letters');
    await staged.cleanUp();
    expect(readdirSync(shared(''))).toEqual([]);
  });

  it('stages the attachment', async () => {
    const attachment = path.join(folder, 'render', 'font');
    writeFileSync(attachment, 'letters');
    const directory = new WorkerDirectory(shared(''), '/inside');
    const staged = await directory.stage({ ...task, job: { ...task.job, attachment } });
    expect(staged.task.job.attachment).toBe('/inside/attachment-1');
    expect(readFileSync(shared('attachment-1'), 'utf8')).toBe('letters');
    await staged.cleanUp();
    expect(readdirSync(shared(''))).toEqual([]);
  });

  it('never uses a file name twice', async () => {
    const directory = new WorkerDirectory(shared(''), '/inside');
    const names = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const staged = await directory.stage(task);
      names.add(staged.task.job.output).add(staged.task.job.asset?.path ?? '');
      await staged.cleanUp();
    }
    expect(names.size).toBe(6);
  });

  it('the directory is empty after the clean-up of a failed task', async () => {
    const staged = await stage(new WorkerDirectory(shared(''), '/inside'), (output) => writeFileSync(output, 'half'));
    await staged.cleanUp();
    expect(readdirSync(shared(''))).toEqual([]);
  });

  it.each([
    ['a symbolic link to a file of the server', (output: string) => symlinkSync(path.join(folder, 'secret'), output)],
    ['a directory', (output: string) => mkdirSync(output)],
  ])('refuses to collect an output that is %s', async (_what, misbehave) => {
    const staged = await stage(new WorkerDirectory(shared(''), '/inside'), misbehave);
    await expect(staged.collect()).rejects.toThrow("isn't a regular file");
  });

  it('fails with storage_unavailable when the asset cannot be staged', async () => {
    rmSync(task.job.asset?.path ?? '');
    const staged = new WorkerDirectory(shared(''), '/inside').stage(task);
    await expect(staged).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});
