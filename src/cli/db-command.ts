// `storybar db` maintains the database itself.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { readSettings } from '../service/config/settings.ts';
import { copyAll, isEmpty, liveServers } from '../service/store/copy.ts';
import type { Engine } from '../service/store/engine.ts';
import { SCHEMA } from '../service/store/migrations.ts';
import { reconcile } from '../service/store/ledger/reconcile.ts';
import { isGone } from '../service/store/owner.ts';
import { SqliteEngine } from '../service/store/sqlite-engine.ts';
import { CopyProgress } from './copy-progress.ts';
import { SecretBox } from '../service/store/secret-box.ts';
import { missingKeys, reencryptSecrets } from '../service/store/secrets.ts';
import { UsageError } from './exit-codes.ts';
import { flag, required, text } from './options.ts';
import { embeddedFile, openEngine } from '../main/open-store.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';

interface Task {
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'db',
  actions: [
    action({
      name: 'migrate',
      help: 'Migrate the schema to this version. Run it before a rollout; "storybar serve" does so too.',
      run: migrate,
    }),
    action({
      name: 'check',
      help: 'Check that all credit totals match the recorded renders. The exit code is 1 if they do not.',
      run: check,
    }),
    action({
      name: 'backup',
      args: ['file'],
      help: 'Copy the embedded database to a new file, also while it is in use. For PostgreSQL, use pg_dump.',
      run: backup,
    }),
    action({
      name: 'reencrypt',
      options: { plain: flag },
      help:
        'Encrypt the secrets of authenticator apps and webhooks with the first key of STORYBAR_ENCRYPTION_KEYS, also while servers\n' +
        'run. Afterwards, other keys can be removed from the file. --plain stores them as plain text again, to turn encryption off.',
      run: reencrypt,
    }),
    action({
      name: 'vacuum',
      help: 'Rewrite the database, so that the space of deleted rows is given back. Servers wait meanwhile: seconds per gigabyte.',
      run: vacuum,
    }),
    action({
      name: 'copy',
      options: { from: required(text('<db>')), to: required(text('<db>')) },
      help: 'Copy everything into an empty database. Stop the servers first; it refuses while one is running.',
      run: copy,
    }),
  ],
  notes: ['A <db> is sqlite:<file> or postgres://user:password@host/name.'],
  withTask: async (print, use) => await use({ print }),
};

export async function dbCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function migrate({ print }: Task): Promise<void> {
  const engine = await openEngine(readSettings());
  await engine.close();
  const { version, compatibleFrom } = SCHEMA;
  print(
    { schema: version, compatibleFrom },
    `The database is at schema version ${version}. Programs with schema version ${compatibleFrom} or newer can use it.\n`,
  );
}

async function check({ print }: Task): Promise<void> {
  const differences = await withEngine(await openEngine(readSettings()), reconcile);
  const rows = differences.map((each) => [each.what, each.accountId, each.periodStartsAt, each.sum, each.rows]);
  const headers = ['total', 'account', 'period from', 'stored', 'from renders'];
  print(differences, table(headers, rows, 'All totals match.'));
  if (differences.length > 0) process.exitCode = 1;
}

async function backup({ print }: Task, { file }: { file: string }): Promise<void> {
  const settings = readSettings();
  if (settings.databaseUrl !== '') throw new UsageError('STORYBAR_DATABASE_URL is a PostgreSQL database; use pg_dump');
  if (existsSync(file)) throw new UsageError(`${file} already exists; choose a new file`);
  const source = embeddedFile(settings.dataDirectory);
  if (!existsSync(source)) throw new UsageError(`there is no database ${source}`);
  await withEngine(new SqliteEngine(source), async (engine) => await engine.backup(path.resolve(file)));
  print({ file }, `Wrote ${file}. To restore it, stop the server and replace ${source} with it.\n`);
}

async function reencrypt({ print }: Task, { plain }: { plain: boolean }): Promise<void> {
  const settings = readSettings();
  const box = new SecretBox(settings.encryptionKeys);
  if (box.currentKey === undefined) throw new UsageError('STORYBAR_ENCRYPTION_KEYS is not set; see docs/hardening.md');
  const changed = await withEngine(await openEngine(settings), async (engine) => {
    const missing = await missingKeys(engine, box);
    if (missing.length > 0)
      throw new UsageError(`STORYBAR_ENCRYPTION_KEYS lacks ${missing.join(', ')}; nothing was changed`);
    return await reencryptSecrets(engine, box, plain ? new SecretBox() : box);
  });
  const key = plain ? null : box.currentKey;
  print(
    { changed, key },
    plain ? `Decrypted ${changed} secrets.\n` : `Encrypted ${changed} secrets with key ${key}.\n`,
  );
}

async function vacuum({ print }: Task): Promise<void> {
  const settings = readSettings();
  const engine = await openEngine(settings);
  const { before, after } = await withEngine(engine, async () => await engine.vacuum());
  const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
  print({ before, after }, `The database had ${megabytes(before)} and has ${megabytes(after)} now.\n`);
}

async function copy({ print }: Task, { from, to }: { from: string; to: string }): Promise<void> {
  const source = await openDatabase('--from', from);
  const target = await openDatabase('--to', to).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  try {
    await assertNoServers(source);
    if (!(await isEmpty(target))) throw new UsageError('the target is not empty; nothing was copied');
    const progress = new CopyProgress(process.stderr);
    const copied = await copyAll(source, target, (done) => progress.show(done)).finally(() => progress.clear());
    const rows = copied.map((each) => [each.table, each.rows, each.sum]);
    print(copied, `${table(['table', 'rows', 'checksum'], rows, '')}All tables were copied and verified.\n`);
  } finally {
    await source.close();
    await target.close();
  }
}

/** Charges that a running server makes after the copy would be missing in it. */
async function assertNoServers(source: Engine): Promise<void> {
  const servers = await liveServers(source, isGone);
  if (servers.length === 0) return;
  const list = servers.map(({ host, pid, leaseEndsAt }) => `process ${pid} on ${host} (lease until ${leaseEndsAt})`);
  throw new UsageError(
    `servers are using the source, nothing was copied: ${list.join(', ')}. Stop them; after a crash, wait for the lease to end`,
  );
}

async function withEngine<Kind extends Engine, Result>(
  engine: Kind,
  work: (engine: Kind) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

async function openDatabase(option: string, place: string): Promise<Engine> {
  if (/^postgres(?:ql)?:\/\//u.test(place)) return await openEngine({ ...readSettings(), databaseUrl: place });
  const file = /^sqlite:(?<file>.+)$/u.exec(place)?.groups?.['file'];
  if (file === undefined) throw new UsageError(`${option} must begin with sqlite: or postgres://`);
  if (option === '--from' && !existsSync(file)) throw new UsageError(`there is no file ${file}`);
  return new SqliteEngine(path.resolve(file));
}
