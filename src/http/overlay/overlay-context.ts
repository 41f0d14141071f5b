// The context of the steps of a request.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Renderer } from '../../dispatch/renderer.ts';
import type { AssetKind } from '../../media/sniff.ts';
import type { LazyDirectory } from '../../media/work-area.ts';
import type { Users } from '../../store/people/users.ts';
import type { RequestType } from '../../telemetry/metrics.ts';
import type { AssetFetcher } from '../../fetch/asset-fetcher.ts';
import type { RenderAcceptor } from '../../renders/accept.ts';
import type { RequestSignal } from '../transport/request-signal.ts';
import type { Admitted } from './admit.ts';
import type { DeliverDependencies } from './deliver.ts';
import type { IdempotencyKeys } from '../../renders/idempotency.ts';
import type { ReceiveDependencies } from './receive.ts';
import type { AccountServices } from '../../renders/account-order.ts';

export interface HandlerDependencies extends ReceiveDependencies, AccountServices, DeliverDependencies {
  readonly users: Pick<Users, 'list'>;
  readonly idempotency: IdempotencyKeys;
  readonly fetcher: AssetFetcher;
  readonly acceptor: RenderAcceptor;
  readonly renderer: Renderer;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
}

/** Values that the steps of one request share. */
export interface OverlayContext extends Admitted {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly directory: LazyDirectory;
  readonly lifetime: RequestSignal;
  type: RequestType;
  isReserved: boolean;
}
