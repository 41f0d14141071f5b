// Deliveries of webhooks. Transactions lock the endpoint before its deliveries.

import { MAX_AHEAD_MS, MAX_FAILING_MS } from '../../account/webhook-schedule.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import type { RenderEvent } from '../renders/render.ts';
import { ROUND, Rounds } from '../bounded/rounds.ts';
import { integer, type SqlParameters, type SqlRow, text, textOrNull } from '../rows.ts';
import type { SecretBox } from '../secret-box.ts';
import { type Clock, recordAudit } from '../audit.ts';
import { endPending, ensureAccountSecrets, findEndpoint, secretsOf } from './webhook-endpoints.ts';
import { listDeliveries } from './delivery-list.ts';
import { addDelivery, lockEnabled, publishEvent } from './publish-event.ts';
import { deleteMessagesBefore } from './webhook-retention.ts';
import { toAttempt, toDelivery, toEndpoint } from './webhook-rows.ts';
import type {
  AttemptEnd,
  AttemptResult,
  ClaimedDelivery,
  DeliveryDetails,
  DeliveryPage,
  DisabledReason,
  WebhookAttempt,
  WebhookDelivery,
  WebhookMessage,
} from './webhook.ts';

/** Longer than an attempt and the write of its result can take, so it needs no renewal. */
const LEASE_MS = 60_000;
/**
 * The limits of concurrent deliveries on all servers. Servers that claim at the same moment can exceed them slightly.
 */
const MAX_PER_RECEIVER = 4;
const MAX_PER_ACCOUNT = 16;
/** A delivery can be sent again any number of times, so only its newest attempts are kept. */
const MAX_ATTEMPTS_KEPT = 50;

const WITH_TYPE = 'select d.*, m.type from webhook_deliveries d join webhook_messages m on m.id = d.message_id';
/** An attempt that has ended already, and whose write is repeated, has no owner any more. */
const IS_LATEST = "id = :id and claims = :claim and status = 'pending' and owner is not null";

/** The parameters are `:now`, and `:tooLate`, which is `MAX_AHEAD_MS` from now. */
const IS_LEASED = 'r.owner is not null and r.due_at > :now and r.due_at <= :tooLate';
const FIRST_OF_LANE = "select d.id from webhook_deliveries d where d.status = 'pending' and d.lane = lanes.lane";
/** Retries come first: new deliveries to a receiver that is slow and fails would hold them up forever. */
const FIRST_DUE = `coalesce((${FIRST_OF_LANE} and d.is_due = 0 and d.due_at <= :now order by d.due_at limit 1),
  (${FIRST_OF_LANE} and d.is_due = 1 order by d.due_at limit 1),
  (${FIRST_OF_LANE} and d.is_due = 0 and d.due_at > :tooLate order by d.due_at limit 1))`;

const NEXT_LANE = "select d.lane from webhook_deliveries d where d.status = 'pending' and d.lane >";

/**
 * The lanes after the given one, each with its first due delivery if another may be sent. Looks up one lane after the
 * other in the index, so a lane with a long backlog takes no longer than others.
 */
const CANDIDATES = `
  with recursive lanes (lane, n) as (
    select (${NEXT_LANE} :after order by d.lane limit 1), 1
    union all
    select (${NEXT_LANE} lanes.lane order by d.lane limit 1), n + 1
    from lanes where lanes.lane is not null and n < ${ROUND}
  )
  select lanes.lane, c.id, c.account_id, (
    select count(*) from webhook_deliveries r where r.account_id = c.account_id and ${IS_LEASED}
  ) as running, case when c.is_due = 1 then c.created_at else c.due_at end as since
  from lanes left join webhook_deliveries c on c.id = ${FIRST_DUE}
    and (select count(*) from webhook_deliveries r where r.account_id = c.account_id and r.lane = c.lane
         and ${IS_LEASED}) < ${MAX_PER_RECEIVER}
    and not exists (select 1 from accounts a where a.id = c.account_id and a.state = 'suspended')
  where lanes.lane is not null order by n`;

export class WebhookDeliveries {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #box: SecretBox;
  readonly #rounds = new Rounds<SqlRow>((row) => text(row, 'lane'));

  constructor(engine: Engine, clock: Clock, owner: string, box: SecretBox) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
    this.#box = box;
  }

  /**
   * Ends an event of the outbox. Adds the message, and a delivery for every enabled endpoint that is subscribed to it
   * and for the URL of the request, unless the account is suspended. Adds the event of a batch after its last render.
   * Returns how many deliveries were added, or undefined when the event was handled before.
   */
  async publish(
    event: RenderEvent,
    message: WebhookMessage,
    render: { readonly webhookUrl: string | undefined; readonly batchId: string | undefined },
  ): Promise<number | undefined> {
    return await this.#engine.transaction(
      async (session) => await publishEvent(session, { event, message, ...render }, this.#clock().toISOString()),
    );
  }

  /**
   * Adds a message for one endpoint, whatever its events. Returns undefined when the endpoint is disabled or deleted.
   */
  async send(accountId: string, endpointId: string, message: WebhookMessage): Promise<WebhookDelivery | undefined> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      const [endpoint] = await lockEnabled(session, accountId, endpointId);
      if (endpoint === undefined) return undefined;
      await insertRow(session, 'webhook_messages', {
        id: message.id,
        accountId,
        type: message.type,
        body: message.body,
        createdAt: at,
      });
      const id = await addDelivery(session, { accountId, messageId: message.id, endpointId, url: endpoint.url }, at);
      return (await findDelivery(session, accountId, id))?.delivery;
    });
  }

  /**
   * Takes the leases of deliveries that are due: at most one per receiver, those of accounts with the fewest running ones
   * first. Receivers and accounts that have too many running ones, and suspended accounts, are left out.
   */
  async claim(count: number): Promise<ClaimedDelivery[]> {
    const now = this.#clock();
    const at = now.toISOString();
    const due = { now: at, tooLate: new Date(now.getTime() + MAX_AHEAD_MS).toISOString() };
    const candidates = await this.#candidates(due, count);
    const running = new Map(candidates.map((row) => [text(row, 'account_id'), integer(row, 'running')]));
    const claimed: ClaimedDelivery[] = [];
    for (const candidate of candidates) {
      const accountId = text(candidate, 'account_id');
      const others = running.get(accountId) ?? 0;
      if (others >= MAX_PER_ACCOUNT) continue;
      // Another server may have claimed it a moment ago.
      const row = await first(
        this.#engine,
        `update webhook_deliveries set owner = :owner, is_due = 0, due_at = :leaseEnd, claims = claims + 1
         where id = :id and status = 'pending' and (is_due = 1 or due_at <= :now or due_at > :tooLate)
         returning id, account_id, lane, endpoint_id, claims`,
        {
          ...due,
          owner: this.#owner,
          leaseEnd: new Date(now.getTime() + LEASE_MS).toISOString(),
          id: text(candidate, 'id'),
        },
      );
      if (row === undefined) continue;
      running.set(accountId, others + 1);
      claimed.push(...(await this.#load(row, at)));
    }
    return claimed;
  }

  /** Returns accounts with few running deliveries first, then those that have been due for long. */
  async #candidates(due: SqlParameters, count: number): Promise<SqlRow[]> {
    const read = async (after: string): Promise<SqlRow[]> => await this.#engine.all(CANDIDATES, { ...due, after });
    for await (const lanes of this.#rounds.next(read)) {
      const found = lanes.filter((row) => row['id'] !== null);
      if (found.length > 0) return found.toSorted(byTurn).slice(0, count);
    }
    return [];
  }

  async #load(row: SqlRow, at: string): Promise<ClaimedDelivery[]> {
    const [accountId, lane] = [text(row, 'account_id'), text(row, 'lane')];
    return await this.#engine.transaction(async (session) => {
      const found = await findDelivery(session, accountId, text(row, 'id'));
      if (found === undefined) return [];
      const endpointId = textOrNull(row, 'endpoint_id');
      const claim = integer(row, 'claims');
      const secrets =
        endpointId === null
          ? await ensureAccountSecrets(session, { accountId, at }, this.#box)
          : await secretsOf(session, { accountId, lane, at }, this.#box);
      const isEnabled = endpointId === null || (await findEndpoint(session, accountId, endpointId))?.isEnabled === true;
      if (isEnabled && secrets.length > 0) return [{ ...found, claim, secrets: secrets.map(({ secret }) => secret) }];
      // Otherwise the delivery would be claimed again whenever its lease runs out.
      const end = `update webhook_deliveries set status = 'failed', owner = null, finished_at = :at, last_error = :error`;
      const error = 'The endpoint was disabled or deleted.';
      await session.run(`${end} where ${IS_LATEST}`, { at, error, id: found.delivery.id, claim });
      return [];
    });
  }

  /**
   * Writes the attempt and its consequences for the delivery and its endpoint. Deletes old attempts beyond the limit.
   */
  async endAttempt(claimed: ClaimedDelivery, attempt: WebhookAttempt, result: AttemptResult): Promise<AttemptEnd> {
    const { delivery, claim } = claimed;
    const end = await this.#engine.transaction(async (session) => {
      const disabled = await this.#noteHealth(session, delivery, result);
      if (!(await this.#endDelivery(session, claimed, attempt, result)))
        return { isWritten: false, disabled: undefined };
      await insertRow(session, 'webhook_attempts', {
        deliveryId: delivery.id,
        number: claim,
        at: attempt.at,
        durationMs: Math.round(attempt.durationMs),
        requestHeaders: JSON.stringify(attempt.requestHeaders),
        status: attempt.status ?? null,
        contentType: attempt.contentType ?? null,
        response: attempt.response,
        error: attempt.error ?? null,
      });
      await session.run(
        `delete from webhook_attempts where delivery_id = :id and number <= (
           select number from webhook_attempts where delivery_id = :id order by number desc limit 1 offset :offset)`,
        { id: delivery.id, offset: MAX_ATTEMPTS_KEPT },
      );
      if (disabled !== undefined) await this.#disable(session, delivery, disabled);
      return { isWritten: true, disabled };
    });
    if (end.disabled !== undefined && delivery.endpointId !== undefined) {
      await endPending(this.#engine, delivery.endpointId, 'The endpoint was disabled.', this.#clock().toISOString());
    }
    return end;
  }

  /** Ends the lease without recording an attempt. */
  async giveBack({ delivery, claim }: ClaimedDelivery): Promise<void> {
    await this.#makeDue(delivery.id, claim);
  }

  async find(accountId: string, deliveryId: string): Promise<WebhookDelivery | undefined> {
    const row = await first(this.#engine, `${WITH_TYPE} where d.id = :deliveryId and d.account_id = :accountId`, {
      deliveryId,
      accountId,
    });
    return row && toDelivery(row);
  }

  /** Like `find`, with the message and the attempts of the delivery. */
  async details(accountId: string, deliveryId: string): Promise<DeliveryDetails | undefined> {
    const found = await findDelivery(this.#engine, accountId, deliveryId);
    if (found === undefined) return undefined;
    const attempts = await this.#engine.all(
      'select * from webhook_attempts where delivery_id = :deliveryId order by number desc limit :limit',
      { deliveryId, limit: MAX_ATTEMPTS_KEPT },
    );
    return { ...found, attempts: attempts.map(toAttempt) };
  }

  /** Lists deliveries, newest first. */
  async list(accountId: string, page: DeliveryPage): Promise<WebhookDelivery[]> {
    return await listDeliveries(this.#engine, accountId, page);
  }

  /**
   * Makes the delivery due now, for the current URL of its endpoint, and resets its attempts. Returns false when the
   * endpoint is disabled or deleted.
   */
  async sendAgain(accountId: string, deliveryId: string): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const found = await findDelivery(session, accountId, deliveryId);
      if (found === undefined) return false;
      const { endpointId } = found.delivery;
      const [endpoint] = endpointId === undefined ? [] : await lockEnabled(session, accountId, endpointId);
      if (endpointId !== undefined && endpoint === undefined) return false;
      // A delivery that is being sent right now stays as it is.
      const changed = await session.run(
        `update webhook_deliveries set status = 'pending', attempts = 0, finished_at = null, url = :url,
           is_due = case when owner is null then 1 else 0 end, due_at = case when owner is null then :now else due_at end
         where id = :deliveryId and account_id = :accountId`,
        { now: this.#clock(), url: endpoint?.url ?? found.delivery.url, deliveryId, accountId },
      );
      return changed === 1;
    });
  }

  /** Makes the deliveries of dead processes due now, and returns their ids. */
  async releaseLost(isGone: (owner: string) => boolean): Promise<string[]> {
    const rows = await this.#engine.all(
      // The condition on the account makes SQLite use the index of running deliveries.
      "select id, owner, claims from webhook_deliveries where owner is not null and account_id > '' and owner <> :owner",
      { owner: this.#owner },
    );
    const lost = rows.filter((row) => isGone(text(row, 'owner')));
    for (const row of lost) await this.#makeDue(text(row, 'id'), integer(row, 'claims'));
    return lost.map((row) => text(row, 'id'));
  }

  /** Deletes messages that were created before `at`, with their deliveries. */
  async deleteBefore(at: Date): Promise<number> {
    return await deleteMessagesBefore(this.#engine, at.toISOString());
  }

  async #makeDue(id: string, claim: number): Promise<void> {
    await this.#engine.run(`update webhook_deliveries set owner = null, is_due = 1, due_at = :now where ${IS_LATEST}`, {
      now: this.#clock(),
      id,
      claim,
    });
  }

  async #endDelivery(
    session: SqlSession,
    { delivery, claim }: ClaimedDelivery,
    { status, error }: WebhookAttempt,
    result: AttemptResult,
  ): Promise<boolean> {
    const now = this.#clock();
    const at = now.toISOString();
    const isRetry = result.kind === 'retry';
    const next = isRetry ? 'pending' : result.kind === 'succeeded' ? 'succeeded' : 'failed';
    const dueAt = isRetry ? new Date(now.getTime() + result.delayMs).toISOString() : at;
    const changed = await session.run(
      `update webhook_deliveries set status = :next, owner = null, due_at = :dueAt, attempts = attempts + 1,
         last_status = :status, last_error = :error, finished_at = :finishedAt
       where ${IS_LATEST}`,
      {
        next,
        dueAt,
        status: status ?? null,
        error: error ?? null,
        finishedAt: isRetry ? null : at,
        id: delivery.id,
        claim,
      },
    );
    return changed === 1;
  }

  /** Remembers since when the endpoint has been failing. Returns the reason if it must be disabled now. */
  async #noteHealth(
    session: SqlSession,
    { accountId, endpointId }: WebhookDelivery,
    { kind }: AttemptResult,
  ): Promise<DisabledReason | undefined> {
    if (endpointId === undefined) return undefined;
    if (kind === 'succeeded') {
      await session.run(
        'update webhook_endpoints set failing_since = null where id = :endpointId and failing_since is not null',
        { endpointId },
      );
      return undefined;
    }
    const now = this.#clock();
    const row = await first(
      session,
      `update webhook_endpoints set failing_since = coalesce(failing_since, :now)
       where id = :endpointId and account_id = :accountId and state = 'enabled' returning *`,
      { now, endpointId, accountId },
    );
    if (row === undefined) return undefined;
    if (kind === 'gone') return 'gone';
    const failingMs = now.getTime() - new Date(toEndpoint(row).failingSince ?? now).getTime();
    return kind === 'given up' && failingMs >= MAX_FAILING_MS ? 'failing' : undefined;
  }

  async #disable(
    session: SqlSession,
    { accountId, endpointId = '' }: WebhookDelivery,
    reason: DisabledReason,
  ): Promise<void> {
    const at = this.#clock().toISOString();
    await session.run(
      `update webhook_endpoints set state = 'disabled', disabled_reason = :reason, disabled_at = :at, notice_due_at = :at
       where id = :endpointId and account_id = :accountId`,
      { reason, at, endpointId, accountId },
    );
    const entry = { actor: 'system', action: 'webhook.disabled', accountId, subject: endpointId, details: { reason } };
    await recordAudit(session, at, entry);
  }
}

function byTurn(one: SqlRow, other: SqlRow): number {
  const rankOf = (row: SqlRow): string => `${text(row, 'since')} ${text(row, 'id')}`;
  return integer(one, 'running') - integer(other, 'running') || (rankOf(one) < rankOf(other) ? -1 : 1);
}

async function findDelivery(
  session: SqlSession,
  accountId: string,
  deliveryId: string,
): Promise<{ readonly delivery: WebhookDelivery; readonly body: string } | undefined> {
  const row = await first(
    session,
    `select d.*, m.type, m.body from webhook_deliveries d join webhook_messages m on m.id = d.message_id
     where d.id = :deliveryId and d.account_id = :accountId`,
    { deliveryId, accountId },
  );
  return row && { delivery: toDelivery(row), body: text(row, 'body') };
}
