// Whether a level holds on this machine: a program started exactly as a worker tries to break out, and reports.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import path from 'node:path';
import { ManagedProcess } from '../../media/process.ts';
import { innermostProcess, residentBytes } from '../../media/process-tree.ts';
import type { WorkArea } from '../../media/work-area.ts';
import type { EscapeOutcome, Targets } from './attempts.ts';
import { dataLimit, type ResourceLimits } from './limits.ts';
import { PROMISES, type Sandbox } from './sandbox.ts';

export interface TrialGround {
  /** The program that tries to break out. */
  readonly escapeFile: string;
  readonly dataDirectory: string;
  readonly cells: WorkArea;
  readonly limits: ResourceLimits;
}

/** Some machines are slow, but one that needs this long to start a process cannot serve anyway. */
const TRIAL_MS = 30_000;
/** The engine alone takes more; less means that we look at the wrong process. */
const LEAST_MEMORY = 16 * 1024 ** 2;

/** Returns what is wrong with the level here; undefined when it keeps every promise and workers can work in it. */
export async function findFault(sandbox: Sandbox, ground: TrialGround): Promise<string | undefined> {
  const cell = await ground.cells.directory(`trial-${randomUUID()}`);
  const secretFile = path.join(ground.dataDirectory, `trial-${randomUUID()}`);
  const listener = createServer((socket) => socket.destroy());
  try {
    await writeFile(secretFile, 'secret', { mode: 0o600 });
    await listen(listener);
    const targets: Targets = {
      cell: sandbox.cellInside(cell.path),
      secretFile,
      uploads: path.join(ground.dataDirectory, 'work'),
      codeFile: ground.escapeFile,
      serverPid: process.pid,
      port: (listener.address() as AddressInfo).port,
      fileBytes: ground.limits.fileBytes,
      dataBytes: dataLimit(ground.limits),
    };
    const program = { file: process.execPath, args: [ground.escapeFile, JSON.stringify(targets)] };
    return await judge(sandbox, new ManagedProcess(sandbox.start(program, cell.path, ground.limits)));
  } finally {
    listener.close();
    await Promise.all([rm(secretFile, { force: true }), cell.remove()]);
  }
}

async function listen(listener: Server): Promise<void> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
}

async function judge(sandbox: Sandbox, child: ManagedProcess): Promise<string | undefined> {
  const impatience = setTimeout(() => child.kill(), TRIAL_MS);
  const reported = new Promise<EscapeOutcome>((resolve) =>
    child.onMessage((message) => resolve(message as EscapeOutcome)),
  );
  const result = await Promise.race([reported, child.exited]);
  const memory = memoryOf(child);
  clearTimeout(impatience);
  child.kill();
  await child.exited;
  if (!('achieved' in result)) {
    const words = result.stderrTail.trim().split('\n').at(-1) ?? '';
    return `a program inside did not start (${result.signal ?? result.code})${words && `: ${words}`}`;
  }
  const broken = PROMISES[sandbox.level].filter((promise) => result.achieved.includes(promise));
  if (broken.length > 0) return `it does not hold here: a program inside got at ${broken.join(', ')}`;
  if (result.hindered !== undefined) return `workers cannot work in it: ${result.hindered}`;
  return memory === undefined || memory < LEAST_MEMORY ? 'the memory of a program inside cannot be watched' : undefined;
}

function memoryOf({ pid }: ManagedProcess): number | undefined {
  const inner = pid === undefined ? undefined : innermostProcess(pid);
  return inner === undefined ? undefined : residentBytes(inner);
}
