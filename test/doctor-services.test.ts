import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Finding } from '../src/cli/doctor/finding.ts';
import { serviceChecks } from '../src/cli/doctor/service-checks.ts';
import { readSettings } from '../src/service/config/settings.ts';
import { openEngine } from '../src/main/open-store.ts';
import { SCHEMA } from '../src/service/store/migrations.ts';
import { createStore } from '../src/service/store/store.ts';
import { FakeStripe, SECRET_KEY } from './billing/fake-stripe.ts';
import { freePort } from './free-port.ts';
import { plansFile } from './plans-file.ts';
import { createDatabase, NO_POSTGRES } from './postgres-server.ts';
import { hasNats, startNats } from './running-nats.ts';
import { SmtpServer } from './site/smtp-server.ts';

const postgresUrl = inject('postgresUrl');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-doctor-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function findings(env: Readonly<Record<string, string>>): Promise<Map<string, Finding>> {
  const found = await serviceChecks(readSettings({ STORYBAR_DATA_DIR: path.join(folder, 'data'), ...env }));
  return new Map(found.map((finding) => [finding.what, finding]));
}

describe('storybar doctor', () => {
  it('finds a machine in order where no server has started yet, and creates nothing', async () => {
    const found = await findings({});
    expect([...found.values()].filter(({ ok }) => !ok)).toEqual([]);
    expect([...found.keys()]).toEqual(['database', 'storage', 'plans', 'disk']);
    expect(found.get('database')?.detail).toContain('created when the server starts');
  });

  it('reports the schema and a clock that is behind the latest heartbeat', async () => {
    const STORYBAR_DATA_DIR = path.join(folder, 'used');
    const engine = await openEngine({ dataDirectory: STORYBAR_DATA_DIR, databaseUrl: '' });
    const ahead = (): Date => new Date(Date.now() + 60_000);
    await createStore(engine, ahead).ledger.heartbeat();
    const found = await findings({ STORYBAR_DATA_DIR });
    expect(found.get('schema')).toMatchObject({
      ok: true,
      detail: expect.stringContaining(`version ${SCHEMA.version}`),
    });
    expect(found.get('clock')).toMatchObject({ ok: false, detail: expect.stringContaining('behind') });
    expect(found.get('storage')).toMatchObject({ ok: true });
    await engine.run(`update schema_version set compatible_from = ${SCHEMA.version + 1}`);
    await engine.close();
    expect((await findings({ STORYBAR_DATA_DIR })).get('schema')).toMatchObject({ ok: false });
    const unreleased = path.join(folder, 'unreleased');
    const other = await openEngine({ dataDirectory: unreleased, databaseUrl: '' });
    await other.run('update schema_version set compatible_from = 25');
    await other.all('pragma user_version = 33');
    await other.close();
    expect((await findings({ STORYBAR_DATA_DIR: unreleased })).get('schema')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('never released'),
    });
  });

  it.skipIf(postgresUrl === '' || !hasNats)(
    `finds PostgreSQL, NATS and a mail server working (needs nats-server)${postgresUrl === '' ? `: ${NO_POSTGRES}` : ''}`,
    async () => {
      const [nats, smtp] = await Promise.all([startNats(), SmtpServer.start()]);
      const databaseUrl = await createDatabase(postgresUrl);
      try {
        const env = {
          STORYBAR_DATABASE_URL: databaseUrl,
          STORYBAR_NATS_URL: nats.url,
          STORYBAR_SMTP_URL: smtp.url,
          STORYBAR_MAIL_FROM: 'storybar@example.com',
          STORYBAR_PUBLIC_URL: 'https://captions.example.com',
        };
        const before = await findings(env);
        expect(before.get('database')?.detail).toContain('created when the server starts');
        await (await openEngine({ dataDirectory: folder, databaseUrl })).close();
        const found = await findings(env);
        expect([...found.values()].filter(({ ok }) => !ok)).toEqual([]);
        expect([...found.keys()]).toEqual([
          'database',
          'schema',
          'clock',
          'secrets',
          'nats',
          'storage',
          'mail',
          'plans',
          'disk',
        ]);
        expect(found.get('clock')?.detail).toMatch(/^\d\.\d s (?:behind|ahead of) the database$/u);
      } finally {
        await nats.stop();
        await smtp.stop();
      }
    },
  );

  it('names everything that does not respond, without passwords', async () => {
    const port = await freePort();
    const found = await findings({
      STORYBAR_DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/x`,
      STORYBAR_NATS_URL: `nats://me:secret@127.0.0.1:${port}`,
      STORYBAR_SMTP_URL: `smtp://127.0.0.1:${port}`,
      STORYBAR_MAIL_FROM: 'storybar@example.com',
      STORYBAR_PUBLIC_URL: 'https://captions.example.com',
      STORYBAR_STORAGE: 's3://some-bucket',
      STORYBAR_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    });
    const failed = [...found.values()].filter(({ ok }) => !ok).map(({ what }) => what);
    expect(failed).toEqual(['database', 'nats', 'storage', 'mail']);
    expect(JSON.stringify([...found])).not.toContain('secret');
  });

  it('compares the prices at Stripe with the plans', async () => {
    const stripe = await FakeStripe.start([{ id: 'price_pro', amount: 1_900, currency: 'usd', interval: 'month' }]);
    const plans = (stripePrice: string): string =>
      plansFile({ free: {}, pro: { monthlyPriceCents: 2_000, stripePrice } });
    const env = {
      STORYBAR_BILLING: 'stripe',
      STORYBAR_STRIPE_SECRET_KEY: SECRET_KEY,
      STORYBAR_STRIPE_WEBHOOK_SECRETS: 'whsec_1',
      STORYBAR_STRIPE_API_URL: stripe.url,
    };
    try {
      const detailWith = async (price: string): Promise<Finding | undefined> =>
        (await findings({ ...env, STORYBAR_PLANS: plans(price) })).get('stripe');
      const differing = 'plan "pro": the amount is 1900, not 2000';
      expect(await detailWith('price_pro')).toMatchObject({ ok: false, detail: differing });
      expect(await detailWith('price_gone')).toMatchObject({
        ok: false,
        detail: expect.stringContaining('price_gone'),
      });
    } finally {
      await stripe.close();
    }
  });
});
