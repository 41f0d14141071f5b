import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WorkArea } from './work-area.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'storybar-work-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('gives each render a private directory and removes it with all it holds', async () => {
  const area = await WorkArea.open(root);
  const directory = await area.directory('render');
  writeFileSync(directory.file('asset'), 'x');
  expect(statSync(directory.path).mode & 0o777).toBe(0o700);
  await directory.remove();
  expect(existsSync(directory.path)).toBe(false);
  await directory.remove();
  await area.close();
  expect(existsSync(path.join(root, String(process.pid)))).toBe(false);
});

it('sweeps what dead processes left and leaves the living alone', async () => {
  const dead = path.join(root, '999999999');
  const living = path.join(root, String(process.ppid));
  mkdirSync(dead);
  mkdirSync(living);
  await WorkArea.open(root);
  expect(existsSync(dead)).toBe(false);
  expect(existsSync(living)).toBe(true);
});

it('makes a directory when it is needed, once, and removes none that was not', async () => {
  const area = await WorkArea.open(root);
  const directory = area.lazyDirectory('render');
  await directory.remove();
  expect(existsSync(directory.path)).toBe(false);
  await Promise.all([directory.make(), directory.make()]);
  expect(statSync(directory.path).mode & 0o777).toBe(0o700);
  await directory.remove();
  expect(existsSync(directory.path)).toBe(false);
});
