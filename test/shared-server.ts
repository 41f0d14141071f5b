// One server for all test files of a process that need nothing special of it. Files run one after the other, so each
// has the server to itself, but finds what earlier files left behind: accounts, metrics, log lines, used-up limits of
// an address. Each file therefore signs up users with a domain of its own, such as ann@members.example.com.

import { health, type RunningServer, startServer, until } from './running-server.ts';

/** The address of a user who doesn't exist yet. */
export const OPERATOR_EMAIL = 'boss@example.com';

/** Settings in addition to the defaults. */
const SETTINGS = {
  // Tests serve files for `asset_url` and receive webhooks at these addresses.
  STORYBAR_FETCH_ALLOW: '127.0.0.1,127.0.0.2',
  STORYBAR_PUT_ALLOW: '127.0.0.1',
  // Lets tests send requests from addresses of their own; see `newAddress`.
  STORYBAR_TRUST_PROXY: '127.0.0.1',
  STORYBAR_OPERATOR_EMAIL: OPERATOR_EMAIL,
} as const;

/** A server that stays when the test file ends. */
export interface SharedServer extends Omit<RunningServer, 'stop' | 'signal' | 'exited'> {
  /** The account of the key. */
  readonly account: string;
}

let current: { readonly server: RunningServer; hasExited: boolean } | undefined;

/** Returns the server with a key of a new account on the largest plan. */
export async function sharedServer(): Promise<SharedServer> {
  const trouble = current && (await troubleOf(current));
  if (trouble !== undefined) {
    process.stderr.write(`The shared server ${trouble}; a new one starts. Its log:\n${endOfLog(current?.server)}\n`);
    await current?.server.stop();
    current = undefined;
  }
  current ??= await start();
  const { server } = current;
  const created = await server.cli('keys', 'create', '--plan', 'business', '--json');
  const { key, account } = JSON.parse(created) as { key: string; account: string };
  return { ...server, key, account };
}

async function start(): Promise<{ readonly server: RunningServer; hasExited: boolean }> {
  const started = { server: await startServer(SETTINGS, { endsWithTests: true }), hasExited: false };
  void started.server.exited.then(() => (started.hasExited = true));
  return started;
}

/** Renders that an earlier file didn't wait for have this long to end. */
const IDLE_TIMEOUT_MS = 120_000;

async function troubleOf(running: { readonly server: RunningServer; hasExited: boolean }): Promise<string | undefined> {
  const isIdle = async (): Promise<boolean> => {
    const { images, videos } = (await health(running.server)).renderer;
    return [images, videos].every((pool) => pool.ready === pool.workers && pool.busy === 0 && pool.waiting === 0);
  };
  try {
    if (running.hasExited) return 'has exited';
    await until(isIdle, IDLE_TIMEOUT_MS);
    return undefined;
  } catch (error) {
    return `isn't idle (${String(error)})`;
  }
}

function endOfLog(server: RunningServer | undefined): string {
  return server?.output().stderr.slice(-2_000) ?? '';
}

let addresses = 0;

/**
 * Returns an address in a network that no other client of the shared server had, because sign-up and sign-in limits
 * count per network.
 */
export function newAddress(): string {
  addresses += 1;
  return `10.${100 + (addresses >> 8)}.${addresses & 255}.1`;
}
