import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeTransparentRecipe } from '../render/recipe.ts';
import { createAsset } from '../media/asset.ts';
import { WorkerDirectory } from './worker-directory.ts';
import type { TaskOf } from './protocol.ts';

let folder: string;
let inCell: (name: string) => string;
let task: TaskOf<'render'>;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-cell-'));
  mkdirSync(path.join(folder, 'cell'));
  mkdirSync(path.join(folder, 'render'));
  inCell = (name) => path.join(folder, 'cell', name);
  const asset = path.join(folder, 'render', 'asset');
  writeFileSync(asset, 'picture');
  writeFileSync(path.join(folder, 'secret'), 'secret');
  const recipe = composeTransparentRecipe({ width: 16, height: 16 }, [{ text: 'a', position: null }]);
  const output = path.join(folder, 'render', 'output');
  task = { type: 'render', job: { recipe, asset: createAsset({ path: asset, format: 'png', bytes: 7 }), output } };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Admits the task and does what a worker would, or what it should not. */
async function admit(cell: WorkerDirectory, work: (output: string) => void) {
  const stay = await cell.stage(task);
  work(inCell(path.basename(stay.task.job.output)));
  return stay;
}

describe('the cell of a worker', () => {
  it('holds the asset under a name inside, and gives the output away', async () => {
    const stay = await admit(new WorkerDirectory(inCell(''), '/cell'), (output) => writeFileSync(output, 'finished'));
    expect(stay.task.job).toMatchObject({ asset: { path: '/cell/asset-1', format: 'png' }, output: '/cell/output-1' });
    expect(readFileSync(inCell('asset-1'), 'utf8')).toBe('picture');
    await stay.collect();
    expect(readFileSync(task.job.output, 'utf8')).toBe('finished');
    await stay.cleanUp();
    expect(readdirSync(inCell(''))).toEqual([]);
    expect(readdirSync(path.join(folder, 'render'))).toEqual(['asset', 'output']);
  });

  it('holds the segments that are to be joined', async () => {
    const segments = path.join(folder, 'render', 'segments');
    writeFileSync(segments, 'segments');
    const cell = new WorkerDirectory(inCell(''), '/cell');
    const stay = await cell.stage({ ...task, job: { ...task.job, segments } });
    expect(stay.task.job.segments).toBe('/cell/segments-1');
    expect(readFileSync(inCell('segments-1'), 'utf8')).toBe('segments');
    await stay.cleanUp();
    expect(readdirSync(inCell(''))).toEqual([]);
  });

  it('never uses a name twice', async () => {
    const cell = new WorkerDirectory(inCell(''), '/cell');
    const names = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const stay = await cell.stage(task);
      names.add(stay.task.job.output).add(stay.task.job.asset?.path ?? '');
      await stay.cleanUp();
    }
    expect(names.size).toBe(6);
  });

  it('is empty after a task that failed half-way', async () => {
    const stay = await admit(new WorkerDirectory(inCell(''), '/cell'), (output) => writeFileSync(output, 'half'));
    await stay.cleanUp();
    expect(readdirSync(inCell(''))).toEqual([]);
  });

  it.each([
    ['a link to a file of the server', (output: string) => symlinkSync(path.join(folder, 'secret'), output)],
    ['a directory', (output: string) => mkdirSync(output)],
  ])('gives nothing away when the output is %s', async (_what, misbehave) => {
    const stay = await admit(new WorkerDirectory(inCell(''), '/cell'), misbehave);
    await expect(stay.collect()).rejects.toThrow('no plain file');
  });

  it('says that it cannot store when the asset cannot be brought in', async () => {
    rmSync(task.job.asset?.path ?? '');
    const admitted = new WorkerDirectory(inCell(''), '/cell').stage(task);
    await expect(admitted).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});
