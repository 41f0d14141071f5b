import { describe, expect, it } from 'vitest';
import { systemCallFilter } from './system-calls.ts';

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const THREAD = 0x003d0f00; // the flags that the C library uses
const [ALLOWED, REFUSED, UNKNOWN, KILLED] = [0x7fff0000, 0x00050001, 0x00050026, 0x80000000];

/** Runs the filter as the kernel does, on the number, the architecture and the first argument of a call. */
function judge(filter: Uint8Array, call: { number: number; audit: number; argument?: number }): number {
  const view = Buffer.from(filter);
  const words = new Map([
    [0, call.number],
    [4, call.audit],
    [16, call.argument ?? 0],
  ]);
  let accumulator = 0;
  for (let at = 0; at < view.length; at += 8) {
    const [code, ifTrue, ifFalse] = [view.readUInt16LE(at), view.readUInt8(at + 2), view.readUInt8(at + 3)];
    const operand = view.readUInt32LE(at + 4);
    if (code === 0x06) return operand;
    if (code === 0x20) accumulator = words.get(operand) ?? Number.NaN;
    else if (code === 0x15) at += 8 * (accumulator === operand ? ifTrue : ifFalse);
    else if (code === 0x45) at += 8 * ((accumulator & operand) === 0 ? ifFalse : ifTrue);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter ends without a result');
}

describe.each([
  ['x64', { read: 0, mmap: 9, execve: 59, futex: 202, socket: 41, unshare: 272, ptrace: 101, mount: 165, clone: 56 }],
  [
    'arm64',
    { read: 63, mmap: 222, execve: 221, futex: 98, socket: 198, unshare: 97, ptrace: 117, mount: 40, clone: 220 },
  ],
] as const)('the system call filter for %s', (arch, calls) => {
  const filter = systemCallFilter(arch) ?? new Uint8Array();
  const resultOf = (number: number, argument = 0): number => judge(filter, { number, audit: AUDIT[arch], argument });

  it('the system call filter allows the calls that a render needs', () => {
    for (const name of ['read', 'mmap', 'execve', 'futex'] as const) expect(resultOf(calls[name])).toBe(ALLOWED);
  });

  it('the system call filter refuses sockets, namespaces, tracing, mounts and io_uring', () => {
    for (const name of ['socket', 'unshare', 'ptrace', 'mount'] as const) expect(resultOf(calls[name])).toBe(REFUSED);
    expect(resultOf(425)).toBe(REFUSED);
  });

  it('the system call filter allows threads but not processes', () => {
    expect(resultOf(calls.clone, THREAD)).toBe(ALLOWED);
    expect(resultOf(calls.clone, 0x11)).toBe(REFUSED);
    expect(resultOf(435)).toBe(UNKNOWN);
  });

  it('the system call filter kills on calls of another architecture and refuses those of the x32 ABI', () => {
    expect(judge(filter, { number: calls.read, audit: 0x40000003 })).toBe(KILLED);
    expect(resultOf(0x40000000 + calls.socket)).toBe(REFUSED);
  });
});

it('an unknown architecture has no system call filter', () => {
  expect(systemCallFilter('s390x')).toBeUndefined();
});
