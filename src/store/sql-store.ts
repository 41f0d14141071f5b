// The store, on either database.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { pidNamespace } from '../primitives/pid-namespace.ts';
import { type Engine, insertRow } from './engine.ts';
import { SqlAccountData } from './account-data/sql-account-data.ts';
import { SqlLinkedIdentities } from './identities/sql-linked-identities.ts';
import { SqlMembers } from './members/sql-members.ts';
import { SqlCreditNotices } from './notices/sql-credit-notices.ts';
import { SqlOperatorData } from './operator/sql-operator-data.ts';
import { SqlRequestLog } from './requests/sql-request-log.ts';
import { RetryQueue } from './pending-writes.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { SqlRenders } from './renders/sql-renders.ts';
import { SqlPasskeys } from './security/sql-passkeys.ts';
import { SqlSecondFactors } from './security/sql-second-factors.ts';
import { SqlAccounts } from './sql-accounts.ts';
import { type Clock, SqlAudit } from './sql-audit.ts';
import { SqlIdempotency } from './sql-idempotency.ts';
import { SqlKeys } from './sql-keys.ts';
import { Lease } from './sql-lease.ts';
import { SqlLedger } from './sql-ledger.ts';
import { SqlSessions } from './sql-sessions.ts';
import { SqlUsage } from './sql-usage.ts';
import { SqlUsers } from './sql-users.ts';
import { deleteInSteps } from './bounded/steps.ts';
import type { PaymentEvents, Store } from './store.ts';
import { SqlWebhookDeliveries } from './webhooks/sql-webhook-deliveries.ts';
import { SqlWebhookEndpoints } from './webhooks/sql-webhook-endpoints.ts';
import { hasCode } from '../primitives/error-facts.ts';

export function createStore(engine: Engine, clock: Clock = () => new Date(), owner: string = createOwner()): Store {
  const lease = new Lease(engine, clock, owner);
  const pendingWrites = new RetryQueue();
  return {
    accounts: new SqlAccounts(engine, clock),
    keys: new SqlKeys(engine, clock),
    ledger: new SqlLedger(engine, clock, lease, pendingWrites),
    idempotency: new SqlIdempotency(engine, clock, lease, pendingWrites),
    renders: new SqlRenders(engine, clock, owner),
    pendingWrites,
    usage: new SqlUsage(engine, clock),
    audit: new SqlAudit(engine),
    payments: createPayments(engine, clock),
    limits: engine.dialect === 'postgres' ? new PostgresLimits(engine, clock, lease) : undefined,
    users: new SqlUsers(engine, clock),
    sessions: new SqlSessions(engine, clock),
    requests: new SqlRequestLog(engine),
    webhookEndpoints: new SqlWebhookEndpoints(engine, clock),
    webhookDeliveries: new SqlWebhookDeliveries(engine, clock, owner),
    creditNotices: new SqlCreditNotices(engine, clock),
    accountData: new SqlAccountData(engine, clock),
    secondFactors: new SqlSecondFactors(engine, clock),
    passkeys: new SqlPasskeys(engine, clock),
    linkedIdentities: new SqlLinkedIdentities(engine, clock),
    members: new SqlMembers(engine, clock),
    operator: new SqlOperatorData(engine, clock),
    close: async () => await engine.close(),
  };
}

/** Names this process as the owner of holds and idempotency keys. */
function createOwner(): string {
  return [hostname(), process.pid, pidNamespace() ?? '', randomUUID()].join('/');
}

/**
 * True when the owner was a process in this PID namespace that no longer runs. Any other owner may still run, in another
 * container for example, and is gone only when its lease has expired.
 */
export function isGone(owner: string): boolean {
  const [host, pid, namespace] = owner.split('/');
  if (host !== hostname() || namespace !== pidNamespace()) return false;
  // An earlier process with the same PID.
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

function createPayments(engine: Engine, clock: Clock): PaymentEvents {
  return {
    once: async (eventId, type, apply) => {
      const known = await engine.all('select id from payment_events where id = :eventId', { eventId });
      if (known.length > 0) return false;
      await apply();
      const added = await insertRow(
        engine,
        'payment_events',
        { id: eventId, type, received_at: clock().toISOString() },
        `on conflict (id) do nothing`,
      );
      return added === 1;
    },
    deleteBefore: async (at) => await deleteInSteps(engine, 'payment_events', ['id'], ['received_at < :at', { at }]),
  };
}
