import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { clientFolder, type Environment, inEmptyFolder, installAndTest, installTarball, run } from './package.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

const FONT = 'node_modules/@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf';

interface Manifest {
  devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Tests the package in an empty folder, with n8n-workflow alone. n8n's own engine and linter are 860 MB, so they run
 * only if requested, as in CI.
 */
export async function testN8n(env: Environment): Promise<void> {
  await inEmptyFolder('n8n', async (folder) => await testInstalled(folder, env), build);
  if (process.argv.includes('--full')) await installAndTest('n8n', env);
  else console.log("skipped n8n's own engine and linter; `npm run test:clients -- n8n --full` installs and runs them");
}

async function testInstalled(folder: string, env: Environment): Promise<void> {
  cpSync(path.join(clientFolder('n8n'), 'test/installed.mjs'), path.join(folder, 'installed.mjs'));
  cpSync(path.join(ROOT, FONT), path.join(folder, 'font.ttf'));
  // n8n itself provides n8n-workflow to the nodes it loads.
  await run(process.execPath, ['installed.mjs'], folder, {
    ...env,
    NODE_PATH: path.join(folder, 'source/node_modules'),
  });
}

/** Does what `n8n-node build` does, without installing it: compiles, and copies icons. Then packs and installs the result. */
async function build(folder: string): Promise<void> {
  const source = path.join(folder, 'source');
  cpSync(clientFolder('n8n'), source, { recursive: true, filter: (file) => !/\/(?:node_modules|dist)$/u.test(file) });
  const manifestFile = path.join(source, 'package.json');
  const manifest = readFileSync(manifestFile, 'utf8');
  const { devDependencies = {} } = JSON.parse(manifest) as Manifest;
  writeFileSync(manifestFile, '{"private":true}');
  rmSync(path.join(source, 'package-lock.json'));
  const types = `n8n-workflow@${devDependencies['n8n-workflow']}`;
  await run('npm', ['install', '--silent', '--ignore-scripts', '--no-audit', '--no-fund', types], source);
  writeFileSync(manifestFile, manifest);
  const compiler = path.join(ROOT, 'node_modules/typescript-5/bin/tsc');
  await run(process.execPath, [compiler, '--typeRoots', path.join(ROOT, 'node_modules/@types')], source);
  mkdirSync(path.join(source, 'dist'), { recursive: true });
  cpSync(path.join(source, 'icons'), path.join(source, 'dist/icons'), { recursive: true });
  await installTarball(source, folder, { pack: ['--ignore-scripts'], install: ['--omit=peer'] });
}
