// Writes a result to a file or to standard output, as it arrives.

import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { messageOf } from '../../shared/error-facts.ts';
import { UsageError } from '../exit-codes.ts';

/** The file appears under its name only when it is complete. `-` means standard output. */
export async function saveResult(
  output: string,
  download: () => Promise<ReadableStream<Uint8Array>>,
  signal: AbortSignal,
): Promise<void> {
  if (output === '-') {
    await pipeline(await download(), process.stdout, { end: false });
    return;
  }
  const partial = `${output}.part`;
  const file = await open(partial, 'w').catch((error: unknown) => {
    throw new UsageError(`cannot write ${output}: ${messageOf(error)}`);
  });
  try {
    await pipeline(await download(), file.createWriteStream());
    signal.throwIfAborted();
    await rename(partial, output);
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}
