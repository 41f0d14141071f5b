// The paths of this machine that a worker must see: the program that runs it, the libraries, and our own code.

import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { must } from '../../../shared/must.ts';

export interface VisiblePaths {
  readonly readOnly: readonly string[];
  readonly links: readonly { readonly at: string; readonly to: string }[];
  /** Paths that are hidden, although a directory above them is visible. */
  readonly masked: readonly string[];
}

export interface VisiblePathsOptions {
  /** The directory of our package.json. */
  readonly packageRoot: string;
  /** The directory with the database, which is never visible. */
  readonly dataDirectory: string;
  readonly prlimit: string | undefined;
}

const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'];

export function findVisiblePaths(options: VisiblePathsOptions): VisiblePaths {
  const links = LIBRARIES.filter(isLink).map((at) => ({ at, to: readlinkSync(at) }));
  const libraries = [...LIBRARIES, ...loadedLibraries()].filter((file) => existsSync(file) && !isLink(file));
  const programs = [process.execPath, ...(options.prlimit === undefined ? [] : [options.prlimit])];
  const readOnly = [...new Set([...libraries, ...programs, ...ownCode(options.packageRoot)])];
  const data = realpathSync(options.dataDirectory);
  const masked = readOnly.some((file) => isInside(data, realpathSync(file))) ? [data] : [];
  return { readOnly, links, masked };
}

/** The package directory itself is excluded, because it may contain settings and the default data directory. */
function ownCode(packageRoot: string): string[] {
  const own = ['dist', 'package.json'].map((name) => path.join(packageRoot, name));
  return [...own, ...ancestors(packageRoot).map((folder) => path.join(folder, 'node_modules'))].filter(existsSync);
}

function ancestors(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** Returns the directories of the libraries that this process has loaded. On some systems they are not in /usr/lib. */
function loadedLibraries(): string[] {
  const matches = [...readFileSync('/proc/self/maps', 'utf8').matchAll(/ (?<file>\/\S+\.so(?:\.\S+)?)$/gmu)];
  const folders = matches.map(({ groups }) => path.dirname(must(groups?.['file'], 'the path of a library')));
  return [...new Set(folders)].filter((folder) => !LIBRARIES.some((library) => isInside(folder, library)));
}

function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
