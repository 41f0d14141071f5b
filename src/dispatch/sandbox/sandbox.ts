// How much a render worker is locked away. Decoders read files of strangers; whatever such a file makes of a decoder must
// not reach the store, other callers' assets, the network or the machine. Says what a level promises and how a program is
// started at it; whether this machine keeps the promise is tried out in trial.ts.

import type { StartOptions } from '../../media/process.ts';
import { bubblewrapArguments } from './bubblewrap.ts';
import { type ResourceLimits, limitArguments } from './limits.ts';
import type { Places } from './places.ts';
import { systemCallFilter } from './system-calls.ts';

/** From strong to weak. */
export const SANDBOX_LEVELS = ['bubblewrap', 'limits', 'process'] as const;
export type SandboxLevel = (typeof SANDBOX_LEVELS)[number];

/** What a program inside must not achieve. */
export type Promised =
  | 'environment'
  | 'memory'
  | 'file size'
  | 'files'
  | 'other renders'
  | 'own code'
  | 'processes'
  | 'network'
  | 'programs';

const BY_LIMITS: readonly Promised[] = ['environment', 'memory', 'file size'];

export const PROMISES: Readonly<Record<SandboxLevel, readonly Promised[]>> = {
  bubblewrap: [...BY_LIMITS, 'files', 'other renders', 'own code', 'processes', 'network', 'programs'],
  limits: BY_LIMITS,
  process: ['environment'],
};

/** Programs of the host that do the locking; undefined where there is none. */
export interface Tools {
  readonly bwrap: string | undefined;
  readonly prlimit: string | undefined;
}

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

/** Where a worker finds its own directory when it sees no other. */
const CELL_INSIDE = '/cell';

export class Sandbox {
  readonly level: SandboxLevel;
  readonly #tools: Tools;
  readonly #places: Places;

  constructor(level: SandboxLevel, tools: Tools, places: Places) {
    this.level = level;
    this.#tools = tools;
    this.#places = places;
  }

  /** What the program inside calls the directory. */
  cellInside(directory: string): string {
    return this.level === 'bubblewrap' ? CELL_INSIDE : directory;
  }

  /** `directory` is all the program may write to, and at the strongest level all it sees besides itself. */
  start(program: Program, directory: string, limits: ResourceLimits): StartOptions {
    const limited = this.level === 'process' ? program : this.#limited(program, limits);
    // Nothing of our own environment. Scratch files of decoders belong into the cell, which ends with the worker.
    const env = { TMPDIR: this.cellInside(directory) };
    if (this.level !== 'bubblewrap') return { ...limited, env };
    const args = bubblewrapArguments(this.#places, { outside: directory, inside: CELL_INSIDE });
    return {
      file: present(this.#tools.bwrap),
      args: [...args, '--', limited.file, ...limited.args],
      env,
      signalsAsCodes: true,
      extraInput: present(systemCallFilter(process.arch)),
    };
  }

  #limited({ file, args }: Program, limits: ResourceLimits): Program {
    return { file: present(this.#tools.prlimit), args: [...limitArguments(limits), '--', file, ...args] };
  }
}

function present<Tool>(tool: Tool | undefined): Tool {
  if (tool === undefined) throw new Error('a sandbox was made without its tools');
  return tool;
}
