// The schema, and which programs can use which database. Every database stores the version of its schema and the oldest
// version whose programs still work with it, so that two versions of the program can run side by side during a rollout.

import { ACCOUNTS, FORMER_ACCOUNTS } from './accounts/migrations.ts';
import { BRAND } from './brand/migrations.ts';
import { INCIDENTS } from './incidents/migrations.ts';
import { FORMER_LEDGER, LEDGER } from './ledger/migrations.ts';
import { type Migration, replaceTables, together, unchanged } from './migration.ts';
import { FORMER_PEOPLE, PEOPLE } from './people/migrations.ts';
import { FORMER_RENDERS, RENDERS } from './renders/migrations.ts';
import { FORMER_REQUESTS, REQUESTS } from './requests/migrations.ts';
import { FORMER_WEBHOOKS, WEBHOOKS } from './webhooks/migrations.ts';

/** Entries of the audit log can be deleted only with their account. */
const AUDIT_LOG: Migration = {
  common: `
create table audit (
  seq integer primary key autoincrement,
  at text not null,
  actor text not null,
  action text not null,
  account_id text,
  subject text not null,
  details text not null
) strict;
create index audit_by_account on audit (account_id, seq);
create index audit_by_actor on audit (account_id, actor, at);
`,
  sqlite: `
create trigger audit_no_update before update on audit begin select raise(abort, 'the audit log only grows'); end;
create trigger audit_no_delete before delete on audit
  when old.account_id is null or exists (select 1 from accounts where id = old.account_id and deleted_at is null)
  begin select raise(abort, 'the audit log only grows'); end;
create trigger audit_no_replace before insert on audit when exists (select 1 from audit where seq = new.seq)
  begin select raise(abort, 'the audit log only grows'); end;
`,
  postgres: `
create function audit_only_grows() returns trigger language plpgsql as $body$
  begin raise exception 'the audit log only grows'; end
$body$;
create function audit_keeps_accounts() returns trigger language plpgsql as $body$
  begin
    if old.account_id is null
       or exists (select 1 from accounts where id = old.account_id and deleted_at is null) then
      raise exception 'the audit log only grows';
    end if;
    return old;
  end
$body$;
create trigger audit_no_change before update or truncate on audit
  for each statement execute function audit_only_grows();
create trigger audit_no_delete before delete on audit for each row execute function audit_keeps_accounts();
`,
};

/** For PostgreSQL, where rows that are inserted with a number don't advance the sequence. */
export const CONTINUE_AUDIT_NUMBERS =
  "select setval(pg_get_serial_sequence('audit', 'seq'), (select coalesce(max(seq), 0) + 1 from audit), false)";

/**
 * The periodic tasks that one server does for all, one row each, and limits that several servers share from one second to the
 * next. A crash of the database may lose these, hence `unlogged`.
 */
const SHARED: Migration = {
  common: `
create table shared_tasks (
  name text primary key,
  owner text,
  leased_until text,
  done_at text
) strict;
`,
  postgres: `
create unlogged table rates (name text primary key, full_at double precision not null);
create unlogged table places (
  account_id text not null,
  owner text not null,
  running bigint not null,
  primary key (account_id, owner)
);
`,
};

/** All tables of a new database, each after those it references. */
const TABLES = together([ACCOUNTS, PEOPLE, LEDGER, RENDERS, REQUESTS, WEBHOOKS, BRAND, INCIDENTS, AUDIT_LOG, SHARED]);

/** The released version whose databases can be upgraded. */
const RELEASED = { version: '0.2.0', schema: 15 } as const;

const FROM_RELEASED = replaceTables(
  {
    ...FORMER_ACCOUNTS,
    ...FORMER_PEOPLE,
    ...FORMER_LEDGER,
    ...FORMER_RENDERS,
    ...FORMER_REQUESTS,
    ...FORMER_WEBHOOKS,
    ...unchanged('audit'),
  },
  {
    ...TABLES,
    postgres: `
drop function audit_only_grows, audit_keeps_accounts;
drop table rates, places;
${TABLES.postgres}
${CONTINUE_AUDIT_NUMBERS};
`,
  },
);

/** The version of a database with `TABLES`, which is greater than that of every unreleased program. */
const BASELINE = 100;

/** Applied in order after `TABLES`, each once, and never edited after a release. */
const LATER: readonly Migration[] = [];

export interface SchemaState {
  /** 0 for an empty database. */
  readonly version: number;
  /** The oldest version whose programs can use the database. */
  readonly compatibleFrom: number;
}

/** The schema that this program needs. */
export const SCHEMA: SchemaState = { version: BASELINE + LATER.length, compatibleFrom: compatibleFrom(LATER) };

/** Returns the version of the last migration that older programs can't cope with. */
export function compatibleFrom(later: readonly Migration[]): number {
  return BASELINE + later.findLastIndex(({ isCompatible }) => isCompatible !== true) + 1;
}

/**
 * Returns the migrations to apply: none if the database is newer but still works with this program. Throws if it
 * doesn't, or if no released program made it.
 */
export function pendingMigrations({ version, compatibleFrom: oldest }: SchemaState): readonly Migration[] {
  if (oldest > SCHEMA.version) {
    throw new Error(
      `the database has schema ${version}, which needs a program with schema ${oldest} or newer; this one has schema ` +
        `${SCHEMA.version}. Install a newer version, or restore the backup from before the migration`,
    );
  }
  if (version >= BASELINE) return LATER.slice(version - BASELINE);
  if (version === 0) return [TABLES, ...LATER];
  if (version === RELEASED.schema) return [FROM_RELEASED, ...LATER];
  throw new Error(
    `the database has schema ${version} of a version that was never released, so it can't be upgraded. Only databases of ` +
      `version ${RELEASED.version} (schema ${RELEASED.schema}) can. Restore a backup of one, or start with an empty database`,
  );
}
