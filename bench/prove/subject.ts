// The server under test: the built program as a child process with a folder of its own. It writes its log directly to a
// file, so the log costs the load generator nothing during a measurement.

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
import { must } from '../../src/shared/must.ts';
import { health, METRICS_TOKEN, until } from '../../test/running-server.ts';
import { START_ARGUMENTS } from '../../test/start-command.ts';
import { type Canaries, placeCanaries } from './canaries.ts';
import { type Target, openTarget } from './client.ts';
import { childrenOf, commandOf, innermost, openDescriptors } from './processes.ts';

const START_TIMEOUT_MS = 60_000;
const PLAN = { name: 'prove', monthlyPriceCents: 0, credits: 100_000_000, requestsPerMinute: 100_000_000 };

export interface SubjectOptions {
  /** Number of accounts, each with one key. */
  readonly accounts?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Overrides for the plan that all accounts are on. */
  readonly plan?: Readonly<Record<string, boolean | number | Readonly<Record<string, number>>>>;
  /** Default: a directory in the subject's folder. */
  readonly dataDirectory?: string;
}

export interface TestAccount {
  readonly accountId: string;
  readonly key: string;
  readonly testKey: string;
}

export class Subject {
  readonly dataDirectory: string;
  readonly canaries: Canaries;
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'storybar-prove-'));
  readonly #logFile = path.join(this.#folder, 'log');
  readonly #options: SubjectOptions;
  #accounts: readonly TestAccount[] = [];
  #child: ChildProcess | undefined;
  #target: Target | undefined;
  #descriptors = 0;
  /** Set once the process was told to stop or was killed on purpose. */
  #isStopping = false;

  private constructor(options: SubjectOptions) {
    this.#options = options;
    this.dataDirectory = options.dataDirectory ?? path.join(this.#folder, 'data');
    mkdirSync(this.dataDirectory, { recursive: true });
    this.canaries = placeCanaries(this.#folder, this.dataDirectory);
  }

  static async start(options: SubjectOptions = {}): Promise<Subject> {
    const subject = new Subject(options);
    try {
      const plan = { concurrentRenders: 100_000, ...PLAN, ...options.plan };
      writeFileSync(subject.#plansFile, JSON.stringify({ plans: [plan] }));
      subject.#accounts = await openAccounts(subject.dataDirectory, options.accounts ?? 1);
      await subject.launch();
      return subject;
    } catch (error) {
      await subject.stop();
      throw error;
    }
  }

  get target(): Target {
    if (this.#target === undefined) throw new Error('the server has not been started');
    return this.#target;
  }

  get pid(): number {
    return must(this.#child?.pid, 'pid of the server');
  }

  get accounts(): readonly TestAccount[] {
    return this.#accounts;
  }

  /** Returns the key of the first account. */
  get key(): string {
    return this.account(0).key;
  }

  account(index: number): TestAccount {
    return must(this.#accounts[index], `account ${index}`);
  }

  get log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
  }

  /** Returns the open file descriptors of the server right after it started. */
  get descriptorsAtStart(): number {
    return this.#descriptors;
  }

  /** Returns true if the process ended without being told to. */
  get hasCrashed(): boolean {
    return !this.#isStopping && !this.#isRunning;
  }

  get #isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the process ids of the render workers. */
  workers(kind?: 'image' | 'video'): number[] {
    const all = childrenOf(this.pid).map(innermost);
    return kind === undefined ? all : all.filter((pid) => commandOf(pid).includes(kind));
  }

  /** Returns the names of the work directories that exist right now. */
  directories(): { renders: string[]; workers: string[] } {
    const list = (suffix: string): string[] =>
      readdirSync(path.join(this.dataDirectory, 'work', `${this.pid}${suffix}`));
    return { renders: list(''), workers: list('-workers') };
  }

  async health(): ReturnType<typeof health> {
    return await health({ url: this.target.url });
  }

  /** Waits until every worker is ready. */
  async waitUntilReady(timeoutMs = START_TIMEOUT_MS): Promise<void> {
    await until(async () => {
      const { images, videos } = (await this.health()).renderer;
      return images.ready === images.workers && videos.ready === videos.workers;
    }, timeoutMs);
  }

  /** Starts the server, even after `kill`. */
  async launch(): Promise<void> {
    const log = openSync(this.#logFile, 'a');
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      STORYBAR_METRICS_TOKEN: METRICS_TOKEN,
      STORYBAR_SANDBOX: process.env['STORYBAR_SANDBOX'] ?? 'auto',
      STORYBAR_DATA_DIR: this.dataDirectory,
      STORYBAR_PLANS: this.#plansFile,
      ...this.#options.settings,
    };
    this.#isStopping = false;
    const child = spawn(process.execPath, START_ARGUMENTS, { env, stdio: ['ignore', 'pipe', log], cwd: this.#folder });
    closeSync(log);
    this.#child = child;
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const url = await until(() => {
      if (child.exitCode !== null) throw new Error(`the server exited during startup: ${this.log.slice(-500)}`);
      return /listens on (\S+)/u.exec(printed)?.[1];
    }, START_TIMEOUT_MS);
    this.#target = openTarget(url);
    await this.waitUntilReady();
    this.#descriptors = openDescriptors(this.pid);
  }

  async kill(): Promise<void> {
    this.#isStopping = true;
    process.kill(this.pid, 'SIGKILL');
    await this.#waitForExit();
  }

  /** Stops the server as an operator would and removes its files. */
  async stop(): Promise<{ code: number | null }> {
    this.#isStopping = true;
    if (this.#isRunning) {
      process.kill(this.pid, 'SIGTERM');
      await this.#waitForExit();
    }
    this.canaries.close();
    rmSync(this.#folder, { recursive: true, force: true });
    return { code: this.#child?.exitCode ?? null };
  }

  async #waitForExit(): Promise<void> {
    this.#target?.agent.destroy();
    if (this.#child && this.#isRunning) await once(this.#child, 'exit');
  }

  get #plansFile(): string {
    return path.join(this.#folder, 'plans.json');
  }
}

async function openAccounts(dataDirectory: string, count: number): Promise<TestAccount[]> {
  const accounts: TestAccount[] = [];
  await withStore({ dataDirectory, databaseUrl: '' }, async (store) => {
    for (let index = 0; index < count; index += 1) {
      const accountId = await openAccount(store, PLAN.name, `account ${index}`, 'system');
      const { key } = await issueKey(store, accountId, { name: 'prove', mode: 'live' }, 'system');
      const test = await issueKey(store, accountId, { name: 'prove', mode: 'test' }, 'system');
      accounts.push({ accountId, key, testKey: test.key });
    }
  });
  return accounts;
}
