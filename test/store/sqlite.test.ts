import { describe } from 'vitest';
import { storeContract } from './contract.ts';
import { sqliteDatabase } from './databases.ts';

describe('the store on SQLite', () => {
  storeContract(async () => sqliteDatabase());
});
