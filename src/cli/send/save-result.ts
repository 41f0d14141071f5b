// Downloads a result. A broken download goes on where it ended.

import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { messageOf } from '../../primitives/error-facts.ts';
import { CommandFailure, EXIT_CODES, UsageError } from '../exit-codes.ts';
import type { Service } from './service.ts';

const MAX_RETRIES = 40;

export interface SaveOptions {
  readonly service: Service;
  readonly url: string;
  readonly bytes: number;
  /** `-` is standard output. */
  readonly output: string;
  readonly signal: AbortSignal;
  readonly onProgress: (loadedBytes: number) => void;
}

/** The file appears under its name only when it is complete. */
export async function saveResult(options: SaveOptions): Promise<void> {
  const { output, signal } = options;
  if (output === '-') {
    await receive(options, async (chunk) => {
      await new Promise<void>((resolve, reject) => {
        process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
      });
    });
    return;
  }
  const partial = `${output}.part`;
  const file = await open(partial, 'w').catch((error: unknown) => {
    throw new UsageError(`cannot write ${output}: ${messageOf(error)}`);
  });
  try {
    await receive(options, async (chunk) => await writeAll(file, chunk));
    await file.close();
    signal.throwIfAborted();
    await rename(partial, output);
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await file.write(chunk, written)).bytesWritten;
  }
}

async function receive(
  { service, url, bytes, signal, onProgress }: SaveOptions,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  let loaded = 0;
  for (let breaks = 0; loaded < bytes; breaks += 1) {
    const headers = loaded > 0 ? { range: `bytes=${loaded}-` } : {};
    const request = { method: 'GET', address: url, headers, maxRetries: MAX_RETRIES } as const;
    const response = await service.open(request);
    if (response.body === null || (loaded > 0 && response.status !== 206)) {
      throw new CommandFailure("The server doesn't continue the download.", {
        code: 'download_broken',
        exit: EXIT_CODES.overloaded,
      });
    }
    try {
      for await (const chunk of response.body) {
        await write(chunk);
        loaded += chunk.length;
        onProgress(loaded);
      }
    } catch (error) {
      signal.throwIfAborted();
      // `fetch` reports a broken connection as a TypeError. Anything else, such as a full disk, is final.
      if (!(error instanceof TypeError) || breaks >= MAX_RETRIES) throw error;
    }
    if (breaks >= MAX_RETRIES && loaded < bytes) {
      const message = `The download ended after ${loaded} of ${bytes} bytes.`;
      throw new CommandFailure(message, { code: 'download_broken', exit: EXIT_CODES.overloaded });
    }
  }
}
