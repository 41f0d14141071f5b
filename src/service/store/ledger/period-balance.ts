// Reads the credits of a billing period from its row.

import type { Balance } from '../../account/credits.ts';
import { first, type SqlSession } from '../engine.ts';
import { integer, type SqlRow } from '../rows.ts';

/** A period without a hold has no row yet. */
export async function readBalance(
  session: SqlSession,
  accountId: string,
  startsAt: string,
  limit: number,
): Promise<Balance> {
  const row = await first(
    session,
    'select used, reserved, granted from periods where account_id = :accountId and starts_at = :startsAt',
    { accountId, startsAt },
  );
  return row ? toBalance(row, limit) : { used: 0, reserved: 0, limit };
}

export function toBalance(row: SqlRow, limit: number): Balance {
  return {
    used: integer(row, 'used'),
    reserved: integer(row, 'reserved'),
    limit: limit + integer(row, 'granted'),
  };
}
