import { open } from 'node:fs/promises';
import { type AssetFormat, isAnimation, SNIFF_LENGTH, sniff } from './sniff.ts';

/** Reads up to `length` bytes from the start of a file. */
async function readHead(file: string, length: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

export async function isAnimationFile(file: string): Promise<boolean> {
  return isAnimation(await readHead(file, SNIFF_LENGTH));
}

export async function sniffFile(file: string): Promise<AssetFormat | undefined> {
  return sniff(await readHead(file, SNIFF_LENGTH));
}
