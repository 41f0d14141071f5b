// `storybar db`: care of the database itself.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readSettings } from '../config/settings.ts';
import { copyAll, isEmpty } from '../store/copy.ts';
import type { Engine } from '../store/engine.ts';
import { MIGRATIONS } from '../store/migrations.ts';
import { reconcile } from '../store/reconcile.ts';
import { SqliteEngine } from '../store/sqlite-engine.ts';
import { UsageError } from './exit-codes.ts';
import { embeddedFile, openEngine } from '../main/open-store.ts';
import { type Print, printer, table } from './print.ts';

const HELP = `storybar db migrate                     bring the schema up to date; "serve" does so too
storybar db check                       whether all sums of credits follow from the renders; exit code 1 if not
storybar db backup <file>               a copy of the embedded database while it is in use; for PostgreSQL use pg_dump
storybar db copy --from <db> --to <db>  everything into an empty database; stop the servers first

A <db> is sqlite:<file> or postgres://user:password@host/name. All take --json.
`;

interface Task {
  readonly print: Print;
  readonly file: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

const ACTIONS: Readonly<Record<string, (task: Task) => Promise<void>>> = { migrate, check, backup, copy };

export async function dbCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [name, file] = positionals;
  if (values.help || name === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`there is no "db ${name}"; the actions are ${Object.keys(ACTIONS).join(', ')}`);
  }
  await action({ print: printer(values.json), file, from: values.from, to: values.to });
}

async function migrate({ print }: Task): Promise<void> {
  const engine = await openEngine(readSettings());
  await engine.close();
  print({ schema: MIGRATIONS.length }, `The database has schema ${MIGRATIONS.length}.\n`);
}

async function check({ print }: Task): Promise<void> {
  const differences = await withEngine(await openEngine(readSettings()), reconcile);
  const rows = differences.map((each) => [each.what, each.accountId, each.periodStartsAt, each.sum, each.rows]);
  print(differences, table(['what', 'account', 'period from', 'sum', 'rows'], rows, 'All sums are right.'));
  if (differences.length > 0) process.exitCode = 1;
}

async function backup({ print, file }: Task): Promise<void> {
  const settings = readSettings();
  if (settings.databaseUrl !== '') throw new UsageError('this is a PostgreSQL database: use pg_dump');
  if (file === undefined) throw new UsageError('name the file to write: storybar db backup <file>');
  if (existsSync(file)) throw new UsageError(`${file} exists; a backup never writes over anything`);
  const source = embeddedFile(settings.dataDirectory);
  if (!existsSync(source)) throw new UsageError(`there is no database ${source}`);
  await withEngine(new SqliteEngine(source), async (engine) => await engine.backup(path.resolve(file)));
  print({ file }, `${file} holds everything up to now. To use it, put it in place of ${source}.\n`);
}

async function copy({ print, from, to }: Task): Promise<void> {
  if (from === undefined || to === undefined) throw new UsageError('say --from and --to; see storybar db --help');
  const source = await openPlace('--from', from);
  const target = await openPlace('--to', to).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  try {
    if (!(await isEmpty(target))) throw new UsageError('the target is not empty; nothing was copied');
    const copied = await copyAll(source, target);
    const rows = copied.map((each) => [each.table, each.rows, each.sum]);
    print(copied, `${table(['table', 'rows', 'checksum'], rows, '')}All read back and equal.\n`);
  } finally {
    await source.close();
    await target.close();
  }
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

async function openPlace(option: string, place: string): Promise<Engine> {
  if (/^postgres(?:ql)?:\/\//u.test(place)) return await openEngine({ dataDirectory: '', databaseUrl: place });
  const file = /^sqlite:(?<file>.+)$/u.exec(place)?.groups?.['file'];
  if (file === undefined) throw new UsageError(`${option} must begin with sqlite: or postgres://`);
  if (option === '--from' && !existsSync(file)) throw new UsageError(`there is no file ${file}`);
  return new SqliteEngine(path.resolve(file));
}
