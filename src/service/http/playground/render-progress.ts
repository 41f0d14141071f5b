// The progress of renders in the playground. The page picks an unguessable id, sends it with the render and polls its
// progress until the response arrives. Each server knows only its own renders.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteGroup } from '../route-group.ts';
import { onClosed } from '../transport/on-closed.ts';
import { recordOf } from '../transport/request-record.ts';

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

export class RenderProgress {
  /** Only running requests have an entry, so it needs no bound of its own. */
  readonly #running = new Map<string, FastifyRequest>();

  /** Tracks a request until its response has been sent. Requests without a valid id aren't tracked. */
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
          // The render may have just ended or run on another server, which isn't an error.
          if (running === undefined) return reply.code(204).header('cache-control', 'no-store').send();
          const body = JSON.stringify({ progress: recordOf(running).progress });
          return reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json' }).send(body);
        });
      },
    };
  }
}
