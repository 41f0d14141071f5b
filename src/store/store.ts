// Everything that is stored between requests, on either database. Every change of an account is one transaction with its entry in
// the audit log.

import type { Engine } from './engine.ts';
import { AccountData } from './account-data/sql-account-data.ts';
import { LinkedIdentities } from './identities/sql-linked-identities.ts';
import type { Limits } from './limits.ts';
import { Members } from './members/sql-members.ts';
import { CreditNotices } from './notices/sql-credit-notices.ts';
import { OperatorData } from './operator/sql-operator-data.ts';
import { createOwner } from './owner.ts';
import { PaymentEvents } from './payment-events.ts';
import { PendingWrites } from './pending-writes.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { Renders } from './renders/sql-renders.ts';
import { RequestLog } from './requests/sql-request-log.ts';
import { Passkeys } from './security/sql-passkeys.ts';
import { SecondFactors } from './security/sql-second-factors.ts';
import { Accounts } from './sql-accounts.ts';
import { Audit, type Clock } from './sql-audit.ts';
import { Idempotency } from './sql-idempotency.ts';
import { Keys } from './sql-keys.ts';
import { Lease } from './sql-lease.ts';
import { Ledger } from './sql-ledger.ts';
import { Sessions } from './sql-sessions.ts';
import { Usage } from './sql-usage.ts';
import { Users } from './sql-users.ts';
import { WebhookDeliveries } from './webhooks/sql-webhook-deliveries.ts';
import { WebhookEndpoints } from './webhooks/sql-webhook-endpoints.ts';

export interface Store {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly idempotency: Idempotency;
  readonly renders: Renders;
  readonly pendingWrites: PendingWrites;
  readonly usage: Usage;
  readonly audit: Audit;
  readonly payments: PaymentEvents;
  /** Undefined for a database of one server, which counts in memory. */
  readonly limits: Limits | undefined;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly requests: RequestLog;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly creditNotices: CreditNotices;
  readonly accountData: AccountData;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly linkedIdentities: LinkedIdentities;
  readonly members: Members;
  readonly operator: OperatorData;
  close(): Promise<void>;
}

export function createStore(engine: Engine, clock: Clock = () => new Date(), owner: string = createOwner()): Store {
  const lease = new Lease(engine, clock, owner);
  const pendingWrites = new PendingWrites();
  return {
    accounts: new Accounts(engine, clock),
    keys: new Keys(engine, clock),
    ledger: new Ledger(engine, clock, lease, pendingWrites),
    idempotency: new Idempotency(engine, clock, lease, pendingWrites),
    renders: new Renders(engine, clock, owner),
    pendingWrites,
    usage: new Usage(engine, clock),
    audit: new Audit(engine),
    payments: new PaymentEvents(engine, clock),
    limits: engine.dialect === 'postgres' ? new PostgresLimits(engine, clock, lease) : undefined,
    users: new Users(engine, clock),
    sessions: new Sessions(engine, clock),
    requests: new RequestLog(engine),
    webhookEndpoints: new WebhookEndpoints(engine, clock),
    webhookDeliveries: new WebhookDeliveries(engine, clock, owner),
    creditNotices: new CreditNotices(engine, clock),
    accountData: new AccountData(engine, clock),
    secondFactors: new SecondFactors(engine, clock),
    passkeys: new Passkeys(engine, clock),
    linkedIdentities: new LinkedIdentities(engine, clock),
    members: new Members(engine, clock),
    operator: new OperatorData(engine, clock),
    close: async () => await engine.close(),
  };
}
