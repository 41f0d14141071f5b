// What operators and load balancers ask the server: is it alive, is it ready, and how is it doing.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RouteGroup } from './route-group.ts';

export interface ServiceDependencies {
  readonly health: () => HealthReport;
  /** Why this server should get no requests now; undefined when it is ready. */
  readonly readiness: () => Promise<string | undefined>;
  readonly metrics: Metrics;
  /** Bearer token that `/metrics` requires; empty: no token. */
  readonly metricsToken: string;
}

export function serviceRoutes({ health, readiness, metrics, metricsToken }: ServiceDependencies): RouteGroup {
  return {
    register: (app) => {
      app.get('/ping', (_request, reply) => reply.type('text/plain').send('pong\n'));
      app.get('/health', (_request, reply) => reply.header('cache-control', 'no-store').send(health()));
      app.get('/ready', async (_request, reply) => {
        const fault = await readiness();
        return await reply.code(fault === undefined ? 200 : 503).send({ ready: fault === undefined, fault });
      });
      app.get('/metrics', async (request, reply) => {
        assertMetricsToken(request, metricsToken);
        return await reply.type(metrics.contentType).send(await metrics.text());
      });
    },
  };
}

/** Compares digests, so the time it takes reveals nothing about the token. */
function assertMetricsToken({ headers }: FastifyRequest, token: string): void {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (token === '' || timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))) return;
  throw new AppError('missing_api_key', 'Send the metrics token as `authorization: Bearer <token>`.');
}
