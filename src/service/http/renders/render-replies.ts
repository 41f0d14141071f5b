// Responses with a stored render in place of its file.

import type { FastifyReply } from 'fastify';
import type { Problem } from '../../api/problem.ts';
import { AppError } from '../../../shared/errors.ts';
import { REPLAYED } from '../../renders/idempotency.ts';
import { RENDERS_PATH, renderToJson } from '../../renders/render-view.ts';
import type { RenderRecord } from '../../store/renders/render.ts';

export interface RenderToSend {
  readonly render: RenderRecord;
  /** An earlier request with the same idempotency key made it. */
  readonly isReplay: boolean;
  /** The URL at which clients reach this server. */
  readonly baseUrl: string;
}

/** When to ask for what was accepted. Most images are ready by then, and `wait` holds a request until a render ends. */
export const ASK_LATER = { 'retry-after': '2' } as const;

/** The render of an asynchronous request. */
export function sendAccepted(reply: FastifyReply, accepted: RenderToSend): void {
  reply.code(202).headers({ 'preference-applied': 'respond-async', ...ASK_LATER });
  sendRender(reply, accepted);
}

/** The render of a request with `put_url`, unless its file couldn't be delivered. Without an end yet, it is an accepted one. */
export function sendDelivered(reply: FastifyReply, sent: RenderToSend): void {
  const { render, isReplay } = sent;
  if (render.error !== undefined) {
    const { code, detail, upstream_status: upstreamStatus } = JSON.parse(render.error) as Problem;
    reply.headers({ 'x-render-id': render.id, location: `${RENDERS_PATH}/${render.id}`, ...(isReplay && REPLAYED) });
    throw new AppError(code, detail, upstreamStatus === undefined ? {} : { upstreamStatus });
  }
  if (render.finishedAt === undefined) sendAccepted(reply, sent);
  else sendRender(reply, sent);
}

/** The render of a request with `deliver=url`, which has a link to the result. */
export function sendRender(reply: FastifyReply, { render, isReplay, baseUrl }: RenderToSend): void {
  reply.headers({
    ...(isReplay && REPLAYED),
    'x-render-id': render.id,
    location: `${RENDERS_PATH}/${render.id}`,
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
  });
  reply.send(JSON.stringify(renderToJson(render, baseUrl)));
}
