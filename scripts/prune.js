// Removes what a production install never uses from node_modules: packages that only unused features of a dependency need,
// binaries for the other C library, fonts and patterns of syllables that no caption uses, source maps, TypeScript, documents,
// tests. License files stay.
// `npm ci --omit=dev` runs it in a clone, and so does the Dockerfile. `npm ci` brings everything back.

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Dependencies of dependencies that we never load: WebRTC, and the download of an FFmpeg program. */
const UNUSED_DEPENDENCIES = { 'node-av': ['werift', 'unzipper'] };

/** The files of these packages that stay, beside their license and package.json. test/prune.test.ts checks them. */
const USED_FILES = {
  '@expo-google-fonts': /^(?:400Regular|700Bold)\/[^/]+\.ttf$/u,
  '@fontsource': /^unicode\.json$|-400-normal\.woff2$/u,
  '@fontsource-variable': /^unicode\.json$|-wght-normal\.woff2$/u,
  hyphen:
    /^(?:hyphen|index)\.js$|^patterns\/(?:bg|ca|da|de-1996|el-monoton|en-us|es|fi|fr|h[ruy]|it|ka|n[bl]|pt|ru|s[lv]|tr|uk)\.js$/u,
  'inter-ui': /^web\/Inter-(?:Regular|Bold)\.woff2$|^variable-latin\/InterVariable-subset\.woff2$/u,
};
const ALWAYS_KEPT = /^(?:package\.json|LICEN[CS]E|COPYING|NOTICE|OFL)/iu;
/** TypeScript is for compilers: type declarations, and sources that some packages ship beside their JavaScript. */
const UNUSED_FILES = /\.map$|\.[cm]?ts$|\.md$|^(?:tests?|docs|benchmarks?)\//u;

/** Prunes for this machine's C library, or for the one named in the first argument: `glibc` or `musl`. */
export function prune(libc = ownLibc()) {
  removeUnneededPackages();
  for (const folder of packageFolders('node_modules')) {
    const name = path.relative('node_modules', folder);
    const isForeign = name.endsWith(libc === 'glibc' ? '-musl' : '-gnu');
    if (isForeign) rmSync(folder, { recursive: true });
    else for (const file of filesIn(folder)) if (isUnused(name, file)) rmSync(path.join(folder, file));
  }
}

/** Returns the bytes of all files in a folder. */
function sizeOf(folder) {
  return filesIn(folder).reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);
}

function isUnused(packageName, file) {
  const used = USED_FILES[packageName] ?? USED_FILES[packageName.split('/')[0]];
  if (ALWAYS_KEPT.test(path.basename(file))) return false;
  return used === undefined ? UNUSED_FILES.test(file) : !used.test(file);
}

function ownLibc() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

/**
 * Follows all dependencies from our own package.json, except the unused ones, and removes packages that it never
 * reached.
 */
function removeUnneededPackages() {
  const needed = new Set();
  const visit = (folder) => {
    const { name, dependencies, optionalDependencies } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    );
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (UNUSED_DEPENDENCIES[name]?.includes(dependency)) continue;
      const found = resolveFolder(folder, dependency);
      if (found === undefined || needed.has(found)) continue;
      needed.add(found);
      visit(found);
    }
  };
  visit('.');
  for (const folder of packageFolders('node_modules')) {
    if (!needed.has(folder) && existsSync(folder)) rmSync(folder, { recursive: true });
  }
}

/** Looks in the `node_modules` of the package itself and of the packages around it, as Node.js does. */
function resolveFolder(from, name) {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(found, 'package.json'))) return found;
    if (folder === '.') return undefined;
  }
}

/** Returns all packages in a `node_modules` folder, including nested ones. */
function packageFolders(modules) {
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(path.join(modules, name)).map((own) => `${name}/${own}`) : [name],
    )
    .map((name) => path.join(modules, name))
    .flatMap((folder) => [folder, ...packageFolders(path.join(folder, 'node_modules'))]);
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const before = sizeOf('node_modules');
  prune(process.argv[2]);
  const megabytes = (bytes) => Math.round(bytes / 1_000_000);
  console.log(`node_modules: ${megabytes(before)} MB, pruned to ${megabytes(sizeOf('node_modules'))} MB`);
}
