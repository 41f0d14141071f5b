// Finds and runs programs that are installed on the host.

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Finds the first program with one of these names, in the order of PATH, for which `suits` returns true. */
export async function findProgram(
  names: readonly string[],
  suits: (file: string) => Promise<boolean>,
): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  for (const file of names.flatMap((name) => folders.map((folder) => path.join(folder, name)))) {
    if ((await isExecutable(file)) && (await suits(file))) return file;
  }
  return undefined;
}

/** A wrapper script would add the start of its interpreter to every measurement. */
export async function isNative(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.toString('latin1') !== '#!';
  } finally {
    await handle.close();
  }
}

/** Returns whether the program succeeds and its output contains `text`. */
export async function prints(file: string, args: readonly string[], text: string): Promise<boolean> {
  try {
    return (await execute(file, args)).stdout.includes(text);
  } catch {
    return false;
  }
}

export async function runProgram(file: string, args: readonly string[], directory: string): Promise<void> {
  await execute(file, args, { cwd: directory });
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
