// The sums of stored bytes, which the database maintains; see `migrations.ts`.

import { first, type SqlSession } from '../engine.ts';
import { integer } from '../rows.ts';

export async function storedBytesOf(session: SqlSession, accountId: string): Promise<number> {
  const row = await first(session, 'select bytes from stored_bytes where account_id = :accountId', { accountId });
  return row === undefined ? 0 : integer(row, 'bytes');
}

/** Returns the bytes of all accounts. Reads a few rows, however many accounts there are. */
export async function storedBytesOfService(session: SqlSession): Promise<number> {
  const rows = await session.all('select bytes from stored_bytes_total');
  return rows.reduce((sum, row) => sum + integer(row, 'bytes'), 0);
}
