// POST /v1/overlay: the whole story of a request, in order.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import { parseForm } from '../../caption/form.ts';
import { type AssetKind, KIND_OF_FORMAT } from '../../media/sniff.ts';
import type { LazyDirectory, WorkArea } from '../../media/work-area.ts';
import type { Metrics, RequestType } from '../../telemetry/metrics.ts';
import { type AdmitDependencies, type Admitted, admit } from './admit.ts';
import { acceptAsset, announcedBytes, assetDestination, inviteBody, type ParsedRequest } from './asset.ts';
import { beginRender } from './begin-render.ts';
import type { CreditReservations, Reservation } from './reserve.ts';
import type { IdempotentRequest, IdempotencyKeys } from './idempotency.ts';
import { onClosed } from '../transport/on-closed.ts';
import { watchPace } from '../transport/pace.ts';
import { receiveForm } from './receive.ts';
import { outcomeOf } from './refusals.ts';
import { createRequestSignal, type RequestSignal } from '../transport/request-signal.ts';
import { type FileSender, renderHeaders } from './send.ts';
import type { UploadBudget } from '../limits/upload-budget.ts';

export interface OverlayDependencies extends AdmitDependencies {
  readonly idempotency: IdempotencyKeys;
  readonly reservations: CreditReservations;
  readonly workArea: WorkArea;
  readonly uploads: UploadBudget;
  readonly sender: FileSender;
  readonly metrics: Metrics;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

/** Decides first, before the framework has looked at so much as the type of the body; then renders. */
export function overlayRoute(dependencies: OverlayDependencies): RouteShorthandOptionsWithHandler {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  return {
    onRequest: async (request, reply) => {
      try {
        admitted.set(request, await admit(dependencies, request, reply));
      } catch (error) {
        dependencies.metrics.requestEnded('none', outcomeOf(error), reply.elapsedTime / 1_000);
        throw error;
      }
    },
    handler: async (request, reply) => {
      const visitor = admitted.get(request);
      if (visitor === undefined) throw new Error('an overlay was asked for without authentication');
      return await new OverlayRequest(dependencies, request, reply, visitor).run();
    },
  };
}

/** One request, from its body to its last byte. */
class OverlayRequest {
  readonly #dependencies: OverlayDependencies;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #visitor: Admitted;
  /** True once a hold exists: from then on the ledger knows how the request ends. */
  #reserved = false;
  #type: RequestType = 'none';

  constructor(dependencies: OverlayDependencies, request: FastifyRequest, reply: FastifyReply, visitor: Admitted) {
    this.#dependencies = dependencies;
    this.#request = request;
    this.#reply = reply;
    this.#visitor = visitor;
  }

  async run(): Promise<FastifyReply> {
    const { workArea, shutdown, refusals, metrics } = this.#dependencies;
    const life = createRequestSignal(this.#reply.raw, shutdown);
    const directory = workArea.lazyDirectory(randomUUID());
    let outcome = 'delivered';
    try {
      await this.#answer(directory, life);
      return this.#reply;
    } catch (error) {
      outcome = outcomeOf(error);
      if (!this.#reserved) refusals.add(this.#visitor.caller, error);
      throw error;
    } finally {
      life.release();
      metrics.requestEnded(this.#type, outcome, this.#reply.elapsedTime / 1_000);
      await directory.remove();
    }
  }

  async #answer(directory: LazyDirectory, life: RequestSignal): Promise<void> {
    const { idempotency, sender } = this.#dependencies;
    const { caller, idempotencyKey } = this.#visitor;
    const wanted = await this.#receive(directory, life);
    const attempt = await idempotency.begin(caller, idempotencyKey, wanted.form, this.#request.id);
    const { before } = attempt;
    if (before) this.#reply.header('idempotency-replayed', 'true');
    if (before?.file !== undefined) {
      await sender.send(this.#reply, before.file, before.headers);
      return;
    }
    try {
      await this.#render(directory, life, wanted, attempt);
    } catch (error) {
      await attempt.abandon();
      throw error;
    }
  }

  async #receive(directory: LazyDirectory, life: RequestSignal): Promise<ParsedRequest> {
    const started = performance.now();
    const { caller, idempotencyKey } = this.#visitor;
    const { renderer, uploads, habits } = this.#dependencies;
    const { limits } = caller.plan;
    const destination = assetDestination(directory.file('asset'), limits, {
      hash: idempotencyKey !== undefined,
      prepare: async () => await directory.make(),
      // Before most of it has come: who would be turned away later is told now.
      onFormat: (format) => {
        habits.note(caller.accountId, KIND_OF_FORMAT[format]);
        renderer.expect(caller.accountId, KIND_OF_FORMAT[format]);
      },
    });
    onClosed(this.#reply.raw, await uploads.promise(announcedBytes(this.#request, limits)));
    const endWatch = watchPace(this.#request.raw, (reason) => life.giveUp(reason));
    try {
      const invite = (): void => inviteBody(this.#request, this.#reply);
      const form = await receiveForm(this.#request.raw, destination, life.signal, invite);
      const wanted = parseForm(form);
      const asset = form.asset && acceptAsset(form.asset);
      this.#type = asset?.kind ?? 'overlay';
      return { ...wanted, form, asset, receiveMs: performance.now() - started };
    } finally {
      endWatch();
    }
  }

  async #render(
    directory: LazyDirectory,
    life: RequestSignal,
    wanted: ParsedRequest,
    attempt: IdempotentRequest,
  ): Promise<void> {
    const { renderer, reservations, deadlineMs } = this.#dependencies;
    const { caller } = this.#visitor;
    const { limits } = caller.plan;
    const { asset } = wanted;
    const started = performance.now();
    const budgetMs = deadlineMs[asset?.kind ?? 'image'];
    const watermark = caller.mode === 'test';
    const output = directory.file('output');
    life.startDeadline(budgetMs);
    await directory.make();
    // What was delivered before is free.
    const priceOf = (credits: number): number => (attempt.before ? 0 : credits);
    const render = await beginRender(
      renderer,
      { wanted, limits, watermark, output, share: { account: caller.accountId, budgetMs } },
      life.signal,
      (credits) => reservations.isSureOf(caller, priceOf(credits)),
    );
    const order = {
      renderId: this.#request.id,
      kind: asset?.kind ?? 'overlay',
      credits: priceOf(render.credits),
    } as const;
    const charge = await reservations.reserve(caller, order).catch(async (error: Error) => {
      life.giveUp(error);
      await render.ended();
      throw error;
    });
    this.#reserved = true;
    try {
      const facts = await render.facts();
      const renderMs = performance.now() - started;
      const renderId = attempt.before?.renderId ?? order.renderId;
      const report = { renderId, kind: asset?.kind ?? 'image', facts, renderMs, receiveMs: wanted.receiveMs } as const;
      await this.#deliver(output, renderHeaders(report), charge, attempt, renderMs);
    } catch (error) {
      await charge.release(outcomeOf(error), performance.now() - started);
      throw error;
    }
  }

  /** Charged when the last byte has been written, not before. Nothing fails after that. */
  async #deliver(
    output: string,
    headers: Readonly<Record<string, string>>,
    charge: Reservation,
    attempt: IdempotentRequest,
    renderMs: number,
  ): Promise<void> {
    const { marketplace, sender, metrics } = this.#dependencies;
    const bill = {
      'x-credits-charged': String(charge.credits),
      'x-credits-remaining': String(charge.remaining),
      ...(marketplace.isClaimed(this.#request.headers) && { [marketplace.billingHeader]: `Credits=${charge.credits}` }),
    };
    await attempt.delivering(async () => {
      await sender.send(this.#reply, output, { ...headers, ...bill });
      await attempt.keep(output);
      await charge.settle(renderMs, attempt.remember(headers));
      metrics.charged(charge.credits);
    });
  }
}
