// One attempt at an accepted render, as a job of the runner: renders it and writes how it ended.

import { toProblem } from '../api/problem.ts';
import { ASYNC_BUDGET_MS, QueueUnavailable } from '../dispatch/renderer.ts';
import { AppError, asAppError } from '../../shared/errors.ts';
import { ERRORS } from '../../shared/error-table.ts';
import { AttemptLost } from '../store/renders/lock-attempt.ts';
import type { ClaimedRender, RenderSuccess } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type JobControl, type LeasedJob, LeaseLost } from './leased-runner.ts';
import { type AttemptDependencies, runAttempt } from './run-attempt.ts';
import { readRequest, type StoredRequest } from './stored-request.ts';

export interface StoredRenderJobDependencies extends AttemptDependencies {
  readonly renders: Renders;
  readonly metrics: Metrics;
  /** Used for links to the documentation in problems. Undefined if it isn't set. */
  readonly publicUrl: string | undefined;
}

const MAX_RETRY_MS = 30_000;
const FIRST_RETRY_MS = 500;
/** A render that ends its worker again and again is itself the cause. */
const MAX_ATTEMPTS = 20;
export class StoredRenderJob implements LeasedJob {
  readonly id: string;
  readonly entry: LeasedJob['entry'];
  /** Its file is being fetched. While it waits for a worker afterwards, it must not keep other files from arriving. */
  isFetching: boolean;
  /** It is long and waits for another long one, or it waits for the transcription service. It must not keep short ones from being claimed. */
  isHeldBack = false;
  /** Its file is due to be sent to the caller's URL, by another job. */
  isHandedOver = false;
  readonly #dependencies: StoredRenderJobDependencies;
  readonly #claim: ClaimedRender;
  readonly #onRoom: () => void;
  /** Undefined until the request has been read, once per attempt. */
  #stored: StoredRequest | undefined;
  #progress = 0;
  #deadline: NodeJS.Timeout | undefined;

  /** `onRoom` is called when the job makes room for another one before it ends. */
  constructor(
    dependencies: StoredRenderJobDependencies,
    claim: ClaimedRender,
    isFetching: boolean,
    onRoom: () => void,
  ) {
    const { attempt, render } = claim;
    this.id = attempt.renderId;
    this.entry = { renderId: attempt.renderId, accountId: render.accountId, attempt: attempt.number };
    this.isFetching = isFetching;
    this.#dependencies = dependencies;
    this.#claim = claim;
    this.#onRoom = onRoom;
  }

  async renew(): Promise<boolean> {
    return await this.#dependencies.renders.renew(this.#claim.attempt, this.#progress);
  }

  async run(control: JobControl): Promise<void> {
    const { logger } = this.#dependencies;
    const started = performance.now();
    try {
      const success = await this.#render(control);
      await this.#succeed(success, control);
      await this.#endTranscript(!this.isHandedOver && success.credits > 0);
      await this.#deleteAsset();
      const { credits, durationMs } = success;
      const ended = this.isHandedOver
        ? 'asynchronous render finished, sending its file'
        : 'asynchronous render succeeded';
      logger.info({ ...this.entry, credits, ms: Math.round(durationMs) }, ended);
    } catch (error) {
      const cause: unknown = control.signal.aborted ? control.signal.reason : error;
      const isLost = cause instanceof LeaseLost || cause instanceof AttemptLost;
      if (isLost) {
        logger.info(this.entry, 'asynchronous render canceled or taken over');
        await this.#endTranscript(false);
      } else await this.#end(asAppError(cause), performance.now() - started, control);
    } finally {
      clearTimeout(this.#deadline);
    }
  }

  async #render(control: JobControl): Promise<RenderSuccess> {
    const { request, asset } = this.#claim.render;
    const stored = readRequest(request, asset !== undefined);
    this.#stored = stored;
    return await runAttempt(this.#dependencies, { ...this.#claim, stored }, control.signal, {
      onLoaded: () => {
        if (!this.isFetching) return;
        this.isFetching = false;
        this.#onRoom();
      },
      onStarted: () => {
        this.isHeldBack = false;
        this.#start(control);
      },
      onHeldBack: () => this.#holdBack(),
      onWaiting: () => this.#holdBack(),
      onProgress: (fraction) => {
        this.#progress = fraction;
      },
    });
  }

  #holdBack(): void {
    this.isHeldBack = true;
    this.#onRoom();
  }

  /** A worker renders. The deadline counts from the first start of the render. */
  #start({ abort }: JobControl): void {
    const { renders, logger } = this.#dependencies;
    renders
      .start(this.#claim.attempt)
      .catch((error: unknown) => logger.warn({ ...this.entry, err: error }, 'start of a render not written'));
    const detail = `The render took longer than ${ASYNC_BUDGET_MS / 1_000} seconds.`;
    this.#deadline ??= setTimeout(
      () => abort(new AppError('deadline_exceeded', detail)),
      Math.max(0, ASYNC_BUDGET_MS - this.#ageMs()),
    ).unref();
  }

  /** Since the first attempt started to render. */
  #ageMs(): number {
    return Date.now() - (this.#claim.render.startedAt ?? new Date()).getTime();
  }

  async #succeed(success: RenderSuccess, { write }: JobControl): Promise<void> {
    const { renders, storage, metrics } = this.#dependencies;
    const { attempt, render } = this.#claim;
    this.isHandedOver = render.target !== undefined;
    if (this.isHandedOver) {
      if (await write(async () => await renders.deliveries.handOver(attempt, success))) return;
    } else if (await write(async () => await renders.succeed(attempt, success))) {
      metrics.charged(success.credits);
      const ageMs = Date.now() - render.createdAt.getTime();
      metrics.asyncEnded(success.sourceType, true, { ms: success.durationMs, ageMs });
      return;
    }
    // A repeated write finds the render ended by the first one, whose outcome was unknown.
    const stored = await renders.find({ accountId: render.accountId }, this.id);
    if (stored?.output?.token === success.output.token) return;
    await storage.delete(success.output.name);
    throw new LeaseLost(this.id);
  }

  /** The sweep would delete the asset, too, but later. Never rejects. */
  async #deleteAsset(): Promise<void> {
    const { renders, storage, logger } = this.#dependencies;
    const { asset } = this.#claim.render;
    if (asset === undefined) return;
    try {
      await storage.delete(asset.name);
      await renders.markDeleted({ renderId: this.id, kind: 'asset', name: asset.name });
    } catch (error) {
      logger.warn(
        { renderId: this.id, object: asset.name, err: error },
        'stored object not deleted, left to the sweep',
      );
    }
  }

  /** A temporary failure leaves the render, with its credits, to a later attempt. */
  async #end(error: AppError, durationMs: number, { write }: JobControl): Promise<void> {
    const { renders, logger, metrics, publicUrl } = this.#dependencies;
    const { attempt, render } = this.#claim;
    const entry = { ...this.entry, code: error.code };
    try {
      if (this.#mayRepeat(error)) {
        const delayMs = error.code === 'shutting_down' ? 0 : retryDelayMs(attempt.number, error.retryAfterSeconds);
        const err = error.cause;
        logger.info({ ...entry, delayMs, ...(err !== undefined && { err }) }, 'asynchronous render postponed');
        await this.#endTranscript(false);
        await write(async () => await renders.giveBack(attempt, delayMs));
        return;
      }
      const problem = toProblem(error, this.id, publicUrl);
      const failure = { error: JSON.stringify(problem), code: error.code, durationMs, isCharged: error.isCharged };
      await write(async () => await renders.fail(attempt, failure));
      const ageMs = Date.now() - render.createdAt.getTime();
      metrics.asyncEnded(render.sourceType, false, { ms: durationMs, ageMs });
      await this.#deleteAsset();
      await this.#endTranscript(error.isCharged);
      if (problem.status >= 500) logger.error({ ...entry, err: error.cause ?? error }, 'asynchronous render failed');
      else logger.info(entry, 'asynchronous render refused');
    } catch (unwritten) {
      logger.warn({ ...entry, err: unwritten }, 'end of an asynchronous render not written, left to its lease');
    }
  }

  /** A transcription counts against the account unless its render is charged. */
  async #endTranscript(isCharged: boolean): Promise<void> {
    const { render } = this.#claim;
    if (this.#stored?.request.speech) await this.#dependencies.speechCaptions.end(render, this.id, isCharged);
  }

  /** Neither a shutdown nor unavailable workers nor a storage that is unavailable or full can be the fault of the render. */
  #mayRepeat(error: AppError): boolean {
    const { code } = error;
    if (!isTemporary(error) || this.#ageMs() >= ASYNC_BUDGET_MS) return false;
    const isOurs = code === 'shutting_down' || code.startsWith('storage_') || error instanceof QueueUnavailable;
    return isOurs || this.#claim.attempt.number < MAX_ATTEMPTS;
  }
}

/** Of failed transcriptions, only those of a busy service are repeated, because others may have cost money. */
function isTemporary({ code, retryAfterSeconds }: AppError): boolean {
  if (code === 'transcription_failed') return retryAfterSeconds !== undefined;
  return ERRORS[code].isTemporary === true;
}

/** The time grows with each attempt, and is at least the one that the error names, up to 30 seconds. */
function retryDelayMs(attempt: number, retryAfterSeconds = 0): number {
  const growing = FIRST_RETRY_MS * 2 ** Math.min(10, attempt - 1);
  return Math.min(MAX_RETRY_MS, Math.max(growing, retryAfterSeconds * 1_000));
}
