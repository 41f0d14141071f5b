// One attempt to render an accepted request, with the same steps as a request that waits:
//
//   file from storage -> parse -> fetch -> probe -> compose -> reserve -> render -> store the result -> charge

import { asyncLimits, type PlanBook } from '../account/plans.ts';
import { ASYNC_BUDGET_MS, type Lease, type LeaseRequest, type Renderer, withLease } from '../dispatch/renderer.ts';
import { AppError, invalidFields } from '../../shared/errors.ts';
import { type AssetFormat, KIND_OF_FORMAT } from '../../engine/media/sniff.ts';
import type { LazyDirectory, WorkArea } from '../../engine/media/work-area.ts';
import { must } from '../../shared/must.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { ClaimedRender, RenderRecord, RenderSuccess } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { Accounts } from '../store/accounts/accounts.ts';
import type { Caller } from '../account/caller.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import type { DiskReservation, UploadBudget } from './upload-budget.ts';
import { type AccountServices, accountOrder, type LogoImages, logWarnings } from './account-order.ts';
import { assertSameAsset, fetchAsset } from './fetch-asset.ts';
import { type ParsedRequest, prepare } from './parse.ts';
import type { ReceivedFile } from '../../engine/media/receive-asset.ts';
import { destinationIn } from './asset-destination.ts';
import { performRender } from './perform-render.ts';
import type { KeptTranscript } from './speech-captions.ts';
import type { StoredResults } from './stored-results.ts';
import { type StoredRequest, writeRequest } from './stored-request.ts';

export interface AttemptDependencies extends AccountServices {
  readonly accounts: Pick<Accounts, 'find'>;
  readonly results: StoredResults;
  readonly logos: LogoImages;
  readonly storage: ObjectStorage;
  readonly fetcher: AssetFetcher;
  readonly workArea: WorkArea;
  readonly uploads: UploadBudget;
  readonly plans: PlanBook;
  readonly renderer: Renderer;
  readonly renders: Pick<Renders, 'replaceRequest'>;
}

const FETCH_SECONDS = 600;

/** Callbacks for the progress of an attempt. */
export interface AttemptListener {
  /** Called when the file is on this server. From here on, the attempt waits for a worker or uses one. */
  readonly onLoaded: () => void;
  /** Called when a worker starts to render. */
  readonly onStarted: () => void;
  /** Called when the render is long and waits for another long one. */
  readonly onHeldBack: () => void;
  readonly onProgress: (fraction: number) => void;
  /** Called when the render waits for the transcription service. */
  readonly onWaiting: () => void;
}

/** Returns the stored result. The change of the row decides whether it counts. */
export async function runAttempt(
  dependencies: AttemptDependencies,
  { stored, ...claim }: ClaimedRender & { readonly stored: StoredRequest },
  signal: AbortSignal,
  listener: AttemptListener,
): Promise<RenderSuccess> {
  const { workArea, uploads, renderer, results } = dependencies;
  const { renderId, number } = claim.attempt;
  const directory = workArea.lazyDirectory(`${renderId}-${number}`);
  const disk = await uploads.reserve(undefined);
  try {
    const caller = await callerOf(dependencies, claim.render);
    // An account without room for a single byte needs no fetch and no worker.
    await results.assertRoom(caller, 1, 'result');
    const parsed = await loadRequest(dependencies, claim.render, { caller, directory, disk, signal, stored });
    listener.onLoaded();
    const lease: LeaseRequest = {
      account: caller.accountId,
      class: 'background',
      budgetMs: { image: ASYNC_BUDGET_MS, video: ASYNC_BUDGET_MS },
      signal,
      renderId,
      onAssigned: (_worker, step) => {
        if (step === 'render') listener.onStarted();
      },
      onHeldBack: listener.onHeldBack,
    };
    return await withLease(renderer, lease, async (opened) => {
      const context = { caller, directory, disk, signal, stored, parsed, lease: opened, listener };
      return await renderAndStore(dependencies, claim, context);
    });
  } finally {
    disk.release();
    await directory.remove();
  }
}

/** Returns the caller as it was when the request was accepted. Its period is the one to charge. */
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
  readonly stored: StoredRequest;
}

async function loadRequest(
  { storage, fetcher }: AttemptDependencies,
  render: RenderRecord,
  { caller, directory, disk, signal, stored: { request, replay } }: AttemptContext,
): Promise<ParsedRequest> {
  let file: ReceivedFile | undefined;
  if (render.asset) {
    const { name, format, bytes, sha256 } = render.asset;
    file = { path: directory.file('asset'), format: formatOf(format), bytes, sha256 };
    disk.grow(bytes);
    await directory.make();
    if (!(await storage.copyTo(name, file.path, signal))) throw new Error(`stored asset ${name} is missing`);
  }
  const parsed = await prepare(request, file);
  const fault = 'assetUrl' in parsed ? fetcher.policy.faultOf(parsed.assetUrl) : undefined;
  if (fault) throw invalidFields([{ pointer: '#/asset_url', ...fault }]);
  const hash = replay !== undefined;
  const destination = destinationIn(directory, disk, asyncLimits(caller.plan.limits), { hash });
  const ready = await fetchAsset(fetcher, parsed, { destination }, signal, FETCH_SECONDS);
  assertSameAsset({ replay }, 'assetUrl' in parsed, ready.asset?.sha256);
  return ready;
}

interface RenderPart {
  readonly parsed: ParsedRequest;
  readonly lease: Lease;
  readonly listener: AttemptListener;
}

/** If it fails, its credits stay reserved for the next attempt, or are released when the render fails for good. */
async function renderAndStore(
  dependencies: AttemptDependencies,
  { attempt, render }: ClaimedRender,
  { caller, directory, disk, signal, stored, parsed, lease, listener }: AttemptContext & RenderPart,
): Promise<RenderSuccess> {
  const { id: renderId } = render;
  const isReplay = stored.replay !== undefined;
  const limits = asyncLimits(caller.plan.limits);
  const kept = keptTranscript(dependencies, attempt, stored);
  const logo = await dependencies.logos.load(caller.accountId, parsed.logo);
  const paying = { renderId, caller, limits, isReplay, logo, attempt: attempt.number, kept };
  const order = accountOrder(dependencies, parsed, paying);
  return await performRender({
    ...order,
    renderId,
    lease,
    directory,
    signal,
    keepsCaptions: true,
    onProgress: listener.onProgress,
    onWaiting: listener.onWaiting,
    reserve: async (base, recipe) => ({ ...(await order.reserve(base, recipe)), release: async () => undefined }),
    deliver: async (finished, { credits }) => {
      logWarnings(dependencies, paying, finished);
      disk.addResult(finished.bytes);
      // Only now is the size known. Without room for it, the render fails here without a charge.
      const put = render.target === undefined ? undefined : { isAwaited: false };
      return await dependencies.results.put({ renderId, caller, finished, credits, put }, signal);
    },
  });
}

/** A transcript is stored with the request, where the next attempt finds it. */
function keptTranscript(
  { renders }: AttemptDependencies,
  attempt: ClaimedRender['attempt'],
  stored: StoredRequest,
): KeptTranscript {
  const { transcript } = stored;
  return {
    transcript,
    save: async (made) => {
      await renders.replaceRequest(attempt, writeRequest({ ...stored, transcript: made }));
    },
  };
}

function formatOf(format: string): AssetFormat {
  if (Object.hasOwn(KIND_OF_FORMAT, format)) return format as AssetFormat;
  throw new TypeError(`the stored asset has the unknown format ${format}`);
}
