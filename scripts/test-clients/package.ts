// Installing, packing and trying out a package, as its users would.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { must } from '../../src/shared/must.ts';

export type Environment = Readonly<Record<string, string>>;

const ROOT = path.resolve(import.meta.dirname, '../..');
export const clientFolder = (name: string): string => path.join(ROOT, 'clients', name);

/** This isn't synchronous, because the stand-in serves from this process. */
export async function run(command: string, args: readonly string[], cwd: string, env: Environment = {}): Promise<void> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed in ${cwd} with exit code ${code}.`);
}

export async function installAndTest(name: string, env: Environment): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts', '--silent', '--no-audit', '--no-fund'], clientFolder(name));
  // n8n has a linter of its own, with other rules.
  if (name !== 'n8n') await lint(name);
  await run('npm', ['test', '--silent'], clientFolder(name), env);
}

/** Runs the linter of the repository, with types from the dependencies of the client. */
async function lint(name: string): Promise<void> {
  const oxlint = path.join(ROOT, 'node_modules/.bin/oxlint');
  await run(oxlint, ['--type-aware', '--deny-warnings', '-c', 'clients/oxlint.json', `clients/${name}`], ROOT);
}

/** Packs the client, installs it into an empty folder with the example files, and passes that folder on. */
export async function inEmptyFolder(
  name: string,
  use: (folder: string) => Promise<void> | void,
  install = async (folder: string): Promise<void> => await installTarball(clientFolder(name), folder),
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), `storybar-${name}-`));
  try {
    for (const file of ['photo.jpg', 'clip.mp4']) cpSync(path.join(ROOT, 'examples', file), path.join(folder, file));
    if (existsSync(path.join(clientFolder(name), 'package.json'))) await install(folder);
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function installTarball(
  source: string,
  folder: string,
  options: { readonly pack?: readonly string[]; readonly install?: readonly string[] } = {},
): Promise<void> {
  await run('npm', ['pack', '--silent', ...(options.pack ?? []), '--pack-destination', folder], source);
  const tarball = must(
    readdirSync(folder).find((file) => file.endsWith('.tgz')),
    'packed tarball',
  );
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  const install = ['install', '--silent', '--no-audit', '--no-fund', ...(options.install ?? [])];
  await run('npm', [...install, path.join(folder, tarball)], folder);
}
