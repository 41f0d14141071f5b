// All stored secrets together: with which keys they are encrypted, and encrypting them again.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Engine, SqlSession } from './engine.ts';
import { integer, text, textOrNull } from './rows.ts';
import { keyOf, SECRET_COLUMNS, type SecretBox } from './secret-box.ts';

const BATCH = 100;
/** `enc1.` and the id of the key. */
const PREFIX_LENGTH = 13;

/** How many secrets have each key; the name of plain text is an empty text. */
export async function countSecretsByKey(session: SqlSession): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { table, column } of SECRET_COLUMNS) {
    const rows = await session.all(
      `select case when ${column} like 'enc1.%' then substr(${column}, 6, ${PREFIX_LENGTH - 5}) end as key, count(*) as secrets
       from ${table} group by 1`,
    );
    for (const row of rows) {
      const key = textOrNull(row, 'key') ?? '';
      counts.set(key, (counts.get(key) ?? 0) + integer(row, 'secrets'));
    }
  }
  return counts;
}

/** The ids of keys that secrets need and the box lacks. */
export async function missingKeys(session: SqlSession, box: SecretBox): Promise<string[]> {
  return [...(await countSecretsByKey(session)).keys()].filter((key) => key !== '' && !box.has(key));
}

/**
 * Encrypts every secret with the first key of `to`, or stores it as plain text if `to` has none. Returns how many were changed. Servers
 * can go on, if they have all keys: each row is changed only if it still has the value that was read.
 */
export async function reencryptSecrets(engine: Engine, from: SecretBox, to: SecretBox): Promise<number> {
  let changed = 0;
  for (const { table, column, key } of SECRET_COLUMNS) {
    for (let after = ''; ; await yieldToEventLoop()) {
      const rows = await engine.all(
        `select ${key} as row_key, ${column} as stored from ${table} where ${key} > :after order by ${key} limit :limit`,
        { after, limit: BATCH },
      );
      for (const row of rows) {
        after = text(row, 'row_key');
        const stored = text(row, 'stored');
        if (keyOf(stored) === to.currentKey) continue;
        const place = { table, column, row: after };
        const secret = to.seal(place, from.open(place, stored));
        const update = `update ${table} set ${column} = :secret where ${key} = :after and ${column} = :stored`;
        changed += await engine.run(update, { secret, after, stored });
      }
      if (rows.length < BATCH) break;
    }
  }
  return changed;
}
