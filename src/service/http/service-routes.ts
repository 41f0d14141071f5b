// Routes for operators and load balancers: liveness, readiness, health and metrics.

import type { RouteHandlerMethod } from 'fastify';
import { STRING } from '../api/schema-parts.ts';
import { AppError } from '../../shared/errors.ts';
import type { Json } from '../../shared/json-schema.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { hasMetricsToken, mayReadMetrics } from './access/metrics-access.ts';
import { describeOperations, headersOf, type Operation, routesOf } from './operation.ts';
import { COMMON_HEADERS } from './reference/response-headers.ts';
import type { RouteGroup } from './route-group.ts';

export interface ServiceDependencies {
  readonly health: () => HealthReport;
  /** Returns why this server should get no requests now, or undefined when it is ready. */
  readonly readiness: () => string | undefined;
  readonly metrics: Metrics;
  /**
   * The bearer token for `/metrics` and the details of `/health`. If empty, only this machine gets metrics, and
   * `/health` has no details.
   */
  readonly metricsToken: string;
}

export const SERVICE_OPERATIONS = describeOperations(
  { tag: 'Service', access: 'open' },
  {
    ping: check('/ping', 'Liveness check', 'text/plain', { type: 'string', const: 'pong\n' }),
    health: check(
      '/health',
      'Whether the server is up. Operators with the metrics token also get details',
      'application/json',
      { type: 'object', required: ['status'], properties: { status: STRING } },
    ),
  },
);

function check(path: `/${string}`, summary: string, type: string, schema: Json): Operation {
  const headers = headersOf([...COMMON_HEADERS, 'cache-control']);
  return {
    route: `GET ${path}`,
    summary,
    description: `${summary}. Needs no key.`,
    success: { 200: { description: summary, headers, content: { [type]: { schema } } } },
  };
}

export function serviceRoutes({ health, readiness, metrics, metricsToken }: ServiceDependencies): RouteGroup {
  const handlers: Readonly<Record<keyof typeof SERVICE_OPERATIONS.operations, RouteHandlerMethod>> = {
    ping: (_request, reply) => reply.type('text/plain').send('pong\n'),
    health: (request, reply) => {
      const report = health();
      const body = hasMetricsToken(request.raw, metricsToken) ? report : { status: report.status };
      return reply.header('cache-control', 'no-store').send(body);
    },
  };
  return {
    register: (app) => {
      routesOf(SERVICE_OPERATIONS, (id) => ({ handler: handlers[id] })).register(app);
      app.get('/ready', async (_request, reply) => {
        const fault = readiness();
        return await reply.code(fault === undefined ? 200 : 503).send({ ready: fault === undefined, fault });
      });
      app.get('/metrics', async (request, reply) => {
        if (!mayReadMetrics(request.raw, metricsToken)) {
          const isWrong = metricsToken !== '' && (request.headers.authorization ?? '') !== '';
          throw new AppError(
            isWrong ? 'invalid_api_key' : 'missing_api_key',
            'Send the token in STORYBAR_METRICS_TOKEN as `authorization: Bearer <token>`.',
          );
        }
        return await reply.type(metrics.contentType).send(await metrics.text());
      });
    },
  };
}
