import { beforeAll, describe, inject } from 'vitest';
import { createDatabase, NO_POSTGRES } from '../postgres-server.ts';
import { storeContract } from './contract.ts';
import { databaseAt, migratedDatabase } from './databases.ts';

const url = inject('postgresUrl');

describe.skipIf(url === '')(`the store on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, () => {
  let template: string;
  beforeAll(async () => {
    template = await migratedDatabase(url);
  });

  storeContract(async () => databaseAt(await createDatabase(url, template)));
});
