// Endpoints of webhooks and the secrets that sign them. Transactions lock the account or the endpoint first.

import { randomUUID } from 'node:crypto';
import { createWebhookSecret } from '../../account/webhook-secret.ts';
import { must } from '../../../shared/must.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { changeInSteps } from '../bounded/steps.ts';
import { integer, text } from '../rows.ts';
import type { SecretBox, SecretPlace } from '../secret-box.ts';
import { lockAccount } from '../accounts/subscriptions.ts';
import { toEndpoint, toSecret } from './webhook-rows.ts';
import type { NewWebhookEndpoint, WebhookEndpoint, WebhookEndpointChange, WebhookSecret } from './webhook.ts';

/** The server that was to notify the owner may have crashed, or the mail server was unavailable. */
const NOTICE_RETRY_MS = 10 * 60_000;
/** An email that the mail server refuses for this long will never be accepted. */
const NOTICE_GIVEN_UP_MS = 24 * 3_600_000;
const OWN = 'account_id = :accountId and id = :endpointId';

export class WebhookEndpoints {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #box: SecretBox;

  constructor(engine: Engine, clock: Clock, box: SecretBox) {
    this.#engine = engine;
    this.#clock = clock;
    this.#box = box;
  }

  /** Returns the secret of the endpoint, or undefined when the account has `max` endpoints already. */
  async create(endpoint: NewWebhookEndpoint, max: number, actor: Actor): Promise<string | undefined> {
    const { id, accountId, url, events } = endpoint;
    const at = this.#now();
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      const others = await first(session, 'select count(*) as n from webhook_endpoints where account_id = :accountId', {
        accountId,
      });
      if (integer(must(others, 'a count'), 'n') >= max) return undefined;
      await insertRow(session, 'webhook_endpoints', {
        id,
        accountId,
        url,
        events: JSON.stringify(events),
        state: 'enabled',
        createdAt: at,
      });
      const secret = await addSecret(session, { accountId, lane: id, at }, this.#box);
      const details = { host: new URL(url).host, events };
      await recordAudit(session, at, { actor, action: 'webhook.created', accountId, subject: id, details });
      return secret;
    });
  }

  async find(accountId: string, endpointId: string): Promise<WebhookEndpoint | undefined> {
    return await findEndpoint(this.#engine, accountId, endpointId);
  }

  /** Lists endpoints, oldest first. */
  async list(accountId: string): Promise<WebhookEndpoint[]> {
    const sql = 'select * from webhook_endpoints where account_id = :accountId order by created_at, id';
    return (await this.#engine.all(sql, { accountId })).map(toEndpoint);
  }

  /** Deletes the endpoint and ends its pending deliveries. Returns false when there is none. */
  async remove(accountId: string, endpointId: string, actor: Actor): Promise<boolean> {
    const at = this.#now();
    const isRemoved = await this.#engine.transaction(async (session) => {
      if ((await session.run(`delete from webhook_endpoints where ${OWN}`, { accountId, endpointId })) === 0)
        return false;
      await session.run('delete from webhook_secrets where lane = :endpointId', { endpointId });
      await recordAudit(session, at, { actor, action: 'webhook.deleted', accountId, subject: endpointId });
      return true;
    });
    if (isRemoved) await endPending(this.#engine, endpointId, 'The endpoint was deleted.', at);
    return isRemoved;
  }

  /** Changes where and what is sent. Waiting deliveries go to the new URL. Returns false when there is no such endpoint. */
  async update(
    accountId: string,
    endpointId: string,
    { url, events }: WebhookEndpointChange,
    actor: Actor,
  ): Promise<boolean> {
    const at = this.#now();
    const isFound = await this.#engine.transaction(async (session) => {
      const changed = await session.run(
        // A new URL may work, so the endpoint no longer counts as failing.
        `update webhook_endpoints set failing_since = case when url = coalesce(:url, url) then failing_since end,
           url = coalesce(:url, url), events = coalesce(:events, events)
         where ${OWN}`,
        { url: url ?? null, events: events === undefined ? null : JSON.stringify(events), accountId, endpointId },
      );
      if (changed === 0) return false;
      const details = { ...(url !== undefined && { host: new URL(url).host }), ...(events && { events }) };
      await recordAudit(session, at, { actor, action: 'webhook.changed', accountId, subject: endpointId, details });
      return true;
    });
    if (isFound && url !== undefined) {
      await changeInSteps(this.#engine, ['update webhook_deliveries set url = :url', { url }], {
        table: 'webhook_deliveries',
        key: ['id'],
        condition: ["lane = :endpointId and status = 'pending' and url <> :url", { endpointId, url }],
      });
    }
    return isFound;
  }

  /** Disabling ends the pending deliveries of the endpoint. Returns false when there is none. */
  async setEnabled(accountId: string, endpointId: string, isEnabled: boolean, actor: Actor): Promise<boolean> {
    const at = this.#now();
    const isFound = await this.#engine.transaction(async (session) => {
      const state = isEnabled ? 'enabled' : 'disabled';
      const [reason, disabledAt] = isEnabled ? [null, null] : ['user', at];
      const changed = await session.run(
        `update webhook_endpoints set state = :state, disabled_reason = :reason, disabled_at = :disabledAt, failing_since = null,
           notice_due_at = null
         where ${OWN} and state <> :state`,
        { state, reason, disabledAt, accountId, endpointId },
      );
      if (changed === 0) return (await findEndpoint(session, accountId, endpointId)) !== undefined;
      await recordAudit(session, at, { actor, action: `webhook.${state}`, accountId, subject: endpointId });
      return true;
    });
    if (isFound && !isEnabled) await endPending(this.#engine, endpointId, 'The endpoint was disabled.', at);
    return isFound;
  }

  /** Lists secrets newest first, without those that have expired. */
  async secrets(accountId: string, endpointId: string): Promise<WebhookSecret[]> {
    return await secretsOf(this.#engine, { accountId, lane: endpointId, at: this.#now() }, this.#box);
  }

  /**
   * Adds a secret. Webhooks are signed with both secrets for `overlapMs`. Returns the new one, or undefined when there
   * is no endpoint.
   */
  async rotate(accountId: string, endpointId: string, overlapMs: number, actor: Actor): Promise<string | undefined> {
    return await this.#engine.transaction(async (session) => {
      // This locks the endpoint, so that two rotations happen one after the other.
      const lock = `update webhook_endpoints set url = url where ${OWN}`;
      if ((await session.run(lock, { accountId, endpointId })) === 0) return undefined;
      return await this.#rotate(session, { accountId, lane: endpointId, overlapMs, actor });
    });
  }

  /** Returns the secrets for URLs in requests, newest first. Creates one the first time. */
  async accountSecrets(accountId: string): Promise<WebhookSecret[]> {
    return await this.#engine.transaction(
      async (session) => await ensureAccountSecrets(session, { accountId, at: this.#now() }, this.#box),
    );
  }

  async rotateAccountSecret(accountId: string, overlapMs: number, actor: Actor): Promise<string> {
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      return await this.#rotate(session, { accountId, lane: accountId, overlapMs, actor });
    });
  }

  /**
   * Returns an endpoint that was disabled automatically and whose owner hasn't been notified. It isn't returned again
   * for a while, nor at all once it has been disabled for a day.
   */
  async claimNotice(): Promise<WebhookEndpoint | undefined> {
    const now = this.#clock();
    const at = now.toISOString();
    const later = (ms: number): string => new Date(now.getTime() + ms).toISOString();
    const row = await first(
      this.#engine,
      `update webhook_endpoints set notice_due_at = case when disabled_at > :givenUpBefore then :retryAt end where notice_due_at <= :at and id = (
         select id from webhook_endpoints where notice_due_at <= :at order by notice_due_at limit 1)
       returning *`,
      { givenUpBefore: later(-NOTICE_GIVEN_UP_MS), retryAt: later(NOTICE_RETRY_MS), at },
    );
    return row && toEndpoint(row);
  }

  /** An endpoint that was enabled and disabled again since then has another notice. */
  async endNotice({ id, disabledAt }: Pick<WebhookEndpoint, 'id' | 'disabledAt'>): Promise<void> {
    const update = 'update webhook_endpoints set notice_due_at = null where id = :id and disabled_at = :disabledAt';
    await this.#engine.run(update, { id, disabledAt: disabledAt ?? null });
  }

  async #rotate(
    session: SqlSession,
    { accountId, lane, overlapMs, actor }: { accountId: string; lane: string; overlapMs: number; actor: Actor },
  ): Promise<string> {
    const now = this.#clock();
    const at = now.toISOString();
    const end = new Date(now.getTime() + overlapMs).toISOString();
    // A secret that was already rotated out keeps its own, earlier end.
    await session.run('update webhook_secrets set expires_at = :end where lane = :lane and expires_at is null', {
      end,
      lane,
    });
    await session.run('delete from webhook_secrets where lane = :lane and expires_at <= :at', { lane, at });
    const secret = await addSecret(session, { accountId, lane, at }, this.#box);
    const details = { overlapMs };
    await recordAudit(session, at, { actor, action: 'webhook.rotated', accountId, subject: lane, details });
    return secret;
  }

  #now(): string {
    return this.#clock().toISOString();
  }
}

export async function findEndpoint(
  session: SqlSession,
  accountId: string,
  endpointId: string,
): Promise<WebhookEndpoint | undefined> {
  const row = await first(session, `select * from webhook_endpoints where ${OWN}`, { accountId, endpointId });
  return row && toEndpoint(row);
}

/**
 * Ends deliveries that wait or are being sent at this moment, so that they have no further attempt. Runs in steps after
 * the endpoint was disabled or deleted, because there may be many. Those that a crash leaves out end when they are
 * claimed.
 */
export async function endPending(engine: Engine, endpointId: string, error: string, at: string): Promise<void> {
  const isEnabled = "select 1 from webhook_endpoints e where e.id = webhook_deliveries.lane and e.state = 'enabled'";
  const condition = `lane = :endpointId and status = 'pending' and not exists (${isEnabled})`;
  await changeInSteps(
    engine,
    [
      "update webhook_deliveries set status = 'failed', owner = null, finished_at = :at, last_error = :error",
      { at, error },
    ],
    { table: 'webhook_deliveries', key: ['id'], condition: [condition, { endpointId }] },
  );
}

interface SecretsOfLane {
  readonly accountId: string;
  readonly lane: string;
  readonly at: string;
}

/** Returns the secrets newest first. The current one comes before those that were rotated out. */
export async function secretsOf(
  session: SqlSession,
  { accountId, lane, at }: SecretsOfLane,
  box: SecretBox,
): Promise<WebhookSecret[]> {
  const rows = await session.all(
    `select id, secret, created_at, expires_at from webhook_secrets
     where lane = :lane and account_id = :accountId and (expires_at is null or expires_at > :at)
     order by case when expires_at is null then 0 else 1 end, expires_at desc`,
    { lane, accountId, at },
  );
  return rows.map((row) => {
    const stored = toSecret(row);
    return { ...stored, secret: box.open(placeOf(text(row, 'id')), stored.secret) };
  });
}

/** Returns the account's own secrets, which sign webhooks to URLs in requests, and creates one on first use. */
export async function ensureAccountSecrets(
  session: SqlSession,
  { accountId, at }: Omit<SecretsOfLane, 'lane'>,
  box: SecretBox,
): Promise<WebhookSecret[]> {
  const own = { accountId, lane: accountId, at };
  const known = await secretsOf(session, own, box);
  if (known.length > 0) return known;
  await lockAccount(session, accountId);
  const added = await secretsOf(session, own, box);
  if (added.length === 0) await addSecret(session, own, box);
  return await secretsOf(session, own, box);
}

async function addSecret(session: SqlSession, { accountId, lane, at }: SecretsOfLane, box: SecretBox): Promise<string> {
  const [id, secret] = [randomUUID(), createWebhookSecret()];
  const row = { id, accountId, lane, secret: box.seal(placeOf(id), secret), createdAt: at };
  await insertRow(session, 'webhook_secrets', row);
  return secret;
}

function placeOf(id: string): SecretPlace {
  return { table: 'webhook_secrets', column: 'secret', row: id };
}
