import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { pidNamespace } from '../../src/shared/pid-namespace.ts';
import { isGone } from '../../src/service/store/owner.ts';

describe('isGone', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid;

  it.each([
    ['a process on this machine that has ended', `${hostname()}/${ended}/${pidNamespace()}/x`, true],
    ['an earlier process with the same PID', `${hostname()}/${process.pid}/${pidNamespace()}/x`, true],
    ['a process that runs on this machine', `${hostname()}/${process.ppid}/${pidNamespace()}/x`, false],
    ['a process of another user', `${hostname()}/1/${pidNamespace()}/x`, false],
    ['a process on another machine', `not-${hostname()}/${ended}/${pidNamespace()}/x`, false],
    ['a process in another container with the same host name', `${hostname()}/${ended}/other:1/x`, false],
    ['a process in another container with the same PID', `${hostname()}/${process.pid}/other:1/x`, false],
    ['an owner named by an earlier version', `${hostname()}/${ended}/x`, false],
  ])('recognizes %s', (_name, owner, gone) => {
    expect(isGone(owner)).toBe(gone);
  });
});
