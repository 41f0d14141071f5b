// What a server depends on: its database, the other servers' clocks, NATS, storage, mail, payments and disk space. Nothing is
// changed, apart from a small object that is written to the storage and deleted.

import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Settings } from '../../service/config/settings.ts';
import { tryStorage } from '../../main/open-storage.ts';
import { loadPlans } from '../../main/load-plans.ts';
import { inspectDatabase } from '../../main/open-store.ts';
import { natsHosts, queueAccess } from '../../main/queue-access.ts';
import { assertEmailSettings } from '../../main/wire-identity.ts';
import { assertPaymentSettings } from '../../main/payments.ts';
import { SPARE_BYTES } from '../../service/renders/upload-budget.ts';
import { pendingMigrations, SCHEMA, type SchemaState } from '../../service/store/migrations.ts';
import { SecretBox } from '../../service/store/secret-box.ts';
import { check, type Finding } from './finding.ts';

const GIGABYTE = 1_000_000_000;
/** Leases and links of several servers depend on their clocks. */
const MAX_OFFSET_MS = 5_000;

export async function serviceChecks(settings: Settings): Promise<Finding[]> {
  const checks = [checkDatabase, checkNats, checkStorage, checkMail, checkPayments, checkDisk];
  const findings = await Promise.all(checks.map(async (each) => await each(settings)));
  return findings.flat();
}

async function checkDatabase(settings: Settings): Promise<Finding[]> {
  const kind = settings.databaseUrl === '' ? 'SQLite' : 'PostgreSQL';
  let facts: Awaited<ReturnType<typeof inspectDatabase>> | undefined;
  const database = await check('database', async () => {
    facts = await inspectDatabase(settings);
    return { detail: facts === undefined ? `${kind}, created when the server starts` : `${kind} responds` };
  });
  if (facts === undefined) return [database];
  const found = facts;
  return [
    database,
    await check('schema', async () => schemaFinding(found)),
    await check('clock', async () => clockFinding(found)),
    await check('secrets', async () => secretsFinding(found.secrets, new SecretBox(settings.encryptionKeys))),
  ];
}

/** Throws if the program can't use the database. */
function schemaFinding(state: SchemaState): { detail: string } {
  pendingMigrations(state);
  const { version } = state;
  const own = SCHEMA.version;
  if (version === own) return { detail: `version ${version}, as this program` };
  if (version > own) return { detail: `version ${version}, newer than this program (${own}) but compatible` };
  return { detail: `version ${version}; "storybar db migrate" or a start migrates it to ${own}` };
}

function clockFinding({ now, heartbeatAt }: { now: Date | undefined; heartbeatAt: Date | undefined }): {
  ok: boolean;
  detail: string;
} {
  if (now !== undefined) {
    const offsetMs = Date.now() - now.getTime();
    const seconds = `${(Math.abs(offsetMs) / 1_000).toFixed(1)} s ${offsetMs < 0 ? 'behind' : 'ahead of'} the database`;
    return { ok: Math.abs(offsetMs) <= MAX_OFFSET_MS, detail: seconds };
  }
  if (heartbeatAt === undefined) return { ok: true, detail: 'nothing to compare with' };
  const behindMs = heartbeatAt.getTime() - Date.now();
  const latest = `the latest heartbeat of a server was at ${heartbeatAt.toISOString()}`;
  return behindMs > MAX_OFFSET_MS ? { ok: false, detail: `behind: ${latest}` } : { ok: true, detail: latest };
}

function secretsFinding(counts: ReadonlyMap<string, number>, box: SecretBox): { ok: boolean; detail: string } {
  const missing = [...counts.keys()].filter((key) => key !== '' && !box.has(key));
  const count = (of: (key: string) => boolean): number =>
    [...counts].reduce((sum, [key, secrets]) => (of(key) ? sum + secrets : sum), 0);
  const current = count((key) => key !== '' && key === box.currentKey);
  const older = count((key) => key !== '' && key !== box.currentKey);
  const detail = `${current} encrypted with the first key, ${older} with other keys, ${count((key) => key === '')} plain text`;
  if (missing.length === 0) return { ok: true, detail };
  return { ok: false, detail: `${detail}; STORYBAR_ENCRYPTION_KEYS lacks ${missing.join(', ')}` };
}

async function checkNats(settings: Settings): Promise<Finding[]> {
  if (settings.natsUrl === '') return [];
  const finding = await check('nats', async () => {
    const access = queueAccess(settings);
    // Loaded on demand, because servers without NATS don't need its client.
    const { inspectQueue } = await import('../../service/dispatch/remote/shared/inspect-queue.ts');
    const { version, waiting } = await inspectQueue(access);
    const queue = waiting === undefined ? 'no queue yet, the first API server creates it' : `${waiting} tickets wait`;
    return { detail: `${natsHosts(settings).join(', ')}, version ${version}, ${queue}` };
  });
  return [finding];
}

async function checkStorage(settings: Settings): Promise<Finding[]> {
  if (!settings.isAsync) return [];
  const { storage, databaseUrl, dataDirectory } = settings;
  return [
    await check('storage', async () => {
      if (storage.kind === 'default' && databaseUrl !== '') {
        return { detail: 'STORYBAR_STORAGE is not set, so asynchronous renders, logos and fonts are refused' };
      }
      if (storage.kind === 'default' && !existsSync(dataDirectory)) {
        return { detail: `${dataDirectory}, created when the server starts` };
      }
      return { detail: `${await tryStorage(settings)} can be written, read and deleted` };
    }),
  ];
}

async function checkMail(settings: Settings): Promise<Finding[]> {
  if (settings.smtpUrl === '') return [];
  const finding = await check('mail', async () => {
    assertEmailSettings(settings);
    const { SmtpMailer } = await import('../../service/mail/mailer.ts');
    const mailer = new SmtpMailer({ url: settings.smtpUrl, from: settings.mailFrom });
    try {
      await mailer.verify();
    } finally {
      mailer.close();
    }
    return { detail: `${new URL(settings.smtpUrl).host} accepts the connection and the password` };
  });
  return [finding];
}

async function checkPayments(settings: Settings): Promise<Finding[]> {
  const plans = await check('plans', async () => ({ detail: `${loadPlans(settings).plans.length} plans` }));
  if (settings.billing !== 'stripe' || !plans.ok) return [plans];
  const prices = await check('stripe', async () => {
    const book = loadPlans(settings);
    assertPaymentSettings(settings, book);
    // Loaded on demand: it is large.
    const { describeWrongPrices } = await import('../../service/billing/stripe-prices.ts');
    const faults = await describeWrongPrices(
      { secretKey: settings.stripeSecretKey, apiUrl: settings.stripeApiUrl },
      book,
    );
    const paid = book.plans.filter(({ stripePrice }) => stripePrice !== undefined).length;
    return faults.length === 0
      ? { detail: `${paid} prices match the plans` }
      : { ok: false, detail: faults.join('; ') };
  });
  return [plans, prices];
}

async function checkDisk({ dataDirectory, uploadMegabytes }: Settings): Promise<Finding[]> {
  const finding = await check('disk', async () => {
    const { bavail, bsize } = await statfs(existingPartOf(dataDirectory));
    const free = bavail * bsize;
    const wanted = uploadMegabytes * 1_000_000 + SPARE_BYTES;
    const detail = `${(free / GIGABYTE).toFixed(1)} GB free in ${dataDirectory}`;
    if (free <= SPARE_BYTES) return { ok: false, detail: `${detail}, too little to accept uploads` };
    if (free < wanted)
      return {
        detail: `${detail}, less than STORYBAR_UPLOAD_MB and the reserve (${(wanted / GIGABYTE).toFixed(1)} GB)`,
      };
    return { detail };
  });
  return [finding];
}

function existingPartOf(directory: string): string {
  return existsSync(directory) ? directory : existingPartOf(path.dirname(directory));
}
