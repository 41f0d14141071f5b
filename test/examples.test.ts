// The programs in examples/, started as their README says. The Python script is part of `npm run test:clients`.

import { execFile, spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, whySkipped } from './browser/browser.ts';
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

function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH = '', HOME = folder } = process.env;
  return { PATH, HOME, STORYBAR_URL: server.url, STORYBAR_API_KEY: server.key, ...extra };
}

/** Starts a program that prints its address, and stops it after `use`. */
async function withProgram(
  program: string,
  extra: Readonly<Record<string, string>>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [path.join(EXAMPLES, program)], {
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
    await withProgram('node-server/server.js', { PORT: String(await freePort()) }, async (url) => {
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
    const source = path.join(folder, 'photos');
    mkdirSync(source);
    copyFileSync(photo, path.join(source, 'one.png'));
    const { stdout } = await run('bash', [script, source, path.join(folder, 'captioned'), 'Hello'], {
      env: environment(),
    });
    expect(stdout.trim()).toBe(path.join(folder, 'captioned/one.png'));
    expect(await decode(readFileSync(path.join(folder, 'captioned/one.png')))).toMatchObject({ width: 400 });
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
    const kit = path.join(folder, 'brand-kit');
    cpSync(path.join(EXAMPLES, 'brand-kit'), kit, { recursive: true });
    const programs = path.join(folder, 'bin');
    mkdirSync(programs);
    const program = path.resolve(EXAMPLES, '../bin/storybar.js');
    writeFileSync(path.join(programs, 'storybar'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
      mode: 0o755,
    });
    const { PATH = '' } = environment();
    const env = environment({ PATH: `${programs}:${PATH}` });
    const { stdout } = await run(path.join(kit, 'push.sh'), { env });
    expect(stdout).toBe('saved acme-quote@1\nsaved acme@1\n');
    const logo = readFileSync(path.join(kit, 'logo.id'), 'utf8');
    expect((await run(path.join(kit, 'push.sh'), { env })).stdout).toBe('unchanged acme-quote@1\nunchanged acme@1\n');
    expect(readFileSync(path.join(kit, 'logo.id'), 'utf8')).toBe(logo);
    const output = path.join(folder, 'branded.png');
    await run('storybar', ['send', photo, '--text', 'Hi', '--style', 'acme', '-o', output], { env });
    expect(await decode(readFileSync(output))).toMatchObject({ width: 400 });
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
    await withProgram('browser-page/serve.js', { PORT: port, STORYBAR_API_KEY: key }, async (url) => {
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
