// Tests the packages in clients/ against the service, then installs what they would publish into an empty folder and runs
// the programs of their READMEs. Usage: npm run test:clients [-- typescript python] [-- --full] [-- --serve]

import { startStandIn } from '../clients/stand-in.ts';
import { freePort } from '../test/free-port.ts';
import { startServer } from '../test/running-server.ts';
import { testIntegrations } from './test-clients/integrations.ts';
import { testMcp } from './test-clients/mcp.ts';
import { testN8n } from './test-clients/n8n.ts';
import { testPython } from './test-clients/python.ts';
import { testTypeScript } from './test-clients/typescript.ts';

const CLIENTS: Readonly<Record<string, (env: Readonly<Record<string, string>>) => Promise<void>>> = {
  typescript: testTypeScript,
  mcp: testMcp,
  python: testPython,
  n8n: testN8n,
  integrations: testIntegrations,
};

const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const unknown = named.filter((name) => !(name in CLIENTS));
if (unknown.length > 0) {
  console.error(`Unknown client: ${unknown.join(', ')}. There are: ${Object.keys(CLIENTS).join(', ')}.`);
  process.exit(1);
}

// Files for `asset_url` come from the stand-in, on this machine, and files for `put_url` go there.
const server = await startServer({
  STORYBAR_WORKERS: '1',
  STORYBAR_FETCH_ALLOW: '127.0.0.1',
  STORYBAR_PUT_ALLOW: '127.0.0.1',
});
const standIn = await startStandIn();
try {
  const env = {
    TESTS_URL: server.url,
    TESTS_KEY: (await createKey()).key,
    ...(await pageKey()),
    STORYBAR_STAND_IN_URL: standIn.url,
  };
  if (process.argv.includes('--serve')) await serveUntilInterrupted(env);
  else await testAll(env);
} finally {
  await standIn.stop();
  await server.stop();
}

/** Creates a key for a web page, whose origin has to be known beforehand. */
async function pageKey(): Promise<Record<string, string>> {
  const origin = `http://127.0.0.1:${await freePort()}`;
  const { id, key } = await createKey();
  await server.cli('keys', 'origins', id, origin);
  return { STORYBAR_PAGE_ORIGIN: origin, STORYBAR_PAGE_KEY: key };
}

async function createKey(): Promise<{ id: string; key: string }> {
  return JSON.parse(await server.cli('keys', 'create', '--plan', 'business', '--json')) as { id: string; key: string };
}

async function testAll(env: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, test] of Object.entries(CLIENTS)) {
    if (named.length > 0 && !named.includes(name)) continue;
    const start = performance.now();
    console.log(`== ${name}`);
    await test(env);
    console.log(`== ${name}: ${((performance.now() - start) / 1_000).toFixed(0)} s`);
  }
}

/** For work on a client, whose own `npm test` needs only these variables. */
async function serveUntilInterrupted(env: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(env)) console.log(`export ${name}=${value}`);
  const alive = setInterval(() => {}, 60_000);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  clearInterval(alive);
}
