// The programs in examples/, started as their README says. The Python script is part of `npm run test:clients`.

import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, whySkipped } from './browser/browser.ts';
import { must } from '../src/shared/must.ts';
import { freePort } from './free-port.ts';
import { decode, plainPng } from './pictures.ts';
import { type SharedServer, sharedServer } from './shared-server.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../examples');
const run = promisify(execFile);

let server: SharedServer;
let folder: string;
let photo: string;
beforeAll(async () => {
  server = await sharedServer();
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-examples-'));
  photo = path.join(folder, 'photo.png');
  writeFileSync(photo, await plainPng(400, 500, '#234'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the command that the README starts an example with. */
function commandOf(name: string): string {
  const readme = readFileSync(path.join(EXAMPLES, 'README.md'), 'utf8');
  const row = readme.split('\n').find((line) => line.startsWith(`| [${name}]`));
  return must(/\| `([^`]+)` \|$/u.exec(row ?? '')?.[1], `command of ${name}`);
}

/** A clone in which the README's commands may write. Like a real one, it has the command in node_modules/.bin. */
function newClone(name: string): string {
  const clone = mkdtempSync(path.join(folder, name));
  cpSync(EXAMPLES, path.join(clone, 'examples'), { recursive: true });
  mkdirSync(path.join(clone, 'node_modules/.bin'), { recursive: true });
  symlinkSync(path.resolve(EXAMPLES, '../bin/storybar.js'), path.join(clone, 'node_modules/.bin/storybar'));
  writeFileSync(path.join(clone, 'package.json'), '{"private":true}');
  return clone;
}

function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH = '', HOME = folder } = process.env;
  return { PATH, HOME, STORYBAR_URL: server.url, STORYBAR_API_KEY: server.key, ...extra };
}

/** Starts a program that prints its address, and stops it after `use`. */
async function withProgram(
  name: string,
  extra: Readonly<Record<string, string>>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const [program = '', ...args] = commandOf(name).split(' ');
  const child = spawn(program, args, {
    cwd: path.resolve(EXAMPLES, '..'),
    env: environment(extra),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      printed += String(text);
      if (printed.includes('/\n')) break;
    }
    await use(/http:\S+/u.exec(printed)?.[0] ?? `nothing but "${printed}"`);
  } finally {
    child.kill();
  }
}

describe('the website of the example', () => {
  it('captions an uploaded photo without showing the key, and passes faults on', async () => {
    await withProgram('node-server', { PORT: String(await freePort()) }, async (url) => {
      const page = await (await fetch(url)).text();
      expect(page).toContain('<form method="post" action="/caption"');
      expect(page).not.toContain(server.key);
      const form = new FormData();
      form.append('asset', new Blob([readFileSync(photo)]), 'photo.png');
      form.append('text', 'Hello');
      const captioned = await fetch(`${url}caption`, { method: 'POST', body: form });
      expect(captioned.headers.get('content-type')).toBe('image/png');
      expect(await decode(Buffer.from(await captioned.arrayBuffer()))).toMatchObject({ width: 400, height: 500 });
      form.set('text', ' ');
      const refused = await fetch(`${url}caption`, { method: 'POST', body: form });
      expect([refused.status, await refused.text()]).toEqual([400, "Caption can't be empty."]);
    });
  });
});

describe('the shell script of the example', () => {
  it('captions every file of a folder, and is the recipe of the docs', async () => {
    const script = path.join(EXAMPLES, 'shell-folder/caption-folder.sh');
    const recipe = readFileSync(path.join(EXAMPLES, '../docs/integrations/shell.md'), 'utf8');
    expect(recipe).toContain(readFileSync(script, 'utf8'));
    const clone = newClone('shell');
    const { stdout } = await run('bash', ['-c', commandOf('shell-folder')], { cwd: clone, env: environment() });
    const results = ['cairn.png', 'city.png', 'clip.mp4', 'photo.png', 'table.png', 'toy-frog.mp4'];
    expect(stdout.trim().split('\n')).toEqual(results.map((name) => `captioned/${name}`));
    const [source, captioned] = await Promise.all(
      ['examples/photo.jpg', 'captioned/photo.png'].map(
        async (name) => await decode(readFileSync(path.join(clone, name))),
      ),
    );
    expect([captioned?.width, captioned?.height]).toEqual([source?.width, source?.height]);
  });

  it('refuses a folder that does not exist', async () => {
    const script = path.join(EXAMPLES, 'shell-folder/caption-folder.sh');
    const target = path.join(folder, 'nothing');
    const wrong = run('bash', [script, path.join(folder, 'none'), target, 'Hello'], { env: environment() });
    await expect(wrong).rejects.toMatchObject({
      code: 1,
      stderr: `Folder not found: ${path.join(folder, 'none')}\n`,
    });
    expect(existsSync(target)).toBe(false);
  });
});

describe('the script of the example workflow', () => {
  it('captions the images that a branch adds, with the text beside them', async () => {
    const repository = path.join(folder, 'repository');
    const images = path.join(repository, 'images');
    mkdirSync(images, { recursive: true });
    const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'commit.gpgsign=false'];
    const git = async (...args: string[]) => await run('git', [...identity, ...args], { cwd: repository });
    const commit = async (): Promise<void> => {
      await git('add', '.');
      await git('commit', '--quiet', '--message', 'Add images');
    };
    await git('init', '--quiet', '--initial-branch', 'main');
    copyFileSync(photo, path.join(images, 'old.png'));
    await commit();
    await git('checkout', '--quiet', '-b', 'feature');
    copyFileSync(photo, path.join(images, 'my beach.png'));
    writeFileSync(path.join(images, 'my beach.txt'), 'Golden "hour"');
    await commit();
    const script = path.join(EXAMPLES, 'github-action/caption-changed.sh');
    const { stdout } = await run('bash', [script], { cwd: repository, env: environment({ BASE: 'main' }) });
    expect(stdout).toBe('images/my beach.png: Golden "hour"\n');
    expect(await decode(readFileSync(path.join(images, 'my beach-captioned.png')))).toMatchObject({ width: 400 });
  });
});

describe('the brand kit of the example', () => {
  it('saves its logo once and its styles, which captions can use by name', async () => {
    const clone = newClone('brand');
    const kit = path.join(clone, 'examples/brand-kit');
    const env = environment();
    const push = async (): Promise<string> =>
      (await run('bash', ['-c', commandOf('brand-kit')], { cwd: clone, env })).stdout;
    expect(await push()).toBe('saved acme-quote@1\nsaved acme@1\n');
    const logo = readFileSync(path.join(kit, 'logo.id'), 'utf8');
    expect(await push()).toBe('unchanged acme-quote@1\nunchanged acme@1\n');
    expect(readFileSync(path.join(kit, 'logo.id'), 'utf8')).toBe(logo);
    const output = path.join(folder, 'branded.png');
    const program = path.resolve(EXAMPLES, '../bin/storybar.js');
    await run(process.execPath, [program, 'send', photo, '--text', 'Hi', '--style', 'acme', '-o', output], { env });
    expect(await decode(readFileSync(output))).toMatchObject({ width: 400 });
  });

  it('remembers no id when the logo cannot be uploaded', async () => {
    const clone = newClone('brand-without-key');
    const env = environment({ STORYBAR_API_KEY: 'sb_live_wrong' });
    await expect(run('bash', ['-c', commandOf('brand-kit')], { cwd: clone, env })).rejects.toThrow(/API key/u);
    expect(existsSync(path.join(clone, 'examples/brand-kit/logo.id'))).toBe(false);
  });
});

const found = await launchBrowser();

describe.skipIf('reason' in found)(`the web page of the example${whySkipped(found)}`, () => {
  afterAll(async () => {
    if ('browser' in found) await found.browser.close();
  });

  it('captions a photo with a key that only works on that page', async () => {
    const { browser } = found as Extract<typeof found, { browser: unknown }>;
    const port = String(await freePort());
    const created = await server.cli('keys', 'create', '--plan', 'business', '--json');
    const { id, key } = JSON.parse(created) as { id: string; key: string };
    await server.cli('keys', 'origins', id, `http://127.0.0.1:${port}`);
    await withProgram('browser-page', { PORT: port, STORYBAR_API_KEY: key }, async (url) => {
      const page = await browser.newPage();
      await page.goto(url);
      await page.setInputFiles('input[type=file]', photo);
      await page.fill('input[name=text]', 'Hello');
      await page.click('button');
      await page.waitForSelector('[role=status] img');
      expect(await page.getAttribute('img', 'alt')).toBe('Your photo with the caption Hello');
      await page.close();
    });
  });
});
