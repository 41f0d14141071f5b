import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isGone } from '../../src/store/sql-store.ts';

describe('isGone', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid;

  it.each([
    ['a process on this machine that has ended', `${hostname()}/${ended}/x`, true],
    [
      'an earlier process with the same PID, as after the restart of a container',
      `${hostname()}/${process.pid}/x`,
      true,
    ],
    ['a process that runs on this machine', `${hostname()}/${process.ppid}/x`, false],
    ['a process of another user', `${hostname()}/1/x`, false],
    ['a process on another machine', `not-${hostname()}/${ended}/x`, false],
  ])('recognizes %s', (_name, owner, gone) => {
    expect(isGone(owner)).toBe(gone);
  });
});
