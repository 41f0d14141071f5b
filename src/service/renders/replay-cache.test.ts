import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReplayCache } from './replay-cache.ts';

const MAX_BYTES = 1_000;
const HOUR_MS = 3_600_000;

let root: string;
let directory: string;
let files = 0;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'storybar-replays-'));
  directory = path.join(root, 'replays');
  mkdirSync(directory);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const newPath = (): string => path.join(root, `file-${(files += 1)}`);

/** Creates a finished render of this many bytes, `age` milliseconds old. */
function rendered(bytes: number, age = 0): string {
  const file = newPath();
  writeFileSync(file, 'x'.repeat(bytes));
  const modifiedAt = new Date(Date.now() - age);
  utimesSync(file, modifiedAt, modifiedAt);
  return file;
}

const cached = (): string[] => readdirSync(directory).toSorted();

describe('ReplayCache', () => {
  it('restores a kept file after the original was removed', async () => {
    const cache = await ReplayCache.open(directory, MAX_BYTES);
    const original = rendered(10);
    await cache.keep('a', original);
    rmSync(original);
    const copy = newPath();
    expect(await cache.restore('a', copy)).toBe(true);
    expect(readFileSync(copy, 'utf8')).toBe('x'.repeat(10));
    expect(await cache.restore('unknown', newPath())).toBe(false);
  });

  it('evicts the oldest files to stay below the limit, and never keeps a file larger than that', async () => {
    const cache = await ReplayCache.open(directory, MAX_BYTES);
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) await cache.keep(id, rendered(300, 1_000 * (9 - index)));
    expect(cached()).toEqual(['b', 'c', 'd']);
    await cache.keep('large', rendered(MAX_BYTES + 1));
    expect(cached()).toEqual(['b', 'c', 'd']);
    await cache.keep('e', rendered(MAX_BYTES));
    expect(cached()).toEqual(['e']);
  });

  it('stays below the limit with many small files', async () => {
    const cache = await ReplayCache.open(directory, MAX_BYTES);
    for (let index = 0; index < 100; index += 1) await cache.keep(`small-${index}`, rendered(30));
    expect(cached().length * 30).toBeLessThanOrEqual(MAX_BYTES);
    expect(cached().length * 30).toBeGreaterThan(MAX_BYTES / 2);
  });

  it('removes files after 24 hours', async () => {
    const cache = await ReplayCache.open(directory, MAX_BYTES);
    await cache.keep('old', rendered(10, 25 * HOUR_MS));
    await cache.keep('recent', rendered(10, 23 * HOUR_MS));
    await cache.removeExpired();
    expect(cached()).toEqual(['recent']);
  });

  it('finds the files of an earlier process, and evicts them when the limit is lower now', async () => {
    const before = await ReplayCache.open(directory, MAX_BYTES);
    await before.keep('a', rendered(300, 2_000));
    await before.keep('b', rendered(300, 1_000));
    const after = await ReplayCache.open(directory, 500);
    expect(await after.restore('b', newPath())).toBe(true);
    expect(cached()).toEqual(['b']);
  });
});

describe('two servers with one replay cache directory', () => {
  let first: ReplayCache;
  let second: ReplayCache;
  beforeEach(async () => {
    first = await ReplayCache.open(directory, MAX_BYTES);
    second = await ReplayCache.open(directory, MAX_BYTES);
  });

  it('replay what the other one kept', async () => {
    await first.keep('a', rendered(10));
    expect(await second.restore('a', newPath())).toBe(true);
  });

  it('a server misses a file that another one has evicted', async () => {
    await first.keep('a', rendered(600, 1_000));
    await second.keep('b', rendered(600));
    expect(await first.restore('a', newPath())).toBe(false);
  });

  it('a server still sends a restored file that another one evicts meanwhile', async () => {
    await first.keep('a', rendered(600, 1_000));
    const sending = newPath();
    await first.restore('a', sending);
    await second.keep('b', rendered(600));
    expect(existsSync(path.join(directory, 'a'))).toBe(false);
    expect(readFileSync(sending, 'utf8')).toHaveLength(600);
  });

  it('two servers that rendered the same file both keep it without an error', async () => {
    await first.keep('a', rendered(10));
    await expect(second.keep('a', rendered(10))).resolves.toBeUndefined();
  });

  it('two servers with one replay cache stay near its limit together', async () => {
    for (let index = 0; index < 50; index += 1) {
      await first.keep(`first-${index}`, rendered(50));
      await second.keep(`second-${index}`, rendered(50));
    }
    expect(cached().length * 50).toBeLessThanOrEqual(1.1 * MAX_BYTES);
  });
});
