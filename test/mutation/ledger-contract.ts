// The tests of the store that concern credits, on SQLite.

import { describe } from 'vitest';
import { storeContract } from '../store/contract.ts';
import { migratedSqlite } from '../store/databases.ts';

describe('the store on SQLite', () => {
  storeContract(migratedSqlite, [
    'the ledger',
    'holds',
    'idempotency',
    'attempts of stored renders',
    'files that are sent',
    'usage, audit and payments',
    'usage details',
    'test renders',
  ]);
});
