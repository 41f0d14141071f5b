// Chooses the strongest sandbox level that this machine supports and the operator's setting allows.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { SANDBOX_LEVELS, Sandbox, type SandboxLevel, type SandboxTools } from './sandbox.ts';
import { systemCallFilter } from './system-calls.ts';
import { findFault, type TrialOptions } from './trial.ts';
import { findVisiblePaths } from './visible-paths.ts';

type SandboxMode = 'required' | 'auto' | 'limits' | 'off';

const LEVELS_OF_MODE: Readonly<Record<SandboxMode, readonly SandboxLevel[]>> = {
  required: ['bubblewrap'],
  auto: SANDBOX_LEVELS,
  limits: ['limits', 'process'],
  off: ['process'],
};

export interface SandboxOptions extends TrialOptions {
  readonly mode: SandboxMode;
  /** Directories to look for programs in, in the format of PATH. */
  readonly searchPath: string;
  readonly packageRoot: string;
}

export interface SandboxChoice {
  /** Undefined when the machine supports none of the levels that the mode allows. */
  readonly sandbox: Sandbox | undefined;
  /** The reasons why stronger levels were rejected. */
  readonly faults: readonly { readonly level: SandboxLevel; readonly fault: string }[];
}

export async function chooseSandbox(options: SandboxOptions): Promise<SandboxChoice> {
  const tools = { bwrap: find('bwrap', options.searchPath), prlimit: find('prlimit', options.searchPath) };
  const paths = process.platform === 'linux' ? findVisiblePaths({ ...options, ...tools }) : NO_PATHS;
  const faults: { level: SandboxLevel; fault: string }[] = [];
  for (const level of LEVELS_OF_MODE[options.mode]) {
    const sandbox = new Sandbox(level, tools, paths);
    const fault = missingFor(level, tools) ?? (level === 'process' ? undefined : await findFault(sandbox, options));
    if (fault === undefined) return { sandbox, faults };
    faults.push({ level, fault });
  }
  return { sandbox: undefined, faults };
}

const NO_PATHS = { readOnly: [], links: [], masked: [] };

function missingFor(level: SandboxLevel, { bwrap, prlimit }: SandboxTools): string | undefined {
  if (level === 'process') return undefined;
  if (process.platform !== 'linux') return 'it requires Linux';
  const missing = [
    ...(level === 'bubblewrap' && bwrap === undefined ? ["bwrap isn't installed (package bubblewrap)"] : []),
    ...(prlimit === undefined ? ["prlimit isn't installed (package util-linux)"] : []),
    ...(level === 'limits' || systemCallFilter(process.arch)
      ? []
      : [`there is no system call filter for ${process.arch}`]),
  ];
  return missing.length > 0 ? missing.join(' and ') : undefined;
}

function find(program: string, searchPath: string): string | undefined {
  const files = searchPath.split(path.delimiter).map((folder) => path.join(folder, program));
  return files.find((file) => path.isAbsolute(file) && isExecutable(file));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
