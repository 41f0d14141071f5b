// What a worker must see of this machine: the program that runs it, the libraries of both, our own code. Found out once.

import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

export interface Places {
  readonly readOnly: readonly string[];
  readonly links: readonly { readonly at: string; readonly to: string }[];
  /** Hidden again, although something above is visible. */
  readonly masked: readonly string[];
}

export interface PlacesOptions {
  /** The folder that holds our package.json. */
  readonly packageRoot: string;
  /** Holds the database: never visible, wherever it is. */
  readonly dataDirectory: string;
  readonly prlimit: string | undefined;
}

const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'];

export function findPlaces(options: PlacesOptions): Places {
  const links = LIBRARIES.filter(isLink).map((at) => ({ at, to: readlinkSync(at) }));
  const libraries = [...LIBRARIES, ...loadedLibraries()].filter((place) => existsSync(place) && !isLink(place));
  const programs = [process.execPath, ...(options.prlimit === undefined ? [] : [options.prlimit])];
  const readOnly = [...new Set([...libraries, ...programs, ...ownCode(options.packageRoot)])];
  const data = realpathSync(options.dataDirectory);
  const masked = readOnly.some((place) => isInside(data, realpathSync(place))) ? [data] : [];
  return { readOnly, links, masked };
}

/** Not the folder itself: what else lies there (settings, the default data directory) is none of a worker's business. */
function ownCode(packageRoot: string): string[] {
  const own = ['dist', 'package.json'].map((name) => path.join(packageRoot, name));
  return [...own, ...ancestors(packageRoot).map((folder) => path.join(folder, 'node_modules'))].filter(existsSync);
}

function ancestors(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** Folders of what this very program has loaded: on some systems that is nowhere near /usr/lib. */
function loadedLibraries(): string[] {
  const files = [...readFileSync('/proc/self/maps', 'utf8').matchAll(/ (?<file>\/\S+\.so(?:\.\S+)?)$/gmu)];
  const folders = files.map((match) => path.dirname(match.groups?.['file'] ?? '/usr/lib/none'));
  return [...new Set(folders)].filter((folder) => !LIBRARIES.some((place) => isInside(folder, place)));
}

function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

function isLink(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
