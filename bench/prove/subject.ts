// The server under proof: the built program as a child process, with a folder of its own. Its log goes straight to a file,
// so that reading it costs nothing while something is measured.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { issueKey, openAccount } from '../../src/main/issue-key.ts';
import { withStore } from '../../src/main/open-store.ts';
import { health, until } from '../../test/running-server.ts';
import { START_ARGUMENTS } from '../../test/start-command.ts';
import { type Canaries, placeCanaries } from './canaries.ts';
import { type Target, openTarget } from './client.ts';
import { childrenOf, commandOf, descriptorsOf, innermost } from './processes.ts';

const START_MS = 60_000;
const PLAN = { name: 'prove', monthlyPriceCents: 0, credits: 100_000_000, requestsPerMinute: 100_000_000 };

export interface SubjectOptions {
  /** Accounts with one key each. */
  readonly accounts?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Changes to the plan of every account. */
  readonly plan?: Readonly<Record<string, number>>;
  /** A program and arguments that start the server, `prlimit` for example. */
  readonly wrapper?: readonly string[];
  /** Where the data directory is, when not in the folder. */
  readonly dataDirectory?: string;
}

export interface Holder {
  readonly accountId: string;
  readonly key: string;
}

export class Subject {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'storybar-prove-'));
  readonly dataDirectory: string;
  readonly logFile = path.join(this.folder, 'log');
  readonly canaries: Canaries;
  readonly #options: SubjectOptions;
  #holders: readonly Holder[] = [];
  #child: ChildProcess | undefined;
  #target: Target | undefined;
  #descriptors = 0;
  /** Set while the end of the process is wanted. */
  #ending = false;

  private constructor(options: SubjectOptions) {
    this.#options = options;
    this.dataDirectory = options.dataDirectory ?? path.join(this.folder, 'data');
    mkdirSync(this.dataDirectory, { recursive: true });
    this.canaries = placeCanaries(this.folder, this.dataDirectory);
  }

  static async start(options: SubjectOptions = {}): Promise<Subject> {
    const subject = new Subject(options);
    try {
      const plan = { concurrentRenders: 100_000, ...PLAN, ...options.plan };
      writeFileSync(subject.#plansFile, JSON.stringify({ plans: [plan] }));
      subject.#holders = await openAccounts(subject.dataDirectory, options.accounts ?? 1);
      await subject.launch();
      return subject;
    } catch (error) {
      await subject.stop();
      throw error;
    }
  }

  get target(): Target {
    if (this.#target === undefined) throw new Error('the server was not started');
    return this.#target;
  }

  get pid(): number {
    return this.#child?.pid === undefined ? 0 : serverOf(this.#child.pid);
  }

  get holders(): readonly Holder[] {
    return this.#holders;
  }

  /** The first key. */
  get key(): string {
    return this.#holders[0]?.key ?? '';
  }

  get log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  /** Open files of the server when it had started. */
  get descriptorsAtStart(): number {
    return this.#descriptors;
  }

  /** False once the process has ended without having been asked to. */
  get lives(): boolean {
    return this.#ending || (this.#child?.exitCode === null && this.#child.signalCode === null);
  }

  workers(kind?: 'image' | 'video'): number[] {
    const all = childrenOf(this.pid).map(innermost);
    return kind === undefined ? all : all.filter((pid) => commandOf(pid).includes(kind));
  }

  /** Directories of renders that exist right now, and of workers. */
  directories(): { renders: string[]; cells: string[] } {
    const list = (suffix: string): string[] =>
      readdirSync(path.join(this.dataDirectory, 'work', `${this.pid}${suffix}`));
    return { renders: list(''), cells: list('-cells') };
  }

  async health(): ReturnType<typeof health> {
    return await health({ url: this.target.url });
  }

  async allReady(timeoutMs = START_MS): Promise<void> {
    await until(async () => {
      const { images, videos } = (await this.health()).renderer;
      return images.ready === images.workers && videos.ready === videos.workers;
    }, timeoutMs);
  }

  /** Starts the program, once more after it was killed. */
  async launch(): Promise<void> {
    const { settings = {}, wrapper = [] } = this.#options;
    const log = openSync(this.logFile, 'a');
    const [file = '', ...args] = [...wrapper, process.execPath, ...START_ARGUMENTS];
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      STORYBAR_SANDBOX: process.env['STORYBAR_SANDBOX'] ?? 'auto',
      STORYBAR_DATA_DIR: this.dataDirectory,
      STORYBAR_PLANS: this.#plansFile,
      ...settings,
    };
    this.#ending = false;
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', log], cwd: this.folder });
    closeSync(log);
    this.#child = child;
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const url = await until(() => {
      if (child.exitCode !== null) throw new Error(`the server ended: ${this.log.slice(-500)}`);
      return /listens on (\S+)/u.exec(printed)?.[1];
    }, START_MS);
    this.#target = openTarget(url);
    await this.allReady();
    this.#descriptors = descriptorsOf(this.pid);
  }

  async kill(): Promise<void> {
    this.#ending = true;
    process.kill(this.pid, 'SIGKILL');
    await this.#ended();
  }

  /** Ends it as an operator would, and removes everything. */
  async stop(): Promise<{ code: number | null }> {
    this.#ending = true;
    const isRunning = this.#child?.exitCode === null && this.#child.signalCode === null;
    if (isRunning) process.kill(this.pid, 'SIGTERM');
    if (isRunning) await this.#ended();
    this.canaries.close();
    rmSync(this.folder, { recursive: true, force: true });
    return { code: this.#child?.exitCode ?? null };
  }

  async #ended(): Promise<void> {
    const child = this.#child;
    this.#target?.agent.destroy();
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  get #plansFile(): string {
    return path.join(this.folder, 'plans.json');
  }
}

/** `prlimit` becomes the server, other wrappers keep it as a child. */
function serverOf(pid: number): number {
  if (commandOf(pid).includes('serve') && commandOf(pid)[0]?.endsWith('node')) return pid;
  return childrenOf(pid)[0] ?? pid;
}

async function openAccounts(dataDirectory: string, count: number): Promise<Holder[]> {
  const holders: Holder[] = [];
  await withStore({ dataDirectory, databaseUrl: '' }, async (store) => {
    for (let index = 0; index < count; index += 1) {
      const accountId = await openAccount(store, PLAN.name, `holder ${index}`, 'system');
      const { key } = await issueKey(store, accountId, { name: 'prove', mode: 'live' }, 'system');
      holders.push({ accountId, key });
    }
  });
  return holders;
}
