// One try to send a finished file to the caller's `put_url`, as a job of the runner: sends it and writes how that ended. Every
// try sends the same stored bytes, so the receiver has the whole file or none, however often a server dies.

import { putDelayMs } from '../account/put-schedule.ts';
import { toProblem } from '../api/problem.ts';
import { AppError, asAppError } from '../../shared/errors.ts';
import type { PutOutcome, PutSender } from '../fetch/put-sender.ts';
import { must } from '../../shared/must.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { ClaimedRender, DeliveryEnd, ExpiredObject } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type JobControl, type LeasedJob, LeaseLost } from './leased-runner.ts';
import type { PutTargets } from './put-targets.ts';
import { parseResult, type RenderResult } from './render-result.ts';

export interface PutJobDependencies {
  readonly renders: Renders;
  readonly storage: ObjectStorage;
  readonly targets: PutTargets;
  readonly putSender: Pick<PutSender, 'send'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Used for links to the documentation in problems. Undefined if it isn't set. */
  readonly publicUrl: string | undefined;
}

/** While the server's own storage or database fails, the file is due again after this pause. */
const SERVER_FAILURE_PAUSE_MS = 10_000;
/** After this time, a delivery fails. The tries of the receiver take up to an hour of it. */
const MAX_SERVER_FAILURE_MS = 2 * 3_600_000;

type PutFacts = NonNullable<RenderResult['put']>;

export class PutJob implements LeasedJob {
  readonly id: string;
  readonly entry: LeasedJob['entry'];
  readonly #dependencies: PutJobDependencies;
  readonly #claim: ClaimedRender;
  readonly #result: RenderResult;

  constructor(dependencies: PutJobDependencies, claim: ClaimedRender) {
    const { attempt, render } = claim;
    this.id = attempt.renderId;
    this.entry = { renderId: attempt.renderId, accountId: render.accountId, attempt: attempt.number };
    this.#dependencies = dependencies;
    this.#claim = claim;
    this.#result = parseResult(must(render.result, 'the result of a render whose file is sent'));
  }

  async renew(): Promise<boolean> {
    return await this.#dependencies.renders.renew(this.#claim.attempt, 1);
  }

  async run(control: JobControl): Promise<void> {
    const { logger } = this.#dependencies;
    try {
      const outcome = await this.#send(control.signal);
      await this.#end(outcome, control);
    } catch (error) {
      const cause: unknown = control.signal.aborted ? control.signal.reason : error;
      if (cause instanceof LeaseLost) {
        logger.info(this.entry, 'delivery of a file taken over');
        return;
      }
      await this.#retryAfterServerFailure(asAppError(cause), control).catch((err: unknown) => {
        logger.warn({ ...this.entry, err }, 'end of a delivery not written, left to its lease');
      });
    }
  }

  /** The server stops, or its storage or database is unavailable. The receiver isn't to blame, so the try doesn't count. */
  async #retryAfterServerFailure(error: AppError, { write }: JobControl): Promise<void> {
    const { renders, logger } = this.#dependencies;
    const { code } = error;
    const isFinal = code === 'delivery_failed' || (code !== 'shutting_down' && this.#isLate());
    if (isFinal) return await this.#fail(this.#facts, error, { isBroken: false, write });
    const delayMs = code === 'shutting_down' ? 0 : SERVER_FAILURE_PAUSE_MS;
    const err = error.cause ?? error;
    logger.warn({ ...this.entry, code, delayMs, err }, 'delivery of a file interrupted, retrying');
    await renders.giveBack(this.#claim.attempt, delayMs);
  }

  #isLate(): boolean {
    return Date.now() - Date.parse(this.#facts.readyAt) >= MAX_SERVER_FAILURE_MS;
  }

  get #facts(): PutFacts {
    return must(this.#result.put, 'the facts of a file that is sent');
  }

  async #send(signal: AbortSignal): Promise<PutOutcome> {
    const { storage, targets, putSender } = this.#dependencies;
    const { target, output } = this.#claim.render;
    const put = await targets.read(must(target, 'the target of a file that is sent'));
    const file = await storage.get(must(output, 'the file that is sent').name);
    if (put === undefined || file === undefined) {
      file?.body.destroy();
      throw new AppError('delivery_failed', 'The file or its URL is lost.');
    }
    const contentType = must(this.#result.headers['content-type'], 'the type of the result');
    return await putSender.send(put, { ...file, contentType }, signal);
  }

  async #end({ status, error, mayRepeat }: PutOutcome, { write }: JobControl): Promise<void> {
    const { renders, logger } = this.#dependencies;
    const facts = { ...this.#facts, status: status ?? this.#facts.status };
    if (error === undefined) return await this.#succeed(facts, write);
    const failed = { ...facts, failures: facts.failures + 1 };
    const delayMs = mayRepeat ? putDelayMs(failed.failures, facts.isAwaited) : undefined;
    if (delayMs === undefined) {
      return await this.#fail(failed, notDelivered(error, facts), { isBroken: true, write });
    }
    await write(async () => await renders.deliveries.retry(this.#claim.attempt, this.#resultWith(failed), delayMs));
    logger.info({ ...this.entry, status, error, delayMs }, 'file not delivered, retrying');
  }

  async #succeed(facts: PutFacts, write: JobControl['write']): Promise<void> {
    const { renders, metrics, logger } = this.#dependencies;
    const success = { result: this.#resultWith(facts), durationMs: facts.renderMs };
    const end = await write(async () => await renders.deliveries.succeed(this.#claim.attempt, success));
    if (end === undefined) return await this.#endElsewhere();
    const { credits } = end;
    metrics.charged(credits);
    this.#count(true, facts, end);
    logger.info({ ...this.entry, credits, status: facts.status }, 'file delivered');
    await this.#deleteObjects();
  }

  /** `isBroken` means that the receiver is the cause; see `account/broken-delivery.ts`. */
  async #fail(
    facts: PutFacts,
    error: AppError,
    { isBroken, write }: Pick<JobControl, 'write'> & { readonly isBroken: boolean },
  ): Promise<void> {
    const { renders, metrics, logger, publicUrl } = this.#dependencies;
    const { status } = facts;
    const problem = JSON.stringify(toProblem(error, this.id, publicUrl));
    const failure = { error: problem, code: error.code, durationMs: facts.renderMs, isBroken };
    const written = { ...failure, result: this.#resultWith(facts) };
    const end = await write(async () => await renders.deliveries.fail(this.#claim.attempt, written));
    if (end === undefined) return await this.#endElsewhere();
    const { credits } = end;
    if (isBroken) metrics.deliveryBroken(credits > 0);
    metrics.charged(credits);
    this.#count(false, facts, end);
    logger.info({ ...this.entry, credits, status, code: error.code, error: error.message }, 'file not delivered');
    await this.#deleteObjects();
  }

  /** A repeated write finds the render ended by the first one, whose outcome was unknown. Otherwise another server has it. */
  async #endElsewhere(): Promise<void> {
    const { renders, logger } = this.#dependencies;
    const { accountId } = this.#claim.render;
    const { finishedAt } = (await renders.find({ accountId }, this.id)) ?? {};
    logger.info(this.entry, 'delivery of a file taken over');
    if (finishedAt !== undefined) await this.#deleteObjects();
  }

  #count(isSuccess: boolean, { renderMs: ms }: PutFacts, { hadHold }: DeliveryEnd): void {
    const { metrics, logger } = this.#dependencies;
    const { createdAt, sourceType } = this.#claim.render;
    metrics.asyncEnded(sourceType, isSuccess, { ms, ageMs: Date.now() - createdAt.getTime() });
    if (hadHold) return;
    metrics.holdLost();
    logger.error(this.entry, 'delivery ended without a charge, its hold is lost');
  }

  #resultWith(put: PutFacts): string {
    return JSON.stringify({ ...this.#result, put });
  }

  /** The sweep would delete them, too, but later. Never rejects. */
  async #deleteObjects(): Promise<void> {
    const { renders, storage, logger } = this.#dependencies;
    const { target, output, asset } = this.#claim.render;
    const objects: readonly (readonly [ExpiredObject['kind'], string | undefined])[] = [
      ['target', target],
      ['output', output?.name],
      ['asset', asset?.name],
    ];
    for (const [kind, name] of objects) {
      if (name === undefined) continue;
      try {
        await storage.delete(name);
        await renders.markDeleted({ renderId: this.id, kind, name });
      } catch (error) {
        logger.warn({ ...this.entry, object: name, err: error }, 'stored object not deleted, left to the sweep');
      }
    }
  }
}

function notDelivered(detail: string, { status }: PutFacts): AppError {
  return new AppError('delivery_failed', detail, status === null ? {} : { upstreamStatus: status });
}
