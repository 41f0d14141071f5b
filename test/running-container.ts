// The image under podman: not root, with a read-only root file system and without capabilities. scripts/test-container.sh
// builds it and sets these variables.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { METRICS_TOKEN, until } from './running-server.ts';

/** Empty unless the tests run as `npm run test:container`. */
export const IMAGE = process.env['TESTS_IMAGE'] ?? '';
export const PODMAN_OPTIONS: readonly string[] = (process.env['STORYBAR_PODMAN_OPTIONS'] ?? '')
  .split(' ')
  .filter(Boolean);

/**
 * These are the options that docs/hardening.md recommends. Podman runs health checks through systemd, which test
 * machines may lack.
 */
const RESTRICTIONS = [
  '--read-only',
  '--tmpfs=/tmp',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--no-healthcheck',
];

export async function podman(...args: string[]): Promise<string> {
  return (await promisify(execFile)('podman', args)).stdout.trim();
}

export interface RunningContainer {
  readonly id: string;
  readonly url: string;
  logs(): Promise<string>;
  /** Runs a `storybar` command inside. */
  cli(...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

export interface ContainerOptions {
  /** Options of `podman run`. */
  readonly options?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: 'serve' | 'worker';
}

/** Waits until the server is ready, or the worker takes tickets. */
export async function startContainer({
  options = [],
  environment = {},
  command = 'serve',
}: ContainerOptions = {}): Promise<RunningContainer> {
  const port = await freePort();
  const all = { HOST: '127.0.0.1', PORT: String(port), STORYBAR_METRICS_TOKEN: METRICS_TOKEN, ...environment };
  const variables = Object.entries(all).map(([name, value]) => `--env=${name}=${value}`);
  const id = await podman(
    'run',
    '--detach',
    ...PODMAN_OPTIONS,
    ...RESTRICTIONS,
    ...options,
    ...variables,
    IMAGE,
    command,
  );
  const container: RunningContainer = {
    id,
    url: `http://127.0.0.1:${port}`,
    logs: async () => {
      const { stdout, stderr } = await promisify(execFile)('podman', ['logs', id]);
      return stdout + stderr;
    },
    cli: async (...args) => await podman('exec', id, 'node', 'bin/storybar.js', ...args),
    remove: async () => {
      await podman('rm', '--force', '--volumes', '--time', '0', id);
    },
  };
  const probe = `${container.url}/${command === 'serve' ? 'ready' : 'health'}`;
  try {
    await until(async () => await responds(container, probe));
  } catch (error) {
    const logs = await container.logs();
    await container.remove();
    throw new Error(`the container did not start:\n${logs}`, { cause: error });
  }
  return container;
}

async function responds({ id }: RunningContainer, probe: string): Promise<boolean> {
  if ((await podman('inspect', '--format={{.State.Running}}', id)) !== 'true') throw new Error('it exited');
  return await fetch(probe).then(
    ({ ok }) => ok,
    () => false,
  );
}

export async function createKey(container: RunningContainer): Promise<string> {
  const printed = await container.cli('keys', 'create', '--plan', 'business', '--name', 'first', '--json');
  return (JSON.parse(printed) as { key: string }).key;
}
