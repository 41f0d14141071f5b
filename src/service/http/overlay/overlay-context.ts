import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LazyDirectory } from '../../../engine/media/work-area.ts';
import type { RequestType } from '../../telemetry/metrics.ts';
import type { RequestSignal } from '../transport/request-signal.ts';
import type { Admitted } from './admit.ts';

/** Values that the steps of one request share. */
export interface OverlayContext extends Admitted {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly directory: LazyDirectory;
  readonly lifetime: RequestSignal;
  type: RequestType;
  isReserved: boolean;
}
