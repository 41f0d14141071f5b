// What a hijacked decoder would try, tried for real from inside. Runs in a process that was started exactly as a worker is.

import { open, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { ManagedProcess } from '../../media/process.ts';
import type { Promised } from './sandbox.ts';

/** Where the server has laid out what must not be reached. */
export interface Targets {
  readonly cell: string;
  /** A file beside the database. */
  readonly secretFile: string;
  /** Where the uploads of all renders are. */
  readonly uploads: string;
  /** A file of our own program. */
  readonly codeFile: string;
  readonly serverPid: number;
  /** Something listens here, on loopback. */
  readonly port: number;
  readonly fileBytes: number;
  readonly dataBytes: number;
}

/** What this process was given when it started. */
export interface Given {
  readonly environment: readonly string[];
}

export interface EscapeOutcome {
  /** What it could do although it should not. */
  readonly achieved: readonly Promised[];
  /** Why it could not do its own work; undefined when it could. */
  readonly hindered: string | undefined;
}

type Attempt = (targets: Targets & Given) => Promise<boolean>;

/** Each throws, or returns false, when it is held back. */
const ATTEMPTS: Readonly<Record<Promised, Attempt>> = {
  environment: async ({ environment }) => environment.some((name) => !EXPECTED_VARIABLES.test(name)),
  'file size': async ({ cell, fileBytes }) => await growFile(path.join(cell, 'large'), fileBytes + 1),
  files: async ({ secretFile }) => (await readFile(secretFile)).length > 0,
  'other renders': async ({ uploads }) => (await readdir(uploads)).length >= 0,
  'own code': async ({ codeFile }) => await openForWriting(codeFile),
  processes: async ({ serverPid }) => process.kill(serverPid, 0),
  network: async ({ port }) => await connects(port),
  programs: async () => await startsProgram(),
  memory: async ({ dataBytes }) => allocate(dataBytes),
};

/** The place of the cell, and where bubblewrap says we are. */
const EXPECTED_VARIABLES = /^(?:TMPDIR|PWD)$/u;

/** The own work first, and the memory last: that attempt leaves little to any other. */
export async function attemptEverything(targets: Targets & Given): Promise<EscapeOutcome> {
  const hindered = await doOwnWork(targets.cell);
  const achieved: Promised[] = [];
  for (const [name, attempt] of Object.entries(ATTEMPTS) as [Promised, Attempt][]) {
    // Being held back is the good outcome, whatever the error says.
    if (await attempt(targets).catch(() => false)) achieved.push(name);
  }
  return { achieved, hindered };
}

/** A sandbox in which nothing can be rendered is no use either: write to the own directory, load every native library. */
async function doOwnWork(cell: string): Promise<string | undefined> {
  try {
    const file = path.join(cell, 'own');
    await writeFile(file, 'own');
    await unlink(file);
    await Promise.all([
      import('../../media/image.ts'),
      import('../../render/renderer-tools.ts'),
      import('../../media/video/probe/codecs.ts'),
    ]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** In pieces, because one alone has a limit of its own. Never touched, so it costs nothing where it succeeds. */
function allocate(bytes: number): boolean {
  const piece = 1024 ** 3;
  const pieces: Buffer[] = [];
  for (let taken = 0; taken < bytes; taken += piece) pieces.push(Buffer.alloc(piece));
  return pieces.length > 0;
}

async function growFile(file: string, bytes: number): Promise<boolean> {
  const handle = await open(file, 'w');
  try {
    await handle.truncate(bytes);
    return true;
  } finally {
    await handle.close();
    await unlink(file);
  }
}

async function openForWriting(file: string): Promise<boolean> {
  const handle = await open(file, 'r+');
  await handle.close();
  return true;
}

async function connects(port: number): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', reject);
  });
}

async function startsProgram(): Promise<boolean> {
  const started = new ManagedProcess({ file: process.execPath, args: ['--version'], env: {} });
  const { code } = await started.exited;
  return code === 0;
}
