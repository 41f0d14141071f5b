import { describe } from 'vitest';
import { storeContract } from './contract.ts';
import { migratedSqlite } from './databases.ts';

describe('the store on SQLite', () => {
  storeContract(migratedSqlite);
});
