// The one place that starts processes. Each leads its own group and is ended as a group, so nothing it started survives
// it; how it ended is always known, with the last lines it wrote.

import { type ChildProcess, spawn } from 'node:child_process';

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
}

const STDERR_TAIL = 4_096;

/** A child process with a message channel. */
export class ManagedProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<ProcessExit>;

  constructor({ file, args, env }: StartOptions) {
    this.#child = spawn(file, args, {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'json',
    });
    let stderrTail = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrTail = (stderrTail + text).slice(-STDERR_TAIL);
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ code: null, signal: null, stderrTail: error.message }));
      // Not 'exit': the last words on standard error may come after it.
      this.#child.once('close', (code, signal) => resolve({ code, signal, stderrTail }));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#child.on('message', listener);
  }

  /** False when the process is gone; its `exited` tells the rest. */
  send(message: object): boolean {
    if (!this.#child.connected) return false;
    this.#child.send(message, (error) => {
      // A failed send means the channel broke: a process that cannot be talked to is of no use.
      if (error) this.kill();
    });
    return true;
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
