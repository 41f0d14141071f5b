// The one place that starts processes. Each leads its own group and is ended as a group, so nothing it started survives
// it; how it ended is always known, with the last lines it wrote.

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Duplex } from 'node:stream';
import { LineChannel } from './line-channel.ts';

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to standard error. */
  readonly stderrTail: string;
}

export interface StartOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited, so no secret of ours reaches a decoder. */
  readonly env: Readonly<Record<string, string>>;
  /** It runs under a program that tells of a signal by ending with 128 and its number, as shells do. */
  readonly signalsAsCodes?: boolean;
  /** Can be read from descriptor `EXTRA_INPUT`. */
  readonly extraInput?: Uint8Array;
}

/** Descriptors of the child. */
export const CHANNEL_FD = 3;
export const EXTRA_INPUT = 4;

const STDERR_TAIL = 4_096;
/** Backwards, so that of two names for a number the first, usual one stays. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name as NodeJS.Signals]),
);

/** A child process with a message channel. */
export class ManagedProcess {
  readonly #child: ChildProcess;
  /** Undefined when the process never began. */
  readonly #channel: LineChannel | undefined;
  readonly exited: Promise<ProcessExit>;

  constructor({ file, args, env, signalsAsCodes = false, extraInput }: StartOptions) {
    this.#child = spawn(file, args, {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...(extraInput ? ['pipe' as const] : [])],
    });
    const channel = this.#child.stdio[CHANNEL_FD];
    if (channel instanceof Duplex) {
      // Closed: it is ending, and how must be seen; or it is not, and the next `send` tells.
      this.#channel = new LineChannel(channel, { onClose: () => undefined, onInvalidMessage: () => this.kill() });
    }
    if (extraInput) this.#give(extraInput);
    let stderrTail = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrTail = (stderrTail + text).slice(-STDERR_TAIL);
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ code: null, signal: null, stderrTail: error.message }));
      // Not 'exit': the last words on standard error may come after it.
      this.#child.once('close', (code, signal) => {
        const hidden = signalsAsCodes && code !== null ? SIGNALS.get(code - 128) : undefined;
        resolve(hidden ? { code: null, signal: hidden, stderrTail } : { code, signal, stderrTail });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#channel?.onMessage(listener);
  }

  /** False when the process is gone; its `exited` tells the rest. */
  send(message: object): boolean {
    return this.#channel?.send(message) ?? false;
  }

  #give(input: Uint8Array): void {
    const pipe = this.#child.stdio[EXTRA_INPUT];
    if (!(pipe instanceof Duplex)) return;
    // A process that ends before it has read: `exited` tells.
    pipe.on('error', () => undefined);
    pipe.end(input);
  }

  kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // Already gone.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}
