// The only file that starts processes. Each child leads its own process group and is killed as a group, so none of its
// descendants survive. The way it ended is always reported, with the last lines it wrote.

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Duplex } from 'node:stream';
import { LineChannel } from './line-channel.ts';
import { hasCode } from '../../shared/error-facts.ts';

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last output on stderr. */
  readonly stderrTail: string;
}

export interface StartOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** The complete environment. Nothing is inherited, so no secret of the server reaches a decoder. */
  readonly env: Readonly<Record<string, string>>;
  /** True if the child runs under a wrapper that, like a shell, reports a signal as exit code 128 plus its number. */
  readonly signalsAsCodes?: boolean;
  /** Bytes that the child reads from file descriptor `EXTRA_INPUT`. */
  readonly extraInput?: Uint8Array;
}

/** File descriptors in the child. */
export const CHANNEL_FD = 3;
export const EXTRA_INPUT = 4;

const STDERR_TAIL_CHARACTERS = 4_096;
/** The order is reversed, so that the first and usual name wins where a number has two names. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name as NodeJS.Signals]),
);

/** A child process with a message channel. */
export class ManagedProcess {
  readonly #child: ChildProcess;
  /** Undefined when the process could not be started. */
  readonly #channel: LineChannel | undefined;
  readonly exited: Promise<ProcessExit>;
  #isKilled = false;

  constructor({ file, args, env, signalsAsCodes = false, extraInput }: StartOptions) {
    this.#child = spawn(file, args, {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...(extraInput ? ['pipe' as const] : [])],
    });
    const channel = this.#child.stdio[CHANNEL_FD];
    if (channel instanceof Duplex) {
      // A closed channel needs no action: either the process is exiting, or the next `send` returns false.
      this.#channel = new LineChannel(channel, { onClose: () => undefined, onInvalidMessage: () => this.kill() });
    }
    if (extraInput) this.#writeExtraInput(extraInput);
    let stderrTail = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrTail = (stderrTail + text).slice(-STDERR_TAIL_CHARACTERS);
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ code: null, signal: null, stderrTail: error.message }));
      // 'close' rather than 'exit', because stderr can still deliver output after 'exit'.
      this.#child.once('close', (code, signal) => {
        const encodedSignal = signalsAsCodes && code !== null ? SIGNALS.get(code - 128) : undefined;
        resolve(encodedSignal ? { code: null, signal: encodedSignal, stderrTail } : { code, signal, stderrTail });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Returns true when this program has killed the process, or tried to. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#channel?.onMessage(listener);
  }

  /** Returns false when the process is gone. `exited` then tells how it ended. */
  send(message: object): boolean {
    return this.#channel?.send(message) ?? false;
  }

  #writeExtraInput(input: Uint8Array): void {
    const pipe = this.#child.stdio[EXTRA_INPUT];
    if (!(pipe instanceof Duplex)) return;
    // The process may exit before it reads the input; `exited` reports that.
    pipe.on('error', () => undefined);
    pipe.end(input);
  }

  kill(): void {
    this.#isKilled = true;
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // The process has already exited.
      if (!hasCode(error, 'ESRCH')) throw error;
    }
  }
}
