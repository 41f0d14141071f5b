import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import type { AssetKind } from './sniff.ts';
import { type AssetDestination, type ReceivedFile, receiveAsset } from './receive-asset.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'storybar-receive-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;

interface Received extends ReceivedFile {
  /** The kinds whose queues were checked during the upload. */
  readonly checked: readonly AssetKind[];
}

async function receiveFile(head: string, bytes: number): Promise<Received> {
  const checked: AssetKind[] = [];
  const destination: AssetDestination = {
    path: path.join(directory, String((files += 1))),
    prepare: async () => undefined,
    maxBytes: 10_000,
    maxBytesOf: () => 10_000,
    onKind: (kind) => checked.push(kind),
    reserve: () => undefined,
    hash: false,
  };
  const file = Buffer.alloc(bytes);
  file.write(head, 'latin1');
  return { ...(await receiveAsset(Readable.from([file]), destination)), checked };
}

const ANIMATED_WEBP = 'RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x12';

describe('receiveAsset', () => {
  it.each([
    ['a JPEG', '\xff\xd8\xff\xe0', ['image']],
    ['an MP4', '\0\0\0\x18ftypisom', ['video']],
    ['a HEIC, which workers for videos decode', '\0\0\0\x18ftypheic', ['video']],
    ['a still WebP', 'RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x10', ['image']],
    ["a GIF, whose kind isn't known yet", 'GIF89a', []],
    ["an animated WebP, whose kind isn't known yet", ANIMATED_WEBP, []],
  ] as const)('tells the kind of worker for %s', async (_name, head, kinds) => {
    const [short, long] = [await receiveFile(head, 64), await receiveFile(head, 4_096)];
    expect(new Set([...short.checked, ...long.checked])).toEqual(new Set(kinds));
  });

  it('says whether a file can become a video', async () => {
    const received = [
      await receiveFile('GIF89a', 64),
      await receiveFile(ANIMATED_WEBP, 64),
      await receiveFile('\xff\xd8\xff', 64),
    ];
    expect(received.map(({ format, isAnimation }) => [format, isAnimation])).toEqual([
      ['gif', true],
      ['webp', true],
      ['jpeg', false],
    ]);
  });
});
