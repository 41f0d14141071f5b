// What must hold at the end of every simulation, when all faults are over and everything had time to finish.

import type { Engine } from '../../src/service/store/engine.ts';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { integer, text, textOrNull } from '../../src/service/store/rows.ts';
import type { Clients } from './clients.ts';
import type { SimulatedReceivers, SimulatedStorage } from './simulated-services.ts';

export interface Violation {
  readonly rule: string;
  readonly detail: string;
  /** What the history should be about. */
  readonly ids: readonly string[];
}

export interface EndState {
  readonly engine: Engine;
  readonly clients: Clients;
  readonly receivers: SimulatedReceivers;
  readonly storage: SimulatedStorage;
  /** Servers that crashed or had a wrong clock may have delivered renders that they didn't charge. */
  readonly mayUndercharge: (renderId: string) => boolean;
}

export async function violations(end: EndState): Promise<Violation[]> {
  return [
    ...(await unendedRenders(end)),
    ...(await wrongCharges(end)),
    ...(await leftHolds(end)),
    ...(await lostEvents(end)),
  ];
}

/** Every accepted render ends once, and no account waits forever. */
async function unendedRenders({ engine, clients, storage }: EndState): Promise<Violation[]> {
  const found: Violation[] = [];
  const rows = await engine.all('select id, account_id, status, output, target, error from renders');
  const statuses = new Map(rows.map((row) => [text(row, 'id'), text(row, 'status')]));
  for (const row of rows) {
    const [id, status, output] = [text(row, 'id'), text(row, 'status'), textOrNull(row, 'output')];
    if (status === 'queued' || status === 'rendering') {
      found.push({ rule: 'every accepted render ends', detail: `render ${id} is still ${status}`, ids: [id] });
    }
    // A simulated fault has a code of its own.
    if (textOrNull(row, 'error')?.includes('internal_error') === true) {
      found.push({ rule: 'no render fails for an unknown reason', detail: `render ${id} did`, ids: [id] });
    }
    const isKept = textOrNull(row, 'target') === null;
    if (status === 'succeeded' && isKept && !storage.objects.has(output ?? '')) {
      found.push({ rule: 'a render that succeeded has its result', detail: `the result of ${id} is gone`, ids: [id] });
    }
  }
  for (const id of clients.accepted.keys()) {
    if (!statuses.has(id)) found.push({ rule: 'an accepted render exists', detail: `render ${id} is gone`, ids: [id] });
  }
  if (clients.unanswered > 0) {
    const detail = `${clients.unanswered} requests have no response`;
    found.push({ rule: 'no account waits forever', detail, ids: [] });
  }
  const repeated = await engine.all(
    'select idempotency_key as key from renders where idempotency_key is not null group by 1 having count(*) > 1',
  );
  for (const row of repeated) {
    const key = text(row, 'key');
    found.push({ rule: 'a request is accepted once', detail: `${key} was accepted more than once`, ids: [key] });
  }
  const events = await engine.all(
    `select render_id, count(*) as n from render_events where type <> 'batch.completed' group by 1 having count(*) > 1`,
  );
  for (const row of events) {
    const id = text(row, 'render_id');
    found.push({ rule: 'every render ends once', detail: `render ${id} ended ${integer(row, 'n')} times`, ids: [id] });
  }
  return found;
}

/** Delivered means charged, once. */
async function wrongCharges({ engine, clients, mayUndercharge }: EndState): Promise<Violation[]> {
  const rule = 'delivered renders, and only those, are charged once';
  const found: Violation[] = [];
  const charged = new Map(
    (await engine.all("select id, credits from holds where state = 'settled'")).map((row) => [text(row, 'id'), row]),
  );
  const stored = await engine.all('select id, status, credits from renders');
  for (const row of stored) {
    const id = text(row, 'id');
    const isDelivered = text(row, 'status') === 'succeeded';
    if (isDelivered !== charged.has(id)) {
      found.push({ rule, detail: `render ${id} is ${text(row, 'status')}, charged: ${charged.has(id)}`, ids: [id] });
    }
  }
  for (const [id, { isDelivered }] of clients.waiting) {
    if (isDelivered === charged.has(id) || (isDelivered && mayUndercharge(id))) continue;
    found.push({ rule, detail: `render ${id} is delivered: ${isDelivered}, charged: ${charged.has(id)}`, ids: [id] });
  }
  const known = new Set([...stored.map((row) => text(row, 'id')), ...clients.waiting.keys()]);
  for (const id of charged.keys()) {
    if (!known.has(id)) found.push({ rule, detail: `${id} was charged and is no render`, ids: [id] });
  }
  for (const { what, accountId, sum, rows } of await reconcile(engine)) {
    found.push({
      rule: 'sums match rows',
      detail: `${what} of ${accountId} is ${sum} instead of ${rows}`,
      ids: [accountId],
    });
  }
  const sums = await engine.all(
    `select p.account_id, p.used, (select coalesce(sum(h.credits), 0) from holds h where h.account_id = p.account_id
     and h.period_starts_at = p.starts_at and h.state = 'settled') as charged from periods p`,
  );
  for (const row of sums) {
    const [accountId, used, counted] = [text(row, 'account_id'), integer(row, 'used'), integer(row, 'charged')];
    if (used === counted) continue;
    found.push({
      rule,
      detail: `${accountId} was charged ${used} credits for renders of ${counted}`,
      ids: [accountId],
    });
  }
  return found;
}

/** No hold outlives its lease. */
async function leftHolds({ engine }: EndState): Promise<Violation[]> {
  const rows = await engine.all("select id, owner from holds where state = 'reserved'");
  return rows.map((row) => {
    const id = text(row, 'id');
    return { rule: 'no hold outlives its lease', detail: `the hold of ${id} is still reserved`, ids: [id] };
  });
}

/** Every event is delivered at least once. */
async function lostEvents({ engine, receivers }: EndState): Promise<Violation[]> {
  const rows = await engine.all('select id, render_id, handled_at from render_events');
  const ended = await engine.all(
    "select id from renders where status not in ('queued', 'rendering') and id not in (select render_id from render_events)",
  );
  const missing = ended.map((row) => text(row, 'id'));
  return [
    ...rows
      .filter((row) => !receivers.received.has(`msg_${text(row, 'id')}`))
      .map((row) => {
        const [id, renderId] = [text(row, 'id'), text(row, 'render_id')];
        const detail = `the event ${id} of render ${renderId} never arrived`;
        return { rule: 'every event is delivered at least once', detail, ids: [renderId, id, `msg_${id}`] };
      }),
    ...missing.map((id) => ({ rule: 'every end has an event', detail: `render ${id} ended without one`, ids: [id] })),
  ];
}
