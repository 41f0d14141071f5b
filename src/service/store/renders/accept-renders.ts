// Accepts renders: checks the limits of the account, claims the idempotency key and inserts the rows, in one
// transaction.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { first, insertRow, insertRows, type SqlSession } from '../engine.ts';
import { integer, type SqlParameters, text } from '../rows.ts';
import { completeKey } from '../ledger/holds.ts';
import { countTestRenders } from '../ledger/test-renders.ts';
import { lockAccount } from '../accounts/subscriptions.ts';
import { freeUnusedKey } from '../requests/idempotency.ts';
import { IN_QUEUE } from './render-claims.ts';
import type {
  AcceptedKey,
  AcceptOptions,
  Acceptance,
  FinishedOptions,
  NewRender,
  NewRenderBatch,
  OverStorage,
  RenderStatus,
  StorageDemand,
  StorageLimits,
} from './render.ts';
import { storedBytesOf, storedBytesOfService } from './stored-bytes.ts';
import { must } from '../../../shared/must.ts';

/**
 * Rows per statement. On SQLite, the transaction pauses after each statement, so that a large batch doesn't block the
 * server.
 */
const ROWS = 10;
const KEY_LIFETIME_MS = 24 * 3_600_000;

export async function acceptRenders(
  session: SqlSession,
  renders: readonly NewRender[],
  { limits, batch, idempotency }: AcceptOptions,
  { now, self }: { readonly now: Date; readonly self: string },
): Promise<Acceptance> {
  const { accountId } = must(renders[0], 'a render to accept');
  // Renders of one account are added one after the other, so that they can't exceed a limit together.
  await lockAccount(session, accountId);
  if (idempotency) {
    const slot = { accountId, ...idempotency, id: batch?.id ?? must(renders[0], 'a render to accept').id };
    const known = await claimKey(session, slot, { now, self });
    if (known) return known;
  }
  const exceeded = await limitExceeded(session, renders, limits, now);
  if (exceeded) {
    // Nothing was accepted, so the key is free for another try.
    if (idempotency && idempotency.isRepeat !== true)
      await session.run('delete from idempotency where account_id = :accountId and key = :key', {
        accountId,
        key: idempotency.key,
      });
    return exceeded;
  }
  if (batch) await insertBatch(session, batch, now);
  for (let start = 0; start < renders.length; start += ROWS) {
    if (start > 0) await yieldToEventLoop();
    const some = renders.slice(start, start + ROWS);
    await insertRows(
      session,
      'renders',
      some.map((render) => rowOf(render, { status: 'queued', now, key: idempotency?.key })),
    );
  }
  return { kind: 'accepted' };
}

interface KeyClaim extends AcceptedKey {
  readonly accountId: string;
  readonly id: string;
}

/**
 * Returns undefined when the renders are to be accepted. A new key is complete from the start, because its render
 * exists from now on.
 */
async function claimKey(
  session: SqlSession,
  claim: KeyClaim,
  { now, self }: { readonly now: Date; readonly self: string },
): Promise<Acceptance | undefined> {
  const { accountId, key, fingerprint, id } = claim;
  await freeUnusedKey(session, { accountId, key }, { now, self });
  const added = await insertRow(
    session,
    'idempotency',
    {
      accountId,
      key,
      fingerprint,
      renderId: id,
      owner: null,
      state: 'done',
      facts: '{}',
      expiresAt: new Date(now.getTime() + KEY_LIFETIME_MS).toISOString(),
    },
    `on conflict (account_id, key) do nothing`,
  );
  if (added === 1) return undefined;
  return await claimUsedKey(session, claim);
}

async function claimUsedKey(
  session: SqlSession,
  { accountId, key, fingerprint, waitingFingerprint, isRepeat = false }: KeyClaim,
): Promise<Acceptance | undefined> {
  const row = await first(
    session,
    'select fingerprint, render_id, state, facts from idempotency where account_id = :accountId and key = :key',
    { accountId, key },
  );
  // A request without `async` had the key, and has just failed.
  if (row === undefined) return { kind: 'in flight' };
  const isDone = text(row, 'state') === 'done';
  if (text(row, 'fingerprint') === fingerprint) {
    return isDone ? { kind: 'replayed', id: text(row, 'render_id') } : { kind: 'in flight' };
  }
  if (text(row, 'fingerprint') !== waitingFingerprint) return { kind: 'mismatch' };
  if (!isDone) return { kind: 'in flight' };
  const stored = await first(
    session,
    'select id from renders where account_id = :accountId and idempotency_key = :key order by created_at desc limit 1',
    { accountId, key },
  );
  if (stored !== undefined) return { kind: 'replayed', id: text(stored, 'id') };
  return isRepeat ? undefined : { kind: 'delivered', facts: text(row, 'facts') };
}

async function limitExceeded(
  session: SqlSession,
  renders: readonly NewRender[],
  limits: AcceptOptions['limits'],
  now: Date,
): Promise<Acceptance | undefined> {
  const { accountId, mode } = must(renders[0], 'a render to accept');
  const active = await first(
    session,
    `select count(*) as n from renders where account_id = :accountId and ${IN_QUEUE}`,
    { accountId },
  );
  const queued = integer(must(active, 'a count'), 'n') + renders.length;
  if (queued > limits.queuedRenders) return { kind: 'over limit', what: 'queuedRenders', actual: queued };
  const bytes = renders.reduce((sum, { asset }) => sum + (asset?.bytes ?? 0), 0);
  const stored = await storageExceeded(session, { accountId, bytes }, limits);
  if (stored || mode === 'live') return stored;
  const tests = { accountId, renders: renders.length, limit: limits.testRendersPerDay };
  const actual = await countTestRenders(session, tests, now.toISOString());
  return actual === undefined ? undefined : { kind: 'over limit', what: 'testRendersPerDay', actual };
}

export async function storageExceeded(
  session: SqlSession,
  { accountId, bytes }: StorageDemand,
  limits: StorageLimits,
): Promise<OverStorage | undefined> {
  const stored = (await storedBytesOf(session, accountId)) + bytes;
  if (stored > limits.storedBytes) return { kind: 'over limit', what: 'storedBytes', actual: stored };
  const ofService = (await storedBytesOfService(session)) + bytes;
  return ofService > limits.serviceBytes ? { kind: 'over limit', what: 'serviceBytes', actual: ofService } : undefined;
}

/** Thrown to roll back the end of a render whose hold isn't reserved any more. */
export class HoldGone extends Error {}

/**
 * Inserts a render that was made inside its request, and completes the idempotency key. Returns what exceeds a limit, without
 * a change.
 */
export async function addRendered(
  session: SqlSession,
  render: NewRender,
  { bytes, limits, remember, owner, now }: RenderedRow,
): Promise<OverStorage | undefined> {
  const { id, accountId } = render;
  await lockAccount(session, accountId);
  const exceeded = await storageExceeded(session, { accountId, bytes }, limits);
  if (exceeded) return exceeded;
  if (remember !== undefined && !(await completeKey(session, id, remember))) throw new HoldGone();
  await insertRow(session, 'renders', rowOf(render, { status: 'rendering', owner, now, key: remember?.key }));
  return undefined;
}

interface RenderedRow extends Pick<FinishedOptions, 'limits' | 'remember'> {
  readonly bytes: number;
  readonly owner: string;
  readonly now: Date;
}

async function insertBatch(
  session: SqlSession,
  { id, accountId, keyId, mode }: NewRenderBatch,
  now: Date,
): Promise<void> {
  await insertRow(session, 'render_batches', { id, accountId, keyId: keyId ?? null, mode, createdAt: now });
}

interface RowState {
  readonly status: RenderStatus;
  /** Set for a render that isn't waiting. */
  readonly owner?: string;
  readonly now: Date;
  readonly key: string | undefined;
}

function rowOf(
  {
    id,
    accountId,
    keyId,
    mode,
    batchId,
    request,
    plan,
    period,
    renews,
    target,
    receiver,
    lane,
    asset,
    maxRunning,
  }: NewRender,
  { status, owner, now, key }: RowState,
): SqlParameters {
  return {
    id,
    accountId,
    keyId: keyId ?? null,
    mode,
    batchId: batchId ?? null,
    idempotencyKey: key ?? null,
    status,
    owner: owner ?? null,
    lane,
    request,
    plan,
    periodStartsAt: period.startsAt,
    periodEndsAt: period.endsAt,
    renews,
    maxRunning,
    asset: asset?.name ?? null,
    assetFormat: asset?.format ?? null,
    assetBytes: asset?.bytes ?? 0,
    assetSha256: asset?.sha256 ?? null,
    hasAsset: asset !== undefined,
    target: target ?? null,
    hasTarget: target !== undefined,
    receiver: receiver === undefined ? null : `${accountId} ${receiver}`,
    // A caption without an asset counts as an image.
    sourceType: lane === 'fetch' ? null : lane,
    isDue: true,
    dueAt: now,
    createdAt: now,
  };
}
