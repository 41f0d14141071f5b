// How far the renders of the playground are. The page picks an unguessable id, sends it with the render and asks for
// its progress until the response is there. Each server knows only its own renders.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteGroup } from '../route-group.ts';
import { onClosed } from '../transport/on-closed.ts';
import { recordOf } from '../transport/request-record.ts';

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

export class RenderProgress {
  /** Only running requests have an entry, so it needs no bound of its own. */
  readonly #running = new Map<string, FastifyRequest>();

  /** Until the response has been sent. Requests without a valid id aren't tracked. */
  track(request: FastifyRequest, reply: FastifyReply): void {
    const id = request.headers['x-progress-id'];
    if (typeof id !== 'string' || !ID.test(id) || this.#running.has(id)) return;
    this.#running.set(id, request);
    onClosed(reply.raw, () => this.#running.delete(id));
  }

  get routes(): RouteGroup {
    return {
      register: (app) => {
        app.get<{ Params: { id: string } }>('/playground/progress/:id', (request, reply) => {
          const running = this.#running.get(request.params.id);
          // It may have just ended or run on another server, which is no error.
          if (running === undefined) return reply.code(204).header('cache-control', 'no-store').send();
          const body = JSON.stringify({ progress: recordOf(running).progress });
          return reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json' }).send(body);
        });
      },
    };
  }
}
