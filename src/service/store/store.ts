// Everything that is stored between requests, on either database. Every change of an account is one transaction with its entry in
// the audit log.

import { Backlog } from './backlog.ts';
import { SecretBox } from './secret-box.ts';
import { SharedTasks } from './shared-tasks.ts';
import type { Engine } from './engine.ts';
import { AccountData } from './accounts/account-data.ts';
import { LinkedIdentities } from './people/linked-identities.ts';
import type { Limits } from './limits.ts';
import { Members } from './people/members.ts';
import { CreditNotices } from './ledger/credit-notices.ts';
import { OperatorData } from './accounts/operator-data.ts';
import { createOwner } from './owner.ts';
import { PaymentEvents } from './accounts/payment-events.ts';
import { PendingWrites } from './ledger/pending-writes.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { Renders } from './renders/renders.ts';
import { BrandFiles } from './brand/brand-files.ts';
import { Styles } from './brand/styles.ts';
import { RequestLog } from './requests/request-log.ts';
import { Passkeys } from './people/passkeys.ts';
import { SecondFactors } from './people/second-factors.ts';
import { Accounts } from './accounts/accounts.ts';
import { Audit, type Clock } from './audit.ts';
import { Incidents } from './incidents/incidents.ts';
import { Idempotency } from './requests/idempotency.ts';
import { Keys } from './accounts/keys.ts';
import { ServerLease } from './lease.ts';
import { Ledger } from './ledger/ledger.ts';
import { Sessions } from './people/sessions.ts';
import { Usage } from './ledger/usage.ts';
import { Users } from './people/users.ts';
import { WebhookDeliveries } from './webhooks/webhook-deliveries.ts';
import { WebhookEndpoints } from './webhooks/webhook-endpoints.ts';

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
  /** Undefined for a database with a single server, which counts in memory. */
  readonly limits: Limits | undefined;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly requests: RequestLog;
  readonly styles: Styles;
  readonly brandFiles: BrandFiles;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly creditNotices: CreditNotices;
  readonly accountData: AccountData;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly linkedIdentities: LinkedIdentities;
  readonly members: Members;
  readonly operator: OperatorData;
  readonly incidents: Incidents;
  readonly backlog: Backlog;
  readonly sharedTasks: SharedTasks;
  close(): Promise<void>;
}

/** `box` encrypts the secrets that the service has to read again. */
export function createStore(
  engine: Engine,
  clock: Clock = () => new Date(),
  owner: string = createOwner(),
  box: SecretBox = new SecretBox(),
): Store {
  const lease = new ServerLease(engine, clock, owner);
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
    styles: new Styles(engine, clock),
    brandFiles: new BrandFiles(engine, clock),
    webhookEndpoints: new WebhookEndpoints(engine, clock, box),
    webhookDeliveries: new WebhookDeliveries(engine, clock, owner, box),
    creditNotices: new CreditNotices(engine, clock),
    accountData: new AccountData(engine, clock),
    secondFactors: new SecondFactors(engine, clock, box),
    passkeys: new Passkeys(engine, clock),
    linkedIdentities: new LinkedIdentities(engine, clock),
    members: new Members(engine, clock),
    operator: new OperatorData(engine, clock),
    incidents: new Incidents(engine, clock),
    backlog: new Backlog(engine, clock),
    sharedTasks: new SharedTasks(engine, clock, owner),
    close: async () => await engine.close(),
  };
}
