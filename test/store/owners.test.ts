import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isGone } from '../../src/store/sql-store.ts';

describe('whether a process is gone', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid;

  it.each([
    ['one that ended here', `${hostname()}/${ended}/x`, true],
    ['an earlier one with our number, as after a restart in a container', `${hostname()}/${process.pid}/x`, true],
    ['one that runs here', `${hostname()}/${process.ppid}/x`, false],
    ['one of somebody else, as root', `${hostname()}/1/x`, false],
    ['one of another machine', `not-${hostname()}/${ended}/x`, false],
  ])('%s', (_name, owner, gone) => {
    expect(isGone(owner)).toBe(gone);
  });
});
