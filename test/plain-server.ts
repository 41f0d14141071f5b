// A server for a test file that needs nothing special of it, with a key of an account on the largest plan.

import { type RunningServer, startServer } from './running-server.ts';

/** Beyond the defaults: addresses from which tests serve files for `asset_url`. */
const SETTINGS = { STORYBAR_FETCH_ALLOW: '127.0.0.2/32' } as const;

export async function plainServer(): Promise<RunningServer> {
  const server = await startServer(SETTINGS);
  const created = await server.cli('keys', 'create', '--plan', 'business', '--json');
  return { ...server, key: (JSON.parse(created) as { key: string }).key };
}
