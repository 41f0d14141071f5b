import type { FastifyInstance } from 'fastify';

/** Routes of one part of the service: the API, the site, or a webhook. */
export interface RouteGroup {
  readonly register: (app: FastifyInstance) => void;
}
