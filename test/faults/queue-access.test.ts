// Who is let into the queue, with a real broker that asks: by password, token, credentials file and certificate. Whoever
// is not let in says so, stays alive and comes back when the lock was changed; and no secret is ever in a log.

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
const FRONT = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };
const QUEUE = 'jetstream { store_dir: x }\n';
const LOCKED_OUT = { retryAfter: '2', code: 'renderer_unavailable', ready: 503, worker: 'disconnected' };
const OVERLAY = { width: '64', height: '64', text: 'a' };
/** Nothing else that is printed can contain it. */
const SECRET = 'pa55-kept-to-itself';

describe.skipIf(!hasNats)('the way into the queue (needs nats-server)', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-access-'));
  const running: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const program of running.splice(0).toReversed()) await program.stop();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  async function broker(configuration: string): Promise<RunningNats> {
    const nats = await startNats({ configuration });
    running.push(nats);
    return nats;
  }

  async function pair(
    url: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly front: RunningServer; readonly worker: RunningWorker }> {
    const [front, worker] = await Promise.all([
      startServer({ ...FRONT, ...environment, STORYBAR_NATS_URL: url }),
      startWorker(url, environment),
    ]);
    running.push(front, worker);
    return { front, worker };
  }

  /** The status that a caller gets once they have found each other. */
  async function served({ front, worker }: Awaited<ReturnType<typeof pair>>): Promise<number> {
    await until(() => health(front).then(({ renderer }) => renderer.images.ready === 1));
    const response = await post(front, form(OVERLAY));
    await until(() => worker.health().then(({ status, tickets }) => status === 'ok' && tickets.used === 1));
    return response.status;
  }

  /** Both are alive and say why; what they tell callers and orchestrators. */
  async function lockedOut({ front, worker }: Awaited<ReturnType<typeof pair>>, why: string): Promise<object> {
    const refused = await post(front, form(OVERLAY));
    for (const printed of [() => printedBy(front), () => worker.stderr()]) await until(() => printed().includes(why));
    return {
      retryAfter: refused.headers.get('retry-after'),
      code: (await problemOf(refused)).code,
      ready: (await fetch(`${front.url}/ready`)).status,
      worker: (await worker.health()).status,
    };
  }

  const printedBy = (front: RunningServer): string => Object.values(front.output()).join('');

  it.each([
    ['a user and a password', `user: me, password: "${SECRET}"`, `me:${SECRET}@`],
    [
      'a password that needs escaping',
      `user: me, password: "${SECRET}/@:%"`,
      `me:${encodeURIComponent(`${SECRET}/@:%`)}@`,
    ],
    ['a token', `token: "${SECRET}"`, `${SECRET}@`],
  ])('takes %s from the address', async (_what, authorization, credentials) => {
    const nats = await broker(`${QUEUE}authorization { ${authorization} }`);
    const programs = await pair(nats.url.replace('//', `//${credentials}`), { STORYBAR_LOG_LEVEL: 'debug' });
    expect(await served(programs)).toBe(200);
    expect(printedBy(programs.front) + programs.worker.stderr()).not.toContain(SECRET);
  });

  it('takes a credentials file', async () => {
    const { configuration, file } = makeCredentials(directory);
    const nats = await broker(configuration);
    expect(await served(await pair(nats.url, { STORYBAR_NATS_CREDS: file }))).toBe(200);
  });

  it('says once that it is not let in, and comes in by itself when the password is put right', async () => {
    const locked = (password: string): string => `${QUEUE}authorization { user: me, password: "${password}" }`;
    const nats = await broker(locked('another'));
    const programs = await pair(nats.url.replace('//', `//me:${SECRET}@`));
    expect(await lockedOut(programs, 'Authorization Violation')).toEqual(LOCKED_OUT);
    await nats.kill();
    await nats.restart(locked(SECRET));
    expect(await served(programs)).toBe(200);
    // And the other way round, while they are connected.
    await nats.kill();
    await nats.restart(locked('another'));
    const complaintsOf = (printed: string): string[] =>
      printed.split('\n').filter((line) => line.includes('Authorization Violation'));
    await until(() => complaintsOf(printedBy(programs.front)).length === 2);
    await until(() => complaintsOf(programs.worker.stderr()).length === 2);
    expect(await lockedOut(programs, 'Authorization Violation')).toEqual(LOCKED_OUT);
    await nats.kill();
    await nats.restart(locked(SECRET));
    await until(() => programs.worker.health().then(({ status }) => status === 'ok'));
    await until(async () => (await post(programs.front, form(OVERLAY))).status === 200);
    const printed = printedBy(programs.front) + programs.worker.stderr();
    expect(printed).not.toContain(SECRET);
    // For each lock once, not for every try.
    expect(complaintsOf(printed)).toHaveLength(4);
  });

  describe.skipIf(!hasOpenssl)('with TLS (needs openssl)', () => {
    const encrypted = (name: string): { configuration: string; certificate: string } => {
      const { key, certificate } = makeCertificate(directory, name);
      const lock = `authorization { user: me, password: "${SECRET}" }`;
      const tls = `tls { cert_file: "${certificate}", key_file: "${key}", timeout: 5 }`;
      return { certificate, configuration: `${QUEUE}${lock}\n${tls}\n` };
    };

    it.each(['tls', 'nats'])('trusts the authorities it was given, at %s://', async (scheme) => {
      const { configuration, certificate } = encrypted('ours');
      const nats = await broker(configuration);
      const url = `${scheme}://me:${SECRET}@localhost:${new URL(nats.url).port}`;
      expect(await served(await pair(url, { STORYBAR_NATS_CA: certificate }))).toBe(200);
    });

    it('does not talk to a server that nobody vouches for', async () => {
      const nats = await broker(encrypted('stranger').configuration);
      const url = `tls://me:${SECRET}@localhost:${new URL(nats.url).port}`;
      expect(
        await lockedOut(
          await pair(url, { STORYBAR_NATS_CA: makeCertificate(directory, 'other').certificate }),
          'certificate',
        ),
      ).toEqual(LOCKED_OUT);
    });

    it('does not talk in the clear when it was told to encrypt', async () => {
      const nats = await broker(`${QUEUE}authorization { user: me, password: "${SECRET}" }`);
      const programs = await pair(`tls://me:${SECRET}@localhost:${new URL(nats.url).port}`);
      expect(await lockedOut(programs, "server does not support 'tls'")).toEqual(LOCKED_OUT);
    });
  });

  it.each(['serve', 'worker'])(
    'does not start `storybar %s` with files that cannot be what they should be',
    async (command) => {
      const file = path.join(directory, 'notes.txt');
      writeFileSync(file, SECRET);
      const failure = await promisify(execFile)(process.execPath, [PROGRAM, command], {
        env: {
          ...{ PORT: '0', STORYBAR_DATA_DIR: directory, STORYBAR_NATS_URL: 'tls://127.0.0.1:1' },
          ...{ STORYBAR_NATS_CREDS: path.join(directory, 'nowhere.creds'), STORYBAR_NATS_CA: file },
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
