// Checks whether a sandbox level holds on this machine. A program that is started exactly like a worker tries to break
// out and reports what it reached.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { ManagedProcess } from '../../../engine/media/process.ts';
import { innermostProcess, residentBytes } from '../../../engine/media/process-tree.ts';
import type { WorkArea } from '../../../engine/media/work-area.ts';
import { must } from '../../../shared/must.ts';
import type { Targets } from './attempts.ts';
import { dataLimit, type ResourceLimits } from './limits.ts';
import { ALL_GUARDS, type Guard, GUARDS, type Sandbox } from './sandbox.ts';

export interface TrialOptions {
  /** The program that tries to break out. */
  readonly trialFile: string;
  readonly dataDirectory: string;
  /** The area in which the directories of workers are created. */
  readonly directories: WorkArea;
  readonly limits: ResourceLimits;
}

/** Far longer than it takes to start a process, even on a slow machine. */
const TIMEOUT_MS = 30_000;
/** Node.js alone takes more. Less means that we measure the wrong process. */
const MIN_MEMORY_BYTES = 16 * 1024 ** 2;

const reportSchema = z.object({ reached: z.array(z.enum(ALL_GUARDS)), hindrance: z.string().exactOptional() });

/** Returns the fault of the level on this machine, or undefined when all its guards hold and workers can work. */
export async function findFault(sandbox: Sandbox, options: TrialOptions): Promise<string | undefined> {
  const directory = await options.directories.directory(`trial-${randomUUID()}`);
  const secretFile = path.join(options.dataDirectory, `trial-${randomUUID()}`);
  const listener = createServer((socket) => socket.destroy());
  // Without arguments, the trial program only waits.
  const decoy = new ManagedProcess({ file: process.execPath, args: [options.trialFile], env: {} });
  try {
    await writeFile(secretFile, 'secret', { mode: 0o600 });
    const targets: Targets = {
      directory: sandbox.pathInside(directory.path),
      secretFile,
      uploads: path.join(options.dataDirectory, 'work'),
      codeFile: options.trialFile,
      decoyPid: must(decoy.pid, 'pid of the decoy'),
      port: await listen(listener),
      fileBytes: options.limits.fileBytes,
      dataBytes: dataLimit(options.limits),
    };
    const program = { file: process.execPath, args: [options.trialFile, JSON.stringify(targets)] };
    const child = new ManagedProcess(sandbox.start(program, directory.path, options.limits));
    return await judge(sandbox, child, decoy);
  } finally {
    decoy.kill();
    listener.close();
    await Promise.all([rm(secretFile, { force: true }), directory.remove()]);
  }
}

async function listen(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  return address.port;
}

async function judge(sandbox: Sandbox, child: ManagedProcess, decoy: ManagedProcess): Promise<string | undefined> {
  const timeout = setTimeout(() => child.kill(), TIMEOUT_MS);
  const message = new Promise<{ readonly message: unknown }>((resolve) =>
    child.onMessage((received) => resolve({ message: received })),
  );
  const result = await Promise.race([message, child.exited]);
  const memory = memoryOf(child);
  clearTimeout(timeout);
  child.kill();
  await child.exited;
  if (!('message' in result)) {
    const lastLine = result.stderrTail.trim().split('\n').at(-1) ?? '';
    return `a program inside failed to start (${result.signal ?? result.code})${lastLine && `: ${lastLine}`}`;
  }
  const report = reportSchema.safeParse(result.message).data;
  if (report === undefined) return 'a program inside sent an invalid report';
  const reached = new Set<Guard>([...report.reached, ...((await wasKilled(decoy)) ? (['processes'] as const) : [])]);
  const broken = GUARDS[sandbox.level].filter((guard) => reached.has(guard));
  if (broken.length > 0) return `it doesn't isolate on this machine: a program inside reached ${broken.join(', ')}`;
  if (report.hindrance !== undefined) return `workers can't run in it: ${report.hindrance}`;
  const isWatchable = memory !== undefined && memory >= MIN_MEMORY_BYTES;
  return isWatchable ? undefined : "the memory of a program inside can't be measured";
}

/** A process dies of the first deadly signal, so ours leaves no trace if another one came first. */
async function wasKilled(decoy: ManagedProcess): Promise<boolean> {
  decoy.kill();
  const { signal } = await decoy.exited;
  return signal !== 'SIGKILL';
}

function memoryOf({ pid }: ManagedProcess): number | undefined {
  const inner = pid === undefined ? undefined : innermostProcess(pid);
  return inner === undefined ? undefined : residentBytes(inner);
}
