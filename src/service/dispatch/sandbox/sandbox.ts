// Isolation of render workers. They decode files of strangers, and a file that takes over a decoder must not reach the
// store, other callers' assets, the network or the machine. This file defines what each level guards and how a program
// is started at it. trial.ts checks whether the guards hold on this machine.

import type { StartOptions } from '../../../engine/media/process.ts';
import { must } from '../../../shared/must.ts';
import { bubblewrapArguments } from './bubblewrap.ts';
import { limitArguments, type ResourceLimits } from './limits.ts';
import { systemCallFilter } from './system-calls.ts';
import type { VisiblePaths } from './visible-paths.ts';

/** The levels from the strongest to the weakest. */
export const SANDBOX_LEVELS = ['bubblewrap', 'limits', 'process'] as const;
export type SandboxLevel = (typeof SANDBOX_LEVELS)[number];

/** The things that a sandbox keeps a program from reaching or exceeding. */
export const ALL_GUARDS = [
  'environment',
  'memory',
  'file size',
  'files',
  'other renders',
  'own code',
  'processes',
  'network',
  'programs',
] as const;
export type Guard = (typeof ALL_GUARDS)[number];

const GUARDS_OF_LIMITS: readonly Guard[] = ['environment', 'memory', 'file size'];

export const GUARDS: Readonly<Record<SandboxLevel, readonly Guard[]>> = {
  bubblewrap: ALL_GUARDS,
  limits: GUARDS_OF_LIMITS,
  process: ['environment'],
};

/** The paths of the host's programs that isolate. Undefined when not installed. */
export interface SandboxTools {
  readonly bwrap: string | undefined;
  readonly prlimit: string | undefined;
}

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

/** The path at which bubblewrap mounts a worker's directory. */
const DIRECTORY_INSIDE = '/storybar-worker';

export class Sandbox {
  readonly level: SandboxLevel;
  readonly #tools: SandboxTools;
  readonly #paths: VisiblePaths;

  constructor(level: SandboxLevel, tools: SandboxTools, paths: VisiblePaths) {
    this.level = level;
    this.#tools = tools;
    this.#paths = paths;
  }

  /** Returns the path of a worker's directory as the program inside sees it. */
  pathInside(directory: string): string {
    return this.level === 'bubblewrap' ? DIRECTORY_INSIDE : directory;
  }

  /**
   * Starts a program that may write only to `directory`. At the strongest level, it also sees no other files but its
   * own code.
   */
  start(program: Program, directory: string, limits: ResourceLimits): StartOptions {
    const limited = this.level === 'process' ? program : this.#limit(program, limits);
    // The environment contains nothing else from the server. Temporary files of decoders are removed with the worker.
    const env = { TMPDIR: this.pathInside(directory) };
    if (this.level !== 'bubblewrap') return { ...limited, env };
    const args = bubblewrapArguments(this.#paths, { outside: directory, inside: DIRECTORY_INSIDE });
    return {
      file: must(this.#tools.bwrap, 'bwrap'),
      args: [...args, '--', limited.file, ...limited.args],
      env,
      signalsAsCodes: true,
      extraInput: must(systemCallFilter(process.arch), 'the system call filter'),
    };
  }

  #limit({ file, args }: Program, limits: ResourceLimits): Program {
    return { file: must(this.#tools.prlimit, 'prlimit'), args: [...limitArguments(limits), '--', file, ...args] };
  }
}
