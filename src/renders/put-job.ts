// One try to send a finished file to the caller's `put_url`, as a job of the runner: sends it and writes how that ended. Every
// try sends the same stored bytes, so the receiver has the whole file or none, however often a server dies.

import { toProblem } from '../api/problem.ts';
import { AppError, asAppError } from '../errors.ts';
import type { PutOutcome, PutSender } from '../fetch/put-sender.ts';
import { must } from '../primitives/must.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { ClaimedRender, ExpiredObject } from '../store/renders/render.ts';
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

/** The pauses after a try that failed. The last try has none. */
const PAUSES_MS = [1_000, 5_000];
/** While the server's own storage or database fails, pauses are longer. After an hour, the delivery fails. */
const SERVER_FAILURE_PAUSE_MS = 10_000;
const MAX_SERVER_FAILURE_MS = 3_600_000;

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
    if (code !== 'shutting_down' && this.#isLate()) return await this.#fail(this.#facts, error, write);
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
      return { status: null, error: 'The file or its URL is lost.', mayRepeat: false, wasSent: false };
    }
    const contentType = must(this.#result.headers['content-type'], 'the type of the result');
    return await putSender.send(put, { ...file, contentType }, signal);
  }

  async #end({ status, error, mayRepeat, wasSent }: PutOutcome, { write }: JobControl): Promise<void> {
    const { renders, logger } = this.#dependencies;
    const before = this.#facts;
    const facts = { ...before, status: status ?? before.status, wasSent: before.wasSent || wasSent };
    if (error === undefined) return await this.#succeed(facts, write);
    const failed = { ...facts, failures: before.failures + 1 };
    const delayMs = PAUSES_MS[before.failures];
    if (!mayRepeat || delayMs === undefined) return await this.#fail(failed, notDelivered(error, facts), write);
    await write(async () => await renders.deliveries.retry(this.#claim.attempt, this.#resultWith(failed), delayMs));
    logger.info({ ...this.entry, status, error, delayMs }, 'file not delivered, retrying');
  }

  async #succeed(facts: PutFacts, write: JobControl['write']): Promise<void> {
    const { renders, metrics, logger } = this.#dependencies;
    const success = { result: this.#resultWith(facts), durationMs: facts.renderMs };
    const credits = await write(async () => await renders.deliveries.succeed(this.#claim.attempt, success));
    if (credits === undefined) return await this.#endElsewhere();
    metrics.charged(credits);
    this.#count(true, facts);
    logger.info({ ...this.entry, credits, status: facts.status }, 'file delivered');
    await this.#deleteObjects();
  }

  async #fail(facts: PutFacts, error: AppError, write: JobControl['write']): Promise<void> {
    const { renders, metrics, logger, publicUrl } = this.#dependencies;
    const { status, wasSent } = facts;
    const problem = JSON.stringify(toProblem(error, this.id, publicUrl));
    const failure = { error: problem, code: error.code, durationMs: facts.renderMs, wasSent };
    const written = { ...failure, result: this.#resultWith(facts) };
    const credits = await write(async () => await renders.deliveries.fail(this.#claim.attempt, written));
    if (credits === undefined) return await this.#endElsewhere();
    if (wasSent) metrics.deliveryBroken(credits > 0);
    metrics.charged(credits);
    this.#count(false, facts);
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

  #count(isSuccess: boolean, { renderMs: ms }: PutFacts): void {
    const { createdAt, sourceType } = this.#claim.render;
    this.#dependencies.metrics.asyncEnded(sourceType, isSuccess, { ms, ageMs: Date.now() - createdAt.getTime() });
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
