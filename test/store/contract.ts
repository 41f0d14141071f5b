// The tests that every store must pass, whatever its database.

import { afterEach, beforeEach, describe } from 'vitest';
import { accountDataContract } from './contract-account-data.ts';
import { sharedTasksContract } from './contract-shared-tasks.ts';
import { secretsContract } from './contract-secrets.ts';
import { backlogContract } from './contract-backlog.ts';
import { accountsContract } from './contract-accounts.ts';
import { auditContract } from './contract-audit.ts';
import { brandFilesContract } from './contract-brand-files.ts';
import { idempotencyContract } from './contract-idempotency.ts';
import { holdsContract } from './contract-holds.ts';
import { incidentsContract } from './contract-incidents.ts';
import { keysContract } from './contract-keys.ts';
import { ledgerContract } from './contract-ledger.ts';
import { renderAttemptsContract } from './contract-render-attempts.ts';
import { renderDeliveriesContract } from './contract-render-deliveries.ts';
import { renderEndsContract } from './contract-render-ends.ts';
import { linkedIdentitiesContract } from './contract-linked-identities.ts';
import { membersContract } from './contract-members.ts';
import { noticesContract, usageDetailsContract } from './contract-notices.ts';
import { operatorContract } from './contract-operator.ts';
import { passkeysContract } from './contract-passkeys.ts';
import { rendersContract } from './contract-renders.ts';
import { requestsContract } from './contract-requests.ts';
import { secondFactorsContract } from './contract-second-factors.ts';
import { storedBytesContract } from './contract-stored-bytes.ts';
import { stylesContract } from './contract-styles.ts';
import { subscriptionsContract } from './contract-subscriptions.ts';
import { testRendersContract } from './contract-test-renders.ts';
import { unconfirmedContract } from './contract-unconfirmed.ts';
import { usersContract } from './contract-users.ts';
import { webhookDeliveriesContract } from './contract-webhook-deliveries.ts';
import { webhookEndpointsContract } from './contract-webhook-endpoints.ts';
import type { TestDatabase } from './databases.ts';
import { World } from './world.ts';

const CONTRACTS = {
  accounts: accountsContract,
  subscriptions: subscriptionsContract,
  keys: keysContract,
  'the ledger': ledgerContract,
  holds: holdsContract,
  idempotency: idempotencyContract,
  'stored renders': rendersContract,
  'attempts of stored renders': renderAttemptsContract,
  'ends of stored renders': renderEndsContract,
  'test renders': testRendersContract,
  'saved styles': stylesContract,
  'logos and fonts': brandFilesContract,
  'files that are sent': renderDeliveriesContract,
  'stored bytes': storedBytesContract,
  'usage, audit and payments': auditContract,
  'users and sessions': usersContract,
  'accounts without a confirmed address': unconfirmedContract,
  'the log of requests': requestsContract,
  'webhook endpoints': webhookEndpointsContract,
  'webhook deliveries': webhookDeliveriesContract,
  'emails about used credits': noticesContract,
  'data of an account': accountDataContract,
  'second factors': secondFactorsContract,
  members: membersContract,
  passkeys: passkeysContract,
  'linked identities': linkedIdentitiesContract,
  'the operator': operatorContract,
  'usage details': usageDetailsContract,
  'the backlog': backlogContract,
  'secrets at rest': secretsContract,
  'shared tasks': sharedTasksContract,
  incidents: incidentsContract,
};

type ContractName = keyof typeof CONTRACTS;

/** `names` selects some of the tests. */
export function storeContract(create: () => Promise<TestDatabase>, names?: readonly ContractName[]): void {
  let world: World;
  beforeEach(async () => {
    world = await World.begin(await create());
  });
  afterEach(async () => await world.database.remove());
  const entries = Object.entries(CONTRACTS).filter(([name]) => names?.some((each) => each === name) ?? true);
  describe.each(entries)('%s', (_name, contract) => {
    contract(() => world);
  });
}
