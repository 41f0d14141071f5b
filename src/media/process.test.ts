import { describe, expect, it } from 'vitest';
import { EXTRA_INPUT, ManagedProcess } from './process.ts';

const shell = (script: string, options: { signalsAsCodes?: boolean; extraInput?: Uint8Array } = {}) =>
  new ManagedProcess({ file: '/bin/sh', args: ['-c', script], env: {}, ...options }).exited;

describe('how a process ended', () => {
  it.each([
    ['exit 139', 'SIGSEGV'],
    ['exit 137', 'SIGKILL'],
    // Of the two names of this number, the one that callers know.
    ['exit 134', 'SIGABRT'],
    ['kill -9 $$', 'SIGKILL'],
  ])('%j under a wrapper was %s', async (script, signal) => {
    expect(await shell(script, { signalsAsCodes: true })).toMatchObject({ code: null, signal });
  });

  it.each([
    ['exit 1', { signalsAsCodes: true }, 1],
    ['exit 128', { signalsAsCodes: true }, 128],
    ['exit 139', {}, 139],
  ])('%j with %j was no signal', async (script, options, code) => {
    expect(await shell(script, options)).toMatchObject({ code, signal: null });
  });

  it('is told with its last words, and with what was wrong when it never began', async () => {
    expect(await shell('echo broken >&2; exit 3')).toMatchObject({ code: 3, stderrTail: 'broken\n' });
    const missing = new ManagedProcess({ file: '/nowhere/program', args: [], env: {} });
    expect(await missing.exited).toMatchObject({ code: null, stderrTail: expect.stringContaining('ENOENT') });
  });
});

it('gives a process something to read on a descriptor of its own', async () => {
  const extraInput = new TextEncoder().encode('for you');
  expect(await shell(`cat <&${EXTRA_INPUT} >&2`, { extraInput })).toMatchObject({ stderrTail: 'for you' });
});
