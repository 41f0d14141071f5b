// Files that accounts uploaded for their renders: logos and fonts. The file itself is an object in storage, which is put
// before its row is added and deleted before its row is removed. Transactions lock the account first.

import { must } from '../../../shared/must.ts';
import { lockAccount } from '../accounts/subscriptions.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, insertRow, type SqlSession } from '../engine.ts';
import { storageExceeded } from '../renders/accept-renders.ts';
import { IN_QUEUE } from '../renders/render-claims.ts';
import type { OverLimit, OverStorage, StorageLimits } from '../renders/render.ts';
import { integer, oneOf, type SqlRow, text } from '../rows.ts';

const BRAND_FILE_KINDS = ['logo', 'font'] as const;
export type BrandFileKind = (typeof BRAND_FILE_KINDS)[number];

export interface BrandFile {
  /** Also the name of its object; see `objectOf`. */
  readonly id: string;
  readonly kind: BrandFileKind;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** JSON text. */
  readonly facts: string;
  readonly createdAt: string;
}

export interface BrandFileLimits extends StorageLimits {
  /** Files of the same kind that the account may have. */
  readonly files: number;
}

export type BrandFileAddition = { readonly kind: 'added'; readonly file: BrandFile } | OverLimit<'files'> | OverStorage;

/** A deleted file whose object can go. */
interface DeletedFile extends Pick<BrandFile, 'id'> {
  /** Of the object. */
  readonly name: string;
}

/** The folder of the objects in storage. */
export const BRAND_FOLDER = 'brand';
/** A render in a request has ended by then. Those in the background are looked up. */
const KEPT_FOR_REQUESTS_MS = 3_600_000;
const COLUMNS = 'id, kind, bytes, sha256, facts, created_at';
const OWN = 'account_id = :accountId and kind = :kind and deleted_at is null';

export function objectOf({ id }: Pick<BrandFile, 'id'>): string {
  return `${BRAND_FOLDER}/${id}`;
}

export class BrandFiles {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Adds a file whose object is in storage, or returns the limit that it would exceed. */
  async add(
    accountId: string,
    file: Omit<BrandFile, 'createdAt'>,
    limits: BrandFileLimits,
    actor: Actor,
  ): Promise<BrandFileAddition> {
    const createdAt = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      const exceeded = await limitExceeded(session, { accountId, ...file }, limits);
      if (exceeded) return exceeded;
      await insertRow(session, 'brand_files', { accountId, ...file, createdAt });
      const details = { bytes: file.bytes, sha256: file.sha256 };
      const entry = { actor, action: `${file.kind}.added`, accountId, subject: file.id, details };
      await recordAudit(session, createdAt, entry);
      return { kind: 'added', file: { ...file, createdAt } } as const;
    });
  }

  /** Returns the limit that a new file would exceed, so that it can be refused before it is processed. */
  async exceeded(
    accountId: string,
    file: Pick<BrandFile, 'kind' | 'bytes'>,
    limits: BrandFileLimits,
  ): Promise<OverLimit<'files'> | OverStorage | undefined> {
    return await limitExceeded(this.#engine, { accountId, ...file }, limits);
  }

  /** Oldest first. */
  async list(accountId: string, kind: BrandFileKind): Promise<BrandFile[]> {
    const sql = `select ${COLUMNS} from brand_files where ${OWN} order by created_at, id`;
    return (await this.#engine.all(sql, { accountId, kind })).map(toFile);
  }

  /** Returns the ids of all fonts and logos that new requests can use. */
  async ids(accountId: string): Promise<ReadonlySet<string>> {
    const sql = 'select id from brand_files where account_id = :accountId and deleted_at is null';
    return new Set((await this.#engine.all(sql, { accountId })).map((row) => text(row, 'id')));
  }

  async find(accountId: string, kind: BrandFileKind, id: string): Promise<BrandFile | undefined> {
    const row = await first(this.#engine, `select ${COLUMNS} from brand_files where id = :id and ${OWN}`, {
      accountId,
      kind,
      id,
    });
    return row && toFile(row);
  }

  /** For renders that were accepted: also finds a file that has been deleted since. */
  async findKept(accountId: string, kind: BrandFileKind, id: string): Promise<BrandFile | undefined> {
    const sql = `select ${COLUMNS} from brand_files where id = :id and account_id = :accountId and kind = :kind`;
    const row = await first(this.#engine, sql, { accountId, kind, id });
    return row && toFile(row);
  }

  /** New requests can't use the file from now on. Returns false if the account doesn't have it. */
  async remove(accountId: string, kind: BrandFileKind, id: string, actor: Actor): Promise<boolean> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      const sql = `update brand_files set deleted_at = :at where id = :id and ${OWN}`;
      if ((await session.run(sql, { at, id, accountId, kind })) === 0) return false;
      await recordAudit(session, at, { actor, action: `${kind}.deleted`, accountId, subject: id });
      return true;
    });
  }

  /** Objects of deleted files that every accepted render is done with. */
  async expiredObjects(count: number): Promise<DeletedFile[]> {
    const before = new Date(this.#clock().getTime() - KEPT_FOR_REQUESTS_MS).toISOString();
    const rows = await this.#engine.all(
      `select f.id from brand_files f where f.deleted_at is not null and f.deleted_at <= :before
       and not exists (select 1 from renders r
         where r.account_id = f.account_id and r.created_at <= f.deleted_at and ${IN_QUEUE})
       order by f.deleted_at limit :count`,
      { before, count },
    );
    return rows.map((row) => ({ id: text(row, 'id'), name: objectOf({ id: text(row, 'id') }) }));
  }

  async markDeleted({ id }: DeletedFile): Promise<void> {
    await this.#engine.run('delete from brand_files where id = :id and deleted_at is not null', { id });
  }

  /** Returns the names of objects without a row. */
  async orphans(names: readonly string[]): Promise<string[]> {
    const orphans: string[] = [];
    for (const name of names) {
      const id = name.slice(BRAND_FOLDER.length + 1);
      if ((await this.#engine.all('select 1 as one from brand_files where id = :id', { id })).length === 0) {
        orphans.push(name);
      }
    }
    return orphans;
  }
}

async function limitExceeded(
  session: SqlSession,
  { accountId, kind, bytes }: Pick<BrandFile, 'kind' | 'bytes'> & { readonly accountId: string },
  limits: BrandFileLimits,
): Promise<OverLimit<'files'> | OverStorage | undefined> {
  const row = await first(session, `select count(*) as n from brand_files where ${OWN}`, { accountId, kind });
  const actual = integer(must(row, 'a count'), 'n') + 1;
  if (actual > limits.files) return { kind: 'over limit', what: 'files', actual };
  return await storageExceeded(session, { accountId, bytes }, limits);
}

function toFile(row: SqlRow): BrandFile {
  return {
    id: text(row, 'id'),
    kind: oneOf(row, 'kind', BRAND_FILE_KINDS),
    bytes: integer(row, 'bytes'),
    sha256: text(row, 'sha256'),
    facts: text(row, 'facts'),
    createdAt: text(row, 'created_at'),
  };
}
