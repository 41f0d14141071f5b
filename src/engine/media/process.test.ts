import { describe, expect, it } from 'vitest';
import { EXTRA_INPUT, ManagedProcess } from './process.ts';

const shell = (script: string, options: { signalsAsCodes?: boolean; extraInput?: Uint8Array } = {}) =>
  new ManagedProcess({ file: '/bin/sh', args: ['-c', script], env: {}, ...options }).exited;

describe('ManagedProcess', () => {
  it.each([
    ['exit 139', 'SIGSEGV'],
    ['exit 137', 'SIGKILL'],
    // Signal 6 has two names; SIGABRT is the usual one.
    ['exit 134', 'SIGABRT'],
    ['kill -9 $$', 'SIGKILL'],
  ])('reads the exit of %j under a wrapper as %s', async (script, signal) => {
    expect(await shell(script, { signalsAsCodes: true })).toMatchObject({ code: null, signal });
  });

  it.each([
    ['exit 1', { signalsAsCodes: true }, 1],
    ['exit 128', { signalsAsCodes: true }, 128],
    ['exit 139', {}, 139],
  ])('reads the exit of %j with %j as a plain exit code', async (script, options, code) => {
    expect(await shell(script, options)).toMatchObject({ code, signal: null });
  });

  it('reports the end of stderr, and the spawn error of a program that could not start', async () => {
    expect(await shell('echo broken >&2; exit 3')).toMatchObject({ code: 3, stderrTail: 'broken\n' });
    const missing = new ManagedProcess({ file: '/nowhere/program', args: [], env: {} });
    expect(await missing.exited).toMatchObject({ code: null, stderrTail: expect.stringContaining('ENOENT') });
  });

  it('passes extra input on its own file descriptor', async () => {
    const extraInput = new TextEncoder().encode('for you');
    expect(await shell(`cat <&${EXTRA_INPUT} >&2`, { extraInput })).toMatchObject({ stderrTail: 'for you' });
  });
});
