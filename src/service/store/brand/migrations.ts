// The tables of what accounts save for their renders.

import type { Migration } from '../migration.ts';
import { addToSums, REMOVE_EMPTY } from '../renders/migrations.ts';

/**
 * A deleted style keeps its row without versions, because the numbers of versions go on when it is saved again. A logo or a font
 * is the object `brand/<id>`; `facts` is JSON text that only callers understand. A deleted file keeps its row until no accepted
 * render needs it. The bytes are part of the sums of stored bytes, which the database maintains.
 */
export const BRAND: Migration = {
  common: `
create table styles (
  account_id text not null references accounts (id),
  name text not null,
  version integer not null,
  updated_at text not null,
  deleted_at text,
  primary key (account_id, name)
) strict;
create table style_versions (
  account_id text not null references accounts (id),
  name text not null,
  version integer not null,
  style text not null,
  created_at text not null,
  used_at text not null,
  primary key (account_id, name, version)
) strict;
create table brand_files (
  id text primary key,
  account_id text not null references accounts (id),
  kind text not null check (kind in ('logo', 'font')),
  bytes integer not null,
  sha256 text not null,
  facts text not null,
  created_at text not null,
  deleted_at text
) strict;
create index brand_files_by_account on brand_files (account_id, kind, created_at, id);
create index brand_files_deleted on brand_files (deleted_at) where deleted_at is not null;
`,
  sqlite: `
create trigger brand_files_stored_insert after insert on brand_files
  begin
    ${addToSums('new.account_id', 'new.bytes')}
  end;
create trigger brand_files_stored_delete after delete on brand_files
  begin
    ${addToSums('old.account_id', '-old.bytes')}
    ${REMOVE_EMPTY}
  end;
`,
  postgres: `
create function brand_files_stored() returns trigger language plpgsql as $body$
  begin
    if tg_op = 'INSERT' then perform add_stored_bytes(new.account_id, new.bytes);
    else perform add_stored_bytes(old.account_id, -old.bytes);
    end if;
    return null;
  end
$body$;
create trigger brand_files_stored after insert or delete on brand_files
  for each row execute function brand_files_stored();
`,
};
