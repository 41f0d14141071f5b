import { describe, inject } from 'vitest';
import { NO_POSTGRES } from '../postgres-server.ts';
import { storeContract } from './contract.ts';
import { postgresDatabase } from './databases.ts';

const url = inject('postgresUrl');

describe.skipIf(url === '')(`the store on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, () => {
  storeContract(async () => await postgresDatabase(url));
});
