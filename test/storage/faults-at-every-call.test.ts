// Each call to the file system fails once while an object is stored, read and deleted: the disk is full or broken, or a copy
// ends halfway. An object exists completely or not at all, and nothing else is left behind.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fileSystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/shared/errors.ts';
import { FileStorage } from '../../src/service/storage/file-storage.ts';

type Call = (...values: never[]) => Promise<unknown>;

const CALLS = ['mkdir', 'link', 'copyFile', 'open', 'rename', 'rm', 'stat', 'unlink'] as const;
const CONTENT = 'the bytes of a result';
const real: Readonly<Record<string, Call>> = Object.fromEntries(CALLS.map((name) => [name, fileSystem[name] as Call]));

let folder: string;
/** The calls so far, and the one that fails. */
let calls: string[];
let failing: number;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-faults-'));
  writeFileSync(path.join(folder, 'source'), CONTENT);
});

afterEach(() => {
  Object.assign(fileSystem, real);
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true });
});

/** `hasLinks` is false for a directory on another disk, to which files are copied. */
function failAt(number: number, code: string, hasLinks: boolean): void {
  calls = [];
  failing = number;
  const fails = (name: string): boolean => {
    calls.push(name);
    return calls.length === failing;
  };
  const error = (name: string, reason = code): Error =>
    Object.assign(new Error(`${reason}: ${name}`), { code: reason });
  const changed = CALLS.map((name) => {
    const call: Call = async (...values) => {
      if (name === 'link' && !hasLinks) throw error(name, 'EXDEV');
      const isFailing = fails(name);
      // A copy that fails has written a part.
      if (isFailing && name === 'copyFile') writeFileSync(String(values[1]), CONTENT.slice(0, 5));
      if (isFailing) throw error(name);
      const result = await real[name]?.(...values);
      if (name !== 'open') return result;
      const handle = result as fileSystem.FileHandle;
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        if (fails('sync')) throw error('sync');
        await sync();
      };
      return handle;
    };
    return [name, call] as const;
  });
  Object.assign(fileSystem, Object.fromEntries(changed));
  syncBuiltinESMExports();
}

/** Stores an object, copies it back and deletes it. Returns the steps that succeeded. */
async function use(storage: FileStorage): Promise<string[]> {
  const { signal } = new AbortController();
  const done: string[] = [];
  const steps = {
    put: async () => await storage.put('outputs/one', path.join(folder, 'source')),
    copyTo: async () => {
      const copy = path.join(folder, 'copy');
      if (!(await storage.copyTo('outputs/one', copy, signal))) throw new AppError('result_expired', 'It is gone.');
      expect(readFileSync(copy, 'utf8')).toBe(CONTENT);
    },
    delete: async () => await storage.delete('outputs/one'),
  };
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
      done.push(name);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
    checkFiles(name, done);
  }
  return done;
}

function checkFiles(step: string, done: readonly string[]): void {
  const files = readdirSync(path.join(folder, 'objects'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name !== 'outputs',
  );
  for (const name of files.filter((file) => !file.endsWith('.tmp'))) {
    expect(readFileSync(path.join(folder, 'objects', name), 'utf8')).toBe(CONTENT);
  }
  // Removing a temporary file is the only call whose failure may leave it. The next listing removes it.
  if (calls[failing - 1] !== 'rm') expect(files.filter((file) => file.endsWith('.tmp'))).toEqual([]);
  if (step === 'put' && done.includes('put')) expect(files).toContain(path.join('outputs', 'one'));
  if (step === 'delete' && done.includes('delete')) expect(files).not.toContain(path.join('outputs', 'one'));
}

describe.each(['ENOSPC', 'EIO'])('with %s at any call, a stored object is complete or absent', (code) => {
  it.each([true, false])('a stored object is complete or absent (with hard links: %s)', async (hasLinks) => {
    const storage = await FileStorage.open(path.join(folder, 'objects'));
    failAt(0, code, hasLinks);
    expect(await use(storage)).toEqual(['put', 'copyTo', 'delete']);
    const total = calls.length;
    expect(total).toBeGreaterThan(6);
    for (let number = 1; number <= total; number += 1) {
      rmSync(path.join(folder, 'copy'), { force: true });
      rmSync(path.join(folder, 'objects'), { recursive: true });
      await real['mkdir']?.(path.join(folder, 'objects') as never);
      failAt(number, code, hasLinks);
      await use(storage);
      expect(calls.length).toBeGreaterThanOrEqual(number);
    }
  });
});
