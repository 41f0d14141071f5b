// One running server for all test files that need nothing special of it, because starting one takes seconds. Each file gets a key
// of an account of its own, so that files don't use up each other's credits and rate limits.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { RunningServer } from './running-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedServer: { readonly url: string; readonly dataDirectory: string } | undefined;
  }
}

/** Beyond the defaults: addresses from which tests serve files for `asset_url`. */
export const SHARED_SETTINGS = { STORYBAR_FETCH_ALLOW: '127.0.0.2/32', STORYBAR_WORKERS: '2' } as const;

export type SharedServer = Pick<RunningServer, 'url' | 'key' | 'dataDirectory' | 'cli'>;

const PROGRAM = path.resolve(import.meta.dirname, '../bin/storybar.js');

/** `global-setup.ts` looks for calls of this function and starts the server. */
export async function sharedServer(): Promise<SharedServer> {
  const running = inject('sharedServer');
  if (running === undefined) throw new Error('global-setup.ts did not start the shared server');
  const { url, dataDirectory } = running;
  const cli = async (...args: string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'] ?? '', STORYBAR_DATA_DIR: dataDirectory };
    return (await promisify(execFile)(process.execPath, [PROGRAM, ...args], { env })).stdout;
  };
  const created = await cli('keys', 'create', '--plan', 'business', '--json');
  return { url, dataDirectory, cli, key: (JSON.parse(created) as { key: string }).key };
}
