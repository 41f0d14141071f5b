// The attacks of a compromised decoder, tried for real from inside: this runs in a process that is started exactly like
// a worker.

import { open, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { ManagedProcess } from '../../../engine/media/process.ts';
import type { Guard } from './sandbox.ts';

/** The targets that the process must not reach, and its own directory. */
export interface Targets {
  readonly directory: string;
  /** A file next to the database. */
  readonly secretFile: string;
  /** The directory with the uploads of all renders. */
  readonly uploads: string;
  /** A file of our own program. */
  readonly codeFile: string;
  /** The id of a server process that a signal ends. */
  readonly decoyPid: number;
  /** A loopback port that the server listens on. */
  readonly port: number;
  readonly fileBytes: number;
  readonly dataBytes: number;
}

/** The conditions that the process finds when it starts. */
export interface StartConditions {
  readonly environment: readonly string[];
}

export interface TrialReport {
  /** The guards that didn't hold. `processes` isn't among them, because only the server sees whether its decoy died. */
  readonly reached: readonly Guard[];
  /** The reason why a worker couldn't work at this level. Undefined when it could. */
  readonly hindrance: string | undefined;
}

type Attempt = (targets: Targets & StartConditions) => Promise<boolean>;

/**
 * Each attempt throws or returns false when its guard holds. The memory comes last, because it leaves little for the
 * others.
 */
const ATTEMPTS: readonly (readonly [Guard, Attempt])[] = [
  ['environment', async ({ environment }) => environment.some((name) => !EXPECTED_VARIABLES.test(name))],
  ['file size', async ({ directory, fileBytes }) => await growFile(path.join(directory, 'large'), fileBytes + 1)],
  ['files', async ({ secretFile }) => (await readFile(secretFile)).length > 0],
  ['other renders', async ({ uploads }) => (await readdir(uploads)).length >= 0],
  ['own code', async ({ codeFile }) => await openForWriting(codeFile)],
  ['network', async ({ port }) => await connects(port)],
  ['programs', async () => await startsProgram()],
  ['memory', async ({ dataBytes }) => allocate(dataBytes)],
];

/** Ends a Node.js process that doesn't listen for it, without running any code of it. */
const DECOY_SIGNAL = 'SIGUSR2';

/** `TMPDIR` is set by the sandbox, `PWD` by bubblewrap. */
const EXPECTED_VARIABLES = /^(?:TMPDIR|PWD)$/u;

/** Does a worker's own work first, then tries to get past each guard. */
export async function attemptEverything(targets: Targets & StartConditions): Promise<TrialReport> {
  const hindrance = await findHindrance(targets.directory);
  signalDecoy(targets.decoyPid);
  const reached: Guard[] = [];
  for (const [guard, attempt] of ATTEMPTS) {
    // An error means that the guard holds, whatever it says.
    if (await attempt(targets).catch(() => false)) reached.push(guard);
  }
  return { reached, hindrance };
}

/** A worker must be able to write to its directory and to load every native library. */
async function findHindrance(directory: string): Promise<string | undefined> {
  try {
    const file = path.join(directory, 'own');
    await writeFile(file, 'own');
    await unlink(file);
    await Promise.all([
      import('../../../engine/media/image.ts'),
      import('../../../engine/render/renderer-tools.ts'),
      import('../../../engine/media/video/probe/codecs.ts'),
    ]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * In here, it is unknown whether the signal arrived: in a namespace of its own, the same number can belong to this
 * process or to one of its threads. The signal is therefore one that this process ignores.
 */
function signalDecoy(pid: number): void {
  process.on(DECOY_SIGNAL, () => undefined);
  try {
    process.kill(pid, DECOY_SIGNAL);
  } catch {
    // No process has this number in here, which is the usual case.
  }
}

/**
 * Allocates in chunks, because a single buffer has a limit of its own. The memory is never touched, so success costs
 * nothing.
 */
function allocate(bytes: number): boolean {
  const chunkBytes = 1024 ** 3;
  const chunks: Buffer[] = [];
  for (let allocated = 0; allocated < bytes; allocated += chunkBytes) chunks.push(Buffer.alloc(chunkBytes));
  return chunks.length > 0;
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
