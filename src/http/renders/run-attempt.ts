// One attempt to render an accepted request, with the same steps as a request that waits:
//
//   file from storage -> parse -> fetch -> probe -> compose -> reserve -> render -> store the result -> charge

import { stat } from 'node:fs/promises';
import { asyncLimits, type PlanBook } from '../../account/plans.ts';
import { ASYNC_BUDGET_MS } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import { workerKindFor } from '../../media/asset.ts';
import { type AssetFormat, KIND_OF_FORMAT } from '../../media/sniff.ts';
import type { LazyDirectory, WorkArea } from '../../media/work-area.ts';
import { must } from '../../primitives/must.ts';
import type { ObjectStorage } from '../../storage/object-storage.ts';
import {
  type ClaimedRender,
  type RenderRecord,
  type Renders,
  type RenderSuccess,
  AttemptLost,
} from '../../store/renders/renders.ts';
import type { Accounts } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import type { DiskReservation, UploadBudget } from '../limits/upload-budget.ts';
import { assertSameAsset, fetchAsset } from '../overlay/fetch-asset.ts';
import { parseRequest, type ParsedRequest } from '../overlay/parse.ts';
import type { ReceivedFile } from '../overlay/receive-asset.ts';
import { destinationIn } from '../overlay/receive.ts';
import { describeRender, executeRender, prepareRender, type StepDependencies } from '../overlay/render-steps.ts';
import type { BackgroundSlots } from './background-slots.ts';
import { putResult } from './render-result.ts';
import { assertStorageRoom } from './storage-room.ts';
import { replayOf, restoreRequest } from './stored-request.ts';

export interface AttemptDependencies extends StepDependencies {
  readonly accounts: Pick<Accounts, 'find'>;
  readonly renders: Pick<Renders, 'storageExceeded'>;
  readonly storage: ObjectStorage;
  readonly fetcher: AssetFetcher;
  readonly workArea: WorkArea;
  readonly uploads: UploadBudget;
  readonly plans: PlanBook;
  readonly slots: BackgroundSlots;
  readonly resultHours: number;
  /** Of all accounts together. */
  readonly serviceBytes: number;
}

const FETCH_SECONDS = 600;

/** What the runner wants to know about an attempt. */
export interface AttemptListener {
  /** The file is on this server. From here on, the attempt waits for a worker or uses one. */
  readonly onLoaded: () => void;
  readonly onProgress: (fraction: number) => void;
}

/** Returns the stored result. Whether it counts is decided when the row is changed. */
export async function runAttempt(
  dependencies: AttemptDependencies,
  claim: ClaimedRender,
  signal: AbortSignal,
  { onLoaded, onProgress }: AttemptListener,
): Promise<RenderSuccess> {
  const { workArea, uploads } = dependencies;
  const { renderId, number } = claim.attempt;
  const directory = workArea.lazyDirectory(`${renderId}-${number}`);
  const disk = await uploads.reserve(undefined);
  try {
    const caller = await callerOf(dependencies, claim.render);
    // An account without room for a single byte needs no fetch and no worker.
    await assertRoom(dependencies, caller, 1);
    const parsed = await loadRequest(dependencies, claim.render, { caller, directory, disk, signal });
    onLoaded();
    const kind = parsed.asset ? workerKindFor(parsed.asset) : 'image';
    return await dependencies.slots.run(kind, signal, async () => {
      return await renderAndStore(dependencies, claim, { caller, directory, disk, signal, parsed, onProgress });
    });
  } finally {
    disk.release();
    await directory.remove();
  }
}

/** For the result of a request that was accepted, and counted, before. */
async function assertRoom(
  { renders, serviceBytes }: AttemptDependencies,
  caller: Caller,
  bytes: number,
): Promise<void> {
  await assertStorageRoom(renders, caller, bytes, { serviceBytes, of: 'result' });
}

/** The caller as it was when the request was accepted. Its period is the one to charge. */
async function callerOf({ accounts, plans }: AttemptDependencies, render: RenderRecord): Promise<Caller> {
  const { accountId, keyId, mode, period, renews } = render;
  const account = must(await accounts.find(accountId), 'the account of a render');
  if (account.state === 'suspended') throw new AppError('key_suspended', 'This account is suspended.');
  const subscription = must(account.subscription, 'the subscription of an account with renders');
  const plan = plans.find(render.plan) ?? plans.get(subscription.plan);
  return { accountId, keyId, mode, plan, subscription: { ...subscription, period, renews } };
}

interface AttemptContext {
  readonly caller: Caller;
  readonly directory: LazyDirectory;
  readonly disk: DiskReservation;
  readonly signal: AbortSignal;
}

async function loadRequest(
  { storage, fetcher }: AttemptDependencies,
  render: RenderRecord,
  { caller, directory, disk, signal }: AttemptContext,
): Promise<ParsedRequest> {
  let file: ReceivedFile | undefined;
  if (render.asset) {
    const { name, format, bytes, sha256 } = render.asset;
    file = { path: directory.file('asset'), format: formatOf(format), bytes, sha256 };
    disk.grow(bytes);
    await directory.make();
    if (!(await storage.copyTo(name, file.path, signal))) throw new Error(`stored asset ${name} is missing`);
  }
  const parsed = parseRequest(restoreRequest(render.request, file), fetcher.policy);
  const replay = replayOf(render.request);
  const destination = destinationIn(directory, disk, asyncLimits(caller.plan.limits), {
    hash: replay !== undefined,
    assertRoom: () => undefined,
  });
  const ready = await fetchAsset(fetcher, parsed, { destination }, signal, FETCH_SECONDS);
  assertSameAsset({ replay }, 'assetUrl' in parsed, ready.asset?.sha256);
  return ready;
}

interface RenderPart {
  readonly parsed: ParsedRequest;
  readonly onProgress: (fraction: number) => void;
}

async function renderAndStore(
  dependencies: AttemptDependencies,
  { attempt, render }: ClaimedRender,
  { caller, directory, disk, signal, parsed, onProgress }: AttemptContext & RenderPart,
): Promise<RenderSuccess> {
  const started = performance.now();
  const { id: renderId, accountId } = render;
  const run = {
    ...{ renderId, caller, directory, signal },
    limits: asyncLimits(caller.plan.limits),
    requester: { account: accountId, budgetMs: ASYNC_BUDGET_MS, renderId, onProgress },
    isReplay: replayOf(render.request) !== undefined,
    attempt: attempt.number,
    onStep: () => undefined,
  };
  const prepared = await prepareRender(dependencies, run, parsed);
  const finished = await executeRender(dependencies, run, prepared);
  // Only now is the size known. The render fails here without a charge.
  const { size: bytes } = await stat(finished.output);
  await assertRoom(dependencies, caller, bytes);
  const renderMs = performance.now() - started;
  const headers = describeRender(prepared, finished, { renderId, receiveMs: 0, renderMs });
  const success = await putResult(
    dependencies.storage,
    { renderId, prepared, finished, headers, renderMs },
    dependencies.resultHours,
    signal,
  );
  disk.addResult(success.output.bytes);
  return success;
}

function formatOf(format: string): AssetFormat {
  if (Object.hasOwn(KIND_OF_FORMAT, format)) return format as AssetFormat;
  throw new TypeError(`the stored asset has the unknown format ${format}`);
}

/** Whether the render belongs to another server or was canceled, so that nothing about it may be changed here. */
export function isLost(error: unknown): boolean {
  return error instanceof AttemptLost;
}
