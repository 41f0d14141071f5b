import { beforeAll, describe, inject } from 'vitest';
import { NO_POSTGRES } from '../postgres-server.ts';
import { storeContract } from './contract.ts';
import { databaseAt, emptyDatabase, migratedDatabase } from './databases.ts';

const url = inject('postgresUrl');

describe.skipIf(url === '')(`the store on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, () => {
  let place: string;
  beforeAll(async () => {
    place = await migratedDatabase(url);
  });

  storeContract(async () => {
    await emptyDatabase(place);
    return databaseAt(place);
  });
});
