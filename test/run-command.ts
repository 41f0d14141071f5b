// Runs commands of the built program, all in one process, because starting Node.js and loading the program takes many
// times as long as most commands. Tests of the process itself, such as how it reads and writes files, start one for
// each command.

import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandPlace {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

type Waiting = { readonly resolve: (result: CommandResult) => void; readonly reject: (error: Error) => void };

class CommandHost {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  /** `onExit` is called when the process ends, which it does by itself only after a crash. */
  constructor(onExit: () => void) {
    const file = path.resolve(import.meta.dirname, 'command-host.js');
    this.#process = fork(file, { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let printed = '';
    this.#process.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
    // It ends with this process, and doesn't keep it alive.
    for (const handle of [this.#process, this.#process.channel, this.#process.stderr as Socket | null]) handle?.unref();
    this.#process.on('message', (message) => {
      const { id, ...result } = message as CommandResult & { readonly id: number };
      this.#waiting.get(id)?.resolve(result);
      this.#waiting.delete(id);
    });
    this.#process.once('exit', (code, signal) => {
      onExit();
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the process for commands exited with ${code ?? signal}: ${printed}`));
    });
  }

  async run(args: readonly string[], { env, cwd }: CommandPlace): Promise<CommandResult> {
    const id = this.#nextId;
    this.#nextId += 1;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ id, args, env, cwd });
    });
  }
}

let host: CommandHost | undefined;

/** The result of `storybar <args>`, whatever its exit code is. */
export async function runCommand(args: readonly string[], place: CommandPlace): Promise<CommandResult> {
  host ??= new CommandHost(() => {
    host = undefined;
  });
  return await host.run(args, place);
}
