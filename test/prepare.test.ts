// `npm ci` in a clone runs scripts/prepare.js, with and without development dependencies.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
let clone: string;
beforeEach(() => {
  clone = mkdtempSync(path.join(tmpdir(), 'storybar-clone-'));
  cpSync(path.join(ROOT, 'scripts'), path.join(clone, 'scripts'), { recursive: true });
  writeFileSync(path.join(clone, 'package.json'), JSON.stringify({ type: 'module', scripts: { build: 'echo built' } }));
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function prepare(): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, ['scripts/prepare.js'], { cwd: clone, encoding: 'utf8' });
}

it('the script says how to build when there is neither a compiler nor a build', () => {
  const { status, stderr } = prepare();
  expect(status).toBe(0);
  expect(stderr).toContain('npm ci\n');
  expect(stderr).toContain('npm prune --omit=dev');
});

it('the script keeps the existing build if no compiler is installed', () => {
  mkdirSync(path.join(clone, 'dist/cli'), { recursive: true });
  writeFileSync(path.join(clone, 'dist/cli/cli.js'), '');
  expect(prepare()).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

it('the script builds if a compiler is installed, and links the command', () => {
  mkdirSync(path.join(clone, 'node_modules/.bin'), { recursive: true });
  writeFileSync(path.join(clone, 'node_modules/.bin/tsc'), '');
  const { status, stdout } = prepare();
  expect(status).toBe(0);
  expect(stdout).toContain('built');
  expect(readlinkSync(path.join(clone, 'node_modules/.bin/storybar'))).toBe('../../bin/storybar.js');
  expect(execFileSync('ls', [path.join(clone, 'node_modules/.bin')], { encoding: 'utf8' })).toContain('storybar');
});
