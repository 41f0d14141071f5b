// Verifies a release before it is published: version, changelog and generated files agree, native packages have binaries for
// every platform, workflows are valid, and the packed tarball works when it is installed into an empty folder, with every
// supported version of Node.js. Usage: npm run release:check [-- v0.2.0]

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openAsBlob, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { must } from '../src/shared/must.ts';
import { versionFaults } from './changelog-section.ts';
import { type LockedPackages, missingBinaries, PLATFORMS } from './platform-binaries.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const START_TIMEOUT_MS = 60_000;
/** The oldest version that `engines` allows, and the later ones with long-term support. */
const NODE_VERSIONS = ['20.19', '22', '24'];
const { version } = packageJson;
const tag = process.argv[2];

const faults = versionFaults({
  version,
  lockVersion: locked().version,
  imageTag: imageTag(),
  ...(tag !== undefined && { tag }),
});
for (const fault of faults) console.error(`not ok: ${fault}`);
step('generated files are up to date', () => run('npm', ['run', '-s', 'generate:check'], ROOT));
step('the workflows are valid', () => run('npm', ['run', '-s', 'lint:workflows'], ROOT));
const platforms = PLATFORMS.map(({ os, cpu, libc }) => [os, cpu, libc].filter(Boolean).join('-')).join(', ');
step(`native packages have binaries for ${platforms}`, () => {
  const missing = missingBinaries(locked().packages);
  if (missing.length > 0) fail(missing.join(' '));
});
const folder = mkdtempSync(path.join(tmpdir(), 'storybar-release-'));
try {
  const tarball = step('the package is packed', () => pack(folder));
  step('the tarball installs into an empty folder', () => install(folder, tarball));
  await checkServer(folder);
  for (const node of NODE_VERSIONS) {
    step(`the installed package renders a video with Node.js ${node}`, () => renderWith(node, folder));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// This is reported after everything else, so that one run shows all that is left to do.
if (faults.length > 0) fail(`storybar ${version} can't be released: ${faults.join(' ')}`);
console.log(`storybar ${version} can be released.`);

function locked(): { readonly version: string; readonly packages: LockedPackages } {
  return JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
}

function imageTag(): string {
  const manifest = readFileSync(path.join(ROOT, 'deploy/kustomization.yaml'), 'utf8');
  return must(/^ +newTag: (\S+)$/mu.exec(manifest)?.[1], 'newTag in deploy/kustomization.yaml');
}

function pack(target: string): string {
  run('npm', ['pack', '--silent', '--pack-destination', target], ROOT);
  const file = must(
    readdirSync(target).find((name) => name.endsWith('.tgz')),
    'packed tarball',
  );
  return path.join(target, file);
}

function install(target: string, tarball: string): void {
  writeFileSync(path.join(target, 'package.json'), '{"private":true}');
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', tarball], target);
}

/** npm has every version of Node.js as a package. */
function renderWith(node: string, target: string): void {
  const storybar = path.join(target, 'node_modules/storybar');
  const render = [path.join(storybar, 'bin/storybar.js'), 'render', path.join(storybar, 'examples/clip.mp4')];
  const output = `node-${node}.mp4`;
  const args = [
    '--yes',
    '--package',
    `node@${node}`,
    '--',
    'node',
    ...render,
    '--text',
    'Released',
    '-q',
    '-o',
    output,
  ];
  run('npx', args, target);
  if (statSync(path.join(target, output)).size < 10_000) fail(`With Node.js ${node}, the video is too small.`);
}

/** Serves from the installed package and renders one image, one video and one overlay without an asset. */
async function checkServer(target: string): Promise<void> {
  const program = path.join(target, 'node_modules/storybar/bin/storybar.js');
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    STORYBAR_DATA_DIR: path.join(target, 'data'),
    STORYBAR_LOG_LEVEL: 'warn',
  };
  const key = run(process.execPath, [program, 'keys', 'create', '--plan', 'free'], target, env).match(/sb_live_\w+/u);
  const server = spawn(process.execPath, [program, 'serve'], {
    cwd: target,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await addressOf(server);
    const examples = path.join(target, 'node_modules/storybar/examples');
    await checkRender(url, must(key?.[0], 'key'), 'image/png', { asset: path.join(examples, 'photo.jpg') });
    await checkRender(url, must(key?.[0], 'key'), 'video/mp4', { asset: path.join(examples, 'clip.mp4') });
    await checkRender(url, must(key?.[0], 'key'), 'image/png', { width: '1080', height: '1920' });
    const access = { ...env, STORYBAR_URL: url, STORYBAR_API_KEY: must(key?.[0], 'key') };
    const photo = path.join(examples, 'photo.jpg');
    step('the installed `storybar send` renders with that server', () =>
      run(process.execPath, [program, 'send', photo, '--text', 'Released', '-o', 'sent.png'], target, access),
    );
  } finally {
    server.kill();
  }
}

async function addressOf(server: ChildProcess): Promise<string> {
  const deadline = AbortSignal.timeout(START_TIMEOUT_MS);
  return await new Promise<string>((resolve, reject) => {
    let printed = '';
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = /listens on (\S+)/u.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    server.once('exit', (code) => reject(new Error(`the server exited with ${code}: ${printed}`)));
    deadline.addEventListener('abort', () => reject(new Error(`the server did not start: ${printed}`)));
  });
}

async function checkRender(
  url: string,
  key: string,
  type: string,
  { asset, ...fields }: { asset?: string; width?: string; height?: string },
): Promise<void> {
  const form = new FormData();
  form.set('text', 'Released 🎉');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (asset !== undefined) form.set('asset', await openAsBlob(asset), path.basename(asset));
  const response = await fetch(`${url}/v1/overlay`, { method: 'POST', headers: { 'x-api-key': key }, body: form });
  const what = asset === undefined ? 'an overlay without an asset' : path.basename(asset);
  const bytes = (await response.arrayBuffer()).byteLength;
  if (response.status !== 200 || response.headers.get('content-type') !== type || bytes < 1_000) {
    fail(`Rendering ${what} returned ${response.status} ${response.headers.get('content-type')}, ${bytes} bytes.`);
  }
  console.log(`ok: the installed server renders ${what} (${type}, ${bytes} bytes)`);
}

function step<Result>(what: string, work: () => Result): Result {
  const result = work();
  console.log(`ok: ${what}`);
  return result;
}

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
