// The strongest level that this machine really offers, within what the operator wants.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { findPlaces } from './places.ts';
import { SANDBOX_LEVELS, Sandbox, type SandboxLevel, type Tools } from './sandbox.ts';
import { systemCallFilter } from './system-calls.ts';
import { findFault, type TrialGround } from './trial.ts';

type SandboxMode = 'required' | 'auto' | 'limits' | 'off';

const TRIED: Readonly<Record<SandboxMode, readonly SandboxLevel[]>> = {
  required: ['bubblewrap'],
  auto: SANDBOX_LEVELS,
  limits: ['limits', 'process'],
  off: ['process'],
};

export interface SandboxOptions extends TrialGround {
  readonly mode: SandboxMode;
  /** Folders with programs, separated as in PATH. */
  readonly searchPath: string;
  readonly packageRoot: string;
}

export interface SandboxChoice {
  /** Undefined when no level that the mode allows is to be had. */
  readonly sandbox: Sandbox | undefined;
  /** Why not a stronger one. */
  readonly faults: readonly { readonly level: SandboxLevel; readonly fault: string }[];
}

export async function chooseSandbox(options: SandboxOptions): Promise<SandboxChoice> {
  const tools = { bwrap: find('bwrap', options.searchPath), prlimit: find('prlimit', options.searchPath) };
  const places = process.platform === 'linux' ? findPlaces({ ...options, ...tools }) : NOWHERE;
  const faults: { level: SandboxLevel; fault: string }[] = [];
  for (const level of TRIED[options.mode]) {
    const sandbox = new Sandbox(level, tools, places);
    const fault = lacking(level, tools) ?? (level === 'process' ? undefined : await findFault(sandbox, options));
    if (fault === undefined) return { sandbox, faults };
    faults.push({ level, fault });
  }
  return { sandbox: undefined, faults };
}

const NOWHERE = { readOnly: [], links: [], masked: [] };

function lacking(level: SandboxLevel, { bwrap, prlimit }: Tools): string | undefined {
  if (level === 'process') return undefined;
  if (process.platform !== 'linux') return 'it needs Linux';
  const missing = [
    ...(level === 'bubblewrap' && bwrap === undefined ? ['there is no program bwrap (package bubblewrap)'] : []),
    ...(prlimit === undefined ? ['there is no program prlimit (package util-linux)'] : []),
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
