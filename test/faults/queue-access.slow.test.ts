// Authentication with a real NATS server: password, token, credentials file and certificate. A process that is rejected
// logs it, stays alive and connects once the credentials are right. No secret ever appears in a log.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificate, makeCredentials } from '../nats-identities.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/storybar.js');
const API_SERVER = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };
const QUEUE = 'jetstream { store_dir: x }\n';
const LOCKED_OUT = { retryAfter: '2', code: 'renderer_unavailable', ready: 200, worker: 'disconnected' };
const OVERLAY = { width: '64', height: '64', text: 'a' };
/** The secret appears nowhere else in the output. */
const SECRET = 'pa55-kept-to-itself';

describe.skipIf(!hasNats)('access to NATS (needs nats-server)', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-access-'));
  const running: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const program of running.splice(0).toReversed()) await program.stop();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  async function startBroker(configuration: string): Promise<RunningNats> {
    const nats = await startNats({ configuration });
    running.push(nats);
    return nats;
  }

  async function startPair(
    url: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly apiServer: RunningServer; readonly worker: RunningWorker }> {
    const [apiServer, worker] = await Promise.all([
      startServer({ ...API_SERVER, ...environment, STORYBAR_NATS_URL: url }),
      startWorker(url, environment),
    ]);
    running.push(apiServer, worker);
    return { apiServer, worker };
  }

  /** The status of a request once the worker is known to the API server. */
  async function served({ apiServer, worker }: Awaited<ReturnType<typeof startPair>>): Promise<number> {
    await until(() => health(apiServer).then(({ renderer }) => renderer.images.ready === 1));
    const response = await post(apiServer, form(OVERLAY));
    await until(() => worker.health().then(({ status, tickets }) => status === 'ok' && tickets.used === 1));
    return response.status;
  }

  /** Checks that both log the reason, and returns the responses to clients and orchestrators. */
  async function lockedOut({ apiServer, worker }: Awaited<ReturnType<typeof startPair>>, why: string): Promise<object> {
    const refused = await post(apiServer, form(OVERLAY));
    for (const printed of [() => printedBy(apiServer), () => worker.stderr()])
      await until(() => printed().includes(why));
    return {
      retryAfter: refused.headers.get('retry-after'),
      code: (await problemOf(refused)).code,
      ready: (await fetch(`${apiServer.url}/ready`)).status,
      worker: (await worker.health()).status,
    };
  }

  const printedBy = (apiServer: RunningServer): string => Object.values(apiServer.output()).join('');

  it.each([
    ['a user and a password', `user: me, password: "${SECRET}"`, `me:${SECRET}@`],
    [
      'a password that needs escaping',
      `user: me, password: "${SECRET}/@:%"`,
      `me:${encodeURIComponent(`${SECRET}/@:%`)}@`,
    ],
    ['a token', `token: "${SECRET}"`, `${SECRET}@`],
  ])('authenticates with %s in the URL', async (_what, authorization, credentials) => {
    const nats = await startBroker(`${QUEUE}authorization { ${authorization} }`);
    const programs = await startPair(nats.url.replace('//', `//${credentials}`), { STORYBAR_LOG_LEVEL: 'debug' });
    expect(await served(programs)).toBe(200);
    expect(printedBy(programs.apiServer) + programs.worker.stderr()).not.toContain(SECRET);
  });

  it('authenticates with a credentials file', async () => {
    const { configuration, file } = makeCredentials(directory);
    const nats = await startBroker(configuration);
    expect(await served(await startPair(nats.url, { STORYBAR_NATS_CREDS: file }))).toBe(200);
  });

  it('logs a rejected password once and connects by itself when it is accepted', async () => {
    const locked = (password: string): string => `${QUEUE}authorization { user: me, password: "${password}" }`;
    const nats = await startBroker(locked('another'));
    const programs = await startPair(nats.url.replace('//', `//me:${SECRET}@`));
    expect(await lockedOut(programs, 'Authorization Violation')).toEqual(LOCKED_OUT);
    await nats.kill();
    await nats.restart(locked(SECRET));
    expect(await served(programs)).toBe(200);
    // The same happens while they are connected.
    await nats.kill();
    await nats.restart(locked('another'));
    const complaintsOf = (printed: string): string[] =>
      printed.split('\n').filter((line) => line.includes('Authorization Violation'));
    await until(() => complaintsOf(printedBy(programs.apiServer)).length === 2);
    await until(() => complaintsOf(programs.worker.stderr()).length === 2);
    expect(await lockedOut(programs, 'Authorization Violation')).toEqual(LOCKED_OUT);
    await nats.kill();
    await nats.restart(locked(SECRET));
    await until(() => programs.worker.health().then(({ status }) => status === 'ok'));
    await until(async () => (await post(programs.apiServer, form(OVERLAY))).status === 200);
    const printed = printedBy(programs.apiServer) + programs.worker.stderr();
    expect(printed).not.toContain(SECRET);
    // Once per rejection and process, not once per retry.
    expect(complaintsOf(printed)).toHaveLength(4);
  });

  describe.skipIf(!hasOpenssl)('with TLS (needs openssl)', () => {
    const encrypted = (name: string): { configuration: string; certificate: string } => {
      const { key, certificate } = makeCertificate(directory, name);
      const lock = `authorization { user: me, password: "${SECRET}" }`;
      const tls = `tls { cert_file: "${certificate}", key_file: "${key}", timeout: 5 }`;
      return { certificate, configuration: `${QUEUE}${lock}\n${tls}\n` };
    };

    it.each(['tls', 'nats'])('trusts the configured CA certificates at %s://', async (scheme) => {
      const { configuration, certificate } = encrypted('ours');
      const nats = await startBroker(configuration);
      const url = `${scheme}://me:${SECRET}@localhost:${new URL(nats.url).port}`;
      expect(await served(await startPair(url, { STORYBAR_NATS_CA: certificate }))).toBe(200);
    });

    it('the service does not connect to NATS with an untrusted certificate', async () => {
      const nats = await startBroker(encrypted('stranger').configuration);
      const url = `tls://me:${SECRET}@localhost:${new URL(nats.url).port}`;
      expect(
        await lockedOut(
          await startPair(url, { STORYBAR_NATS_CA: makeCertificate(directory, 'other').certificate }),
          'certificate',
        ),
      ).toEqual(LOCKED_OUT);
    });

    it('the service does not connect to a tls:// URL without encryption', async () => {
      const nats = await startBroker(`${QUEUE}authorization { user: me, password: "${SECRET}" }`);
      const programs = await startPair(`tls://me:${SECRET}@localhost:${new URL(nats.url).port}`);
      expect(await lockedOut(programs, "server does not support 'tls'")).toEqual(LOCKED_OUT);
    });
  });

  it.each(['serve', 'worker'])(
    '`storybar %s` does not start with invalid credentials and certificate files',
    async (command) => {
      const file = path.join(directory, 'notes.txt');
      writeFileSync(file, SECRET);
      const failure = await promisify(execFile)(process.execPath, [PROGRAM, command], {
        env: {
          PORT: '0',
          STORYBAR_DATA_DIR: directory,
          STORYBAR_NATS_URL: 'tls://127.0.0.1:1',
          STORYBAR_NATS_CREDS: path.join(directory, 'nowhere.creds'),
          STORYBAR_NATS_CA: file,
        },
      }).catch((error: { code: number; stderr: string }) => error);
      expect(failure).toMatchObject({ code: 78 });
      expect(failure.stderr).toContain('STORYBAR_NATS_CREDS names a file that cannot be read');
      expect(failure.stderr).toContain('STORYBAR_NATS_CA names a file without "-----BEGIN CERTIFICATE-----"');
      expect(failure.stderr).toContain('STORYBAR_NATS_URL must give names');
      expect(failure.stderr).not.toContain(SECRET);
    },
  );
});
