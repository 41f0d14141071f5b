import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CachedFile, FileCache, type FileCacheOptions } from './file-cache.ts';
import { WorkArea } from './work-area.ts';

let folder: string;
let workArea: WorkArea;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-cache-'));
  workArea = await WorkArea.open(folder);
});
afterAll(async () => {
  await workArea.close();
  rmSync(folder, { recursive: true, force: true });
});

function fileWith(content: string): CachedFile {
  return { sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length };
}

/** A cache whose files come from a function that counts its calls. */
function cacheOf(options?: FileCacheOptions): {
  cache: FileCache;
  fetches: string[];
  read: (content: string) => Promise<string>;
} {
  const cache = new FileCache(workArea, options);
  const fetches: string[] = [];
  const read = async (content: string): Promise<string> =>
    await cache.with(
      fileWith(content),
      async (file) => {
        fetches.push(content);
        await writeFile(file, content);
      },
      async (file) => readFileSync(file, 'utf8'),
    );
  return { cache, fetches, read };
}

describe('a cache of files', () => {
  it('fetches a file once, however many want it at the same time', async () => {
    const { cache, fetches, read } = cacheOf();
    expect(await Promise.all([read('one'), read('one'), read('two'), read('one')])).toEqual([
      'one',
      'one',
      'two',
      'one',
    ]);
    expect(await read('one')).toBe('one');
    expect(fetches).toEqual(['one', 'two']);
    await cache.close();
  });

  it('refuses a file that does not match its hash, and tries again the next time', async () => {
    const { cache, read } = cacheOf();
    const wrong = async (file: string): Promise<void> => await writeFile(file, 'ten');
    const using = cache.with(fileWith('one'), wrong, async () => 'used');
    await expect(using).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await read('one')).toBe('one');
    await cache.close();
  });

  it('fetches again if the fetch of another render failed', async () => {
    const { cache, read } = cacheOf();
    const failing = cache.with(
      fileWith('one'),
      async () => await Promise.reject(new Error('gone')),
      async () => 'used',
    );
    const [failed, other] = await Promise.allSettled([failing, read('one')]);
    expect([failed.status, other]).toEqual(['rejected', { status: 'fulfilled', value: 'one' }]);
    await cache.close();
  });

  it('forgets the files that were used the longest ago, and never those in use', async () => {
    const { cache, fetches, read } = cacheOf({ maxUnusedBytes: 6 });
    await cache.with(
      fileWith('one'),
      async (file) => writeFileSync(file, 'one'),
      async (file) => {
        for (const content of ['two', 'six', 'ten']) await read(content);
        expect(existsSync(file)).toBe(true);
      },
    );
    expect(cache.size).toBe(2);
    await read('ten');
    expect(fetches).toEqual(['two', 'six', 'ten']);
    await read('two');
    expect(fetches).toEqual(['two', 'six', 'ten', 'two']);
    await cache.close();
  });
});
