// A seccomp filter for system calls that no render needs: those that start programs, open connections, create namespaces or
// allocate unaccounted memory, and parts of the kernel with a history of vulnerabilities. All others are allowed, because a
// list of what decoders and V8 do need would break with every new version of them.

interface Architecture {
  /** AUDIT_ARCH_*. Numbers mean other calls on other architectures, so the filter checks this first. */
  readonly audit: number;
  readonly clone: number;
  readonly refused: readonly number[];
}

/**
 * Calls with the same number on every architecture: io_uring, mounting by descriptors, pidfd_getfd, quotactl_fd,
 * memfd_secret.
 */
const NEW_CALLS = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 447];
const CLONE3 = 435;

/** Numbers from asm/unistd_64.h and asm-generic/unistd.h of Linux. */
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    refused: [
      [41, 57, 58], // socket, fork, vfork
      [101, 310, 311, 312], // ptrace, process_vm_readv, process_vm_writev, kcmp
      [155, 161, 165, 166, 272, 308], // pivot_root, chroot, mount, umount2, unshare, setns
      [248, 249, 250], // add_key, request_key, keyctl
      [29, 64, 68, 240, 319], // shmget, semget, msgget, mq_open, memfd_create
      [298, 321, 323], // perf_event_open, bpf, userfaultfd
      [103, 163, 167, 168, 169, 175, 176, 179, 212, 246, 303, 304, 313, 320], // system administration
    ].flat(),
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    refused: [
      [198],
      [117, 270, 271, 272],
      [41, 51, 40, 39, 97, 268],
      [217, 218, 219],
      [194, 190, 186, 180, 279],
      [241, 280, 282],
      [116, 89, 224, 225, 142, 105, 106, 60, 18, 104, 264, 265, 273, 294],
    ].flat(),
  },
};

/** System calls of the x32 ABI have other numbers, which would get past the list. */
const X32_BIT = 0x40000000;
const CLONE_THREAD = 0x00010000;

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_SET = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const REFUSE = 0x00050000 + 1; // EPERM
/** The C library then falls back to the older call, whose flags the filter can check. */
const UNKNOWN = 0x00050000 + 38; // ENOSYS

/** Returns the filter in the kernel's format, or undefined for an architecture whose numbers we don't have. */
export function systemCallFilter(arch: string): Uint8Array | undefined {
  const architecture = ARCHITECTURES[arch];
  if (architecture === undefined) return undefined;
  const when = (number: number, result: number): Instruction[] => [
    [JUMP_IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, result],
  ];
  return assemble([
    [LOAD, 0, 0, 4],
    [JUMP_IF_EQUAL, 1, 0, architecture.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    [JUMP_IF_SET, 0, 1, X32_BIT],
    [RETURN, 0, 0, REFUSE],
    ...[...architecture.refused, ...NEW_CALLS].flatMap((number) => when(number, REFUSE)),
    ...when(CLONE3, UNKNOWN),
    // Threads are allowed, processes aren't.
    [JUMP_IF_EQUAL, 0, 3, architecture.clone],
    [LOAD, 0, 0, 16],
    [JUMP_IF_SET, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** Code, jump if true, jump if false, operand. */
type Instruction = readonly [number, number, number, number];

function assemble(instructions: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  }
  return bytes;
}
