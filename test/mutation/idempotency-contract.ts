// The tests of the store that concern idempotency keys, on SQLite.

import { describe } from 'vitest';
import { storeContract } from '../store/contract.ts';
import { migratedSqlite } from '../store/databases.ts';

describe('the store on SQLite', () => {
  storeContract(migratedSqlite, ['idempotency', 'stored renders', 'files that are sent']);
});
