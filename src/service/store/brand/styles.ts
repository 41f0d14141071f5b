// Styles that accounts saved under a name, with their versions. The style itself is JSON text, which only callers understand.
// Transactions lock the account first.

import { must } from '../../../shared/must.ts';
import { lockAccount } from '../accounts/subscriptions.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, insertRow, type SqlSession } from '../engine.ts';
import { integer, type SqlParameters, type SqlRow, text } from '../rows.ts';

export interface StyleVersion {
  readonly name: string;
  readonly version: number;
  /** JSON text. */
  readonly style: string;
  readonly updatedAt: string;
}

export interface StyleLimits {
  readonly names: number;
  /** Versions of all styles of the account together. */
  readonly versions: number;
}

export interface WantedStyle {
  readonly name: string;
  /** Undefined for the latest one. */
  readonly version: number | undefined;
}

/** Days are enough to tell which versions are in use, and save a write per request. */
const USED_INTERVAL_MS = 24 * 3_600_000;
/** Deleted names whose numbers are remembered. */
const MAX_DELETED = 200;
/** Names per statement. */
const NAMES_AT_ONCE = 50;
const COLUMNS = 'v.name, v.version, v.style, v.created_at, v.used_at, s.version as latest';
const VERSIONS =
  'style_versions v join styles s on s.account_id = v.account_id and s.name = v.name where v.account_id = :accountId';

export class Styles {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Saves a style. A style that equals the latest version changes nothing. Returns undefined when the account has as many
   * names as allowed. Versions above the limit are deleted, those first that weren't used for the longest time.
   */
  async put(
    accountId: string,
    { name, style }: Pick<StyleVersion, 'name' | 'style'>,
    limits: StyleLimits,
    actor: Actor,
  ): Promise<StyleVersion | undefined> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      const latest = await findVersion(session, accountId, { name, version: undefined });
      if (latest?.style === style) return latest;
      if (latest === undefined && (await countNames(session, accountId)) >= limits.names) return undefined;
      const known = await first(session, `select version from styles where ${ONE_NAME}`, { accountId, name });
      const version = known === undefined ? 1 : integer(known, 'version') + 1;
      if (known === undefined) await insertRow(session, 'styles', { accountId, name, version, updatedAt: at });
      else await addVersion(session, { accountId, name, version, at });
      await insertRow(session, 'style_versions', { accountId, name, version, style, createdAt: at, usedAt: at });
      await deleteUnused(session, accountId, limits.versions);
      const details = { name, version };
      await recordAudit(session, at, { actor, action: 'style.saved', accountId, subject: name, details });
      return { name, version, style, updatedAt: at };
    });
  }

  /** Lists the latest version of every style, by name. */
  async list(accountId: string): Promise<StyleVersion[]> {
    const sql = `select ${COLUMNS} from ${VERSIONS} and v.version = s.version order by v.name`;
    return (await this.#engine.all(sql, { accountId })).map(toVersion);
  }

  async find(accountId: string, wanted: WantedStyle): Promise<StyleVersion | undefined> {
    return await findVersion(this.#engine, accountId, wanted);
  }

  /**
   * Returns the styles that exist, for use in a request, by name or by name and version, such as `acme@3`. A version that is
   * named counts as used.
   */
  async use(accountId: string, wanted: readonly WantedStyle[]): Promise<ReadonlyMap<string, StyleVersion>> {
    const names = [...new Set(wanted.map(({ name }) => name))];
    const found = new Map<string, StyleVersion>();
    for (let from = 0; from < names.length; from += NAMES_AT_ONCE) {
      const some = names.slice(from, from + NAMES_AT_ONCE);
      const parameters = Object.fromEntries(some.map((name, index) => [`name${index}`, name]));
      const list = some.map((_, index) => `:name${index}`).join(', ');
      const sql = `select ${COLUMNS} from ${VERSIONS} and v.name in (${list})`;
      for (const row of await this.#engine.all(sql, { accountId, ...parameters })) {
        const one = toVersion(row);
        if (integer(row, 'latest') === one.version) found.set(one.name, one);
        if (!wanted.some(({ name, version }) => name === one.name && version === one.version)) continue;
        found.set(`${one.name}@${one.version}`, one);
        await this.#markUsed(accountId, one, text(row, 'used_at'));
      }
    }
    return found;
  }

  /** Deletes all versions. Returns false when there is no such style. */
  async remove(accountId: string, name: string, actor: Actor): Promise<boolean> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      const removed = await session.run(`delete from style_versions where ${ONE_NAME}`, { accountId, name });
      if (removed === 0) return false;
      await session.run(`update styles set deleted_at = :at where ${ONE_NAME}`, { accountId, name, at });
      await forgetDeleted(session, accountId);
      await recordAudit(session, at, { actor, action: 'style.deleted', accountId, subject: name });
      return true;
    });
  }

  async #markUsed(accountId: string, { name, version }: StyleVersion, usedAt: string): Promise<void> {
    const now = this.#clock();
    if (now.getTime() - new Date(usedAt).getTime() < USED_INTERVAL_MS) return;
    await this.#engine.run(`update style_versions set used_at = :now where ${ONE_NAME} and version = :version`, {
      accountId,
      name,
      version,
      now,
    });
  }
}

const ONE_NAME = 'account_id = :accountId and name = :name';

async function findVersion(
  session: SqlSession,
  accountId: string,
  { name, version }: WantedStyle,
): Promise<StyleVersion | undefined> {
  const wanted = version === undefined ? 's.version' : ':version';
  const sql = `select ${COLUMNS} from ${VERSIONS} and v.name = :name and v.version = ${wanted}`;
  const row = await first(session, sql, { accountId, name, ...(version !== undefined && { version }) });
  return row && toVersion(row);
}

/** The version before was in use until now. */
async function addVersion(session: SqlSession, row: SqlParameters): Promise<void> {
  const replaced = `update style_versions set used_at = :at where ${ONE_NAME} and version = :version - 1`;
  await session.run(replaced, row);
  await session.run(`update styles set version = :version, updated_at = :at, deleted_at = null where ${ONE_NAME}`, row);
}

async function countNames(session: SqlSession, accountId: string): Promise<number> {
  const sql = 'select count(*) as n from styles where account_id = :accountId and deleted_at is null';
  return integer(must(await first(session, sql, { accountId }), 'a count'), 'n');
}

/** Never deletes the latest version of a style. */
async function deleteUnused(session: SqlSession, accountId: string, max: number): Promise<void> {
  const sql = 'select count(*) as n from style_versions where account_id = :accountId';
  const surplus = integer(must(await first(session, sql, { accountId }), 'a count'), 'n') - max;
  if (surplus <= 0) return;
  const rows = await session.all(
    `select ${COLUMNS} from ${VERSIONS} and v.version <> s.version order by v.used_at, v.created_at, v.name, v.version limit :surplus`,
    { accountId, surplus },
  );
  for (const row of rows) {
    const { name, version } = toVersion(row);
    await session.run(`delete from style_versions where ${ONE_NAME} and version = :version`, {
      accountId,
      name,
      version,
    });
  }
}

/** Deleted names would otherwise pile up without limit. */
async function forgetDeleted(session: SqlSession, accountId: string): Promise<void> {
  const rows = await session.all(
    `select name, deleted_at from styles where account_id = :accountId and deleted_at is not null
     order by deleted_at desc, name limit 1 offset :kept`,
    { accountId, kept: MAX_DELETED },
  );
  const [oldest] = rows;
  if (oldest === undefined) return;
  await session.run('delete from styles where account_id = :accountId and deleted_at <= :deletedAt', {
    accountId,
    deletedAt: text(oldest, 'deleted_at'),
  });
}

function toVersion(row: SqlRow): StyleVersion {
  return {
    name: text(row, 'name'),
    version: integer(row, 'version'),
    style: text(row, 'style'),
    updatedAt: text(row, 'created_at'),
  };
}
