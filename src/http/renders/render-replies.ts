// Responses with a stored render in place of its file.

import type { FastifyReply } from 'fastify';
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

/** The render of an asynchronous request. */
export function sendAccepted(reply: FastifyReply, accepted: RenderToSend): void {
  reply.code(202).header('preference-applied', 'respond-async');
  sendRender(reply, accepted);
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
