// A lease on a worker of another machine. It is one session, so that the render runs on the worker that has probed the
// file and still has it.

import { stat } from 'node:fs/promises';
import { type Asset, workerKindFor } from '../../../../engine/media/asset.ts';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { rethrowAsStorageError } from '../../../../engine/media/work-area.ts';
import { must } from '../../../../shared/must.ts';
import { type AssetLimits, type AssetProbe, type Recipe, workerKindOf } from '../../../../engine/render/compose.ts';
import type { RenderFacts } from '../../../../engine/render/render.ts';
import type { Lease, LeaseRequest, RenderJob } from '../../renderer.ts';
import type { TaskType } from '../../tasks.ts';
import { type RemoteAsset, remoteFile, type RenderStep } from '../shared/control-messages.ts';
import type { Permits, PermitPlace } from './permits.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { RenderSession, StepRequest, TicketIssuer } from './session.ts';

/** The parts of the API server that a lease needs. */
export interface LeaseHost {
  readonly permits: Readonly<Record<AssetKind, Permits>>;
  readonly sessions: SessionRegistry;
  /** The maximum duration of a step. */
  readonly limitMs: number;
  readonly maxOutputBytes: (recipe: Recipe) => number;
  readonly issuerFor: (request: LeaseRequest, step: () => TaskType) => TicketIssuer;
  /** Returns when a worker claimed the session's first ticket. */
  readonly claimedAt: (session: RenderSession) => number | undefined;
  /** Throws when the broker has been unavailable for a while. */
  readonly assertReachable: () => void;
}

export class RemoteLease implements Lease {
  readonly #host: LeaseHost;
  readonly #request: LeaseRequest;
  #held: { readonly kind: AssetKind; readonly place: PermitPlace } | undefined;
  #session: RenderSession | undefined;
  #step: TaskType = 'probe';

  constructor(host: LeaseHost, request: LeaseRequest) {
    this.#host = host;
    this.#request = request;
  }

  /**
   * This also succeeds while NATS is unavailable, because until the form is complete, the request may still turn out to
   * be asynchronous.
   */
  choose(kind: AssetKind): void {
    const refusal = this.#host.permits[kind].refusal(this.#request.account);
    if (refusal) throw refusal;
  }

  enter(kind: AssetKind): void {
    this.#host.assertReachable();
    const { place } = this.#hold(kind);
    if (!place.isEntered) place.enter();
  }

  async probe(asset: Asset, limits: AssetLimits): Promise<AssetProbe> {
    const kind = workerKindFor(asset);
    this.enter(kind);
    this.#step = 'probe';
    const session = await this.#sessionFor(asset);
    const step = { type: 'probe', asset: remoteAsset(asset), limits } as const;
    return await session.probe({ step, limitMs: this.#host.limitMs }, this.#request.signal);
  }

  /** A session whose worker is connected needs no broker, so only opening another one fails without it. */
  async render(job: RenderJob, onProgress?: (fraction: number) => void): Promise<RenderFacts> {
    const { recipe, asset, output } = job;
    const { sessions, permits, limitMs, maxOutputBytes, claimedAt } = this.#host;
    this.#hold(workerKindOf(recipe)).place.charge(recipe);
    this.#step = 'render';
    const session = await this.#sessionFor(asset);
    sessions.expectOutput(session, { file: output, maxBytes: maxOutputBytes(recipe) });
    const request = await stepOf(job);
    const startedAt = performance.now();
    if (session.worker !== undefined) this.#request.onAssigned?.(session.worker, 'render');
    const facts = await session.render({ ...request, limitMs, onProgress }, this.#request.signal);
    // The time doesn't include the wait of the ticket for a worker.
    const workedMs = performance.now() - Math.max(startedAt, claimedAt(session) ?? startedAt);
    permits[session.kind].costs.learn(recipe, workedMs);
    return facts;
  }

  /** Machines differ in speed, so only the deadline tells. */
  assertFeasible(): void {}

  leave(): void {
    this.#closeSession();
    this.#held?.place.leave();
  }

  close(): void {
    this.leave();
  }

  #closeSession(): void {
    if (this.#session) this.#host.sessions.close(this.#session);
    this.#session = undefined;
  }

  /** Returns the session that the lease has, unless it failed or was left. */
  async #sessionFor(asset: Asset | undefined): Promise<RenderSession> {
    const { kind, place } = must(this.#held, 'the place of a lease');
    if (this.#session?.isClosed) this.leave();
    if (this.#session === undefined) {
      this.#host.assertReachable();
      await place.slot();
      const onAssigned: LeaseRequest['onAssigned'] = (worker, step) => {
        place.begin();
        this.#request.onAssigned?.(worker, step);
      };
      const issuer = this.#host.issuerFor({ ...this.#request, onAssigned }, () => this.#step);
      this.#session = this.#host.sessions.open(kind, asset, place, issuer);
    }
    return this.#session;
  }

  #hold(kind: AssetKind): { readonly kind: AssetKind; readonly place: PermitPlace } {
    // The worker of a render that is held back is free for others.
    const onHeldBack = (): void => {
      this.#closeSession();
      this.#request.onHeldBack?.();
    };
    this.#held ??= { kind, place: this.#host.permits[kind].place({ ...this.#request, onHeldBack }) };
    return this.#held;
  }
}

/** The step of a render, and the files that it needs. */
async function stepOf({
  recipe,
  asset,
  attachment,
  files,
}: RenderJob): Promise<Omit<StepRequest<RenderStep>, 'limitMs'>> {
  const base = { type: 'render', asset: asset && remoteAsset(asset), recipe } as const;
  const attached =
    attachment === undefined ? undefined : { bytes: (await stat(attachment).catch(rethrowAsStorageError)).size };
  return {
    step: { ...base, ...(attached && { attachment: attached }), ...(files && { files: files.map(remoteFile) }) },
    ...(attachment !== undefined && { attachment }),
    ...(files && { files }),
  };
}

function remoteAsset({ format, bytes }: Asset): RemoteAsset {
  return { format, bytes };
}
