// Which platforms the native packages of the lock file have binaries for. It tells before a release whether an installation can
// work on machines that no test runs on.

import { must } from '../src/shared/must.ts';

interface LockedPackage {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>;

interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: string;
}

/** The platforms that we promise. */
export const PLATFORMS: readonly Platform[] = [
  ...['x64', 'arm64'].flatMap((cpu) => ['glibc', 'musl'].map((libc) => ({ os: 'linux', cpu, libc }))),
  { os: 'darwin', cpu: 'x64' },
  { os: 'darwin', cpu: 'arm64' },
  { os: 'win32', cpu: 'x64' },
];

/** Returns a sentence for each native dependency that lacks a binary for a platform. */
export function missingBinaries(packages: LockedPackages): readonly string[] {
  const { dependencies = {} } = must(packages[''], 'the package itself in the lock file');
  return Object.keys(dependencies).flatMap((name) => {
    const names = Object.keys(packages[`node_modules/${name}`]?.optionalDependencies ?? {});
    const binaries = names.flatMap((each) => packages[`node_modules/${each}`] ?? []).filter(({ os, cpu }) => os ?? cpu);
    if (binaries.length === 0) return [];
    const missing = PLATFORMS.filter((platform) => !binaries.some((binary) => runsOn(binary, platform)));
    return missing.map(
      ({ os, cpu, libc }) => `${name} has no binary for ${[os, cpu, libc].filter(Boolean).join('-')}.`,
    );
  });
}

function runsOn(binary: LockedPackage, { os, cpu, libc }: Platform): boolean {
  const isOneOf = (allowed: readonly string[] | undefined, value: string): boolean => allowed?.includes(value) ?? true;
  return isOneOf(binary.os, os) && isOneOf(binary.cpu, cpu) && (libc === undefined || isOneOf(binary.libc, libc));
}
