// Routes for operators and load balancers: liveness, readiness, health and metrics.

import { AppError } from '../errors.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { hasMetricsToken, mayReadMetrics } from './access/metrics-access.ts';
import type { RouteGroup } from './route-group.ts';

export interface ServiceDependencies {
  readonly health: () => HealthReport;
  /** Returns why this server should get no requests now, or undefined when it is ready. */
  readonly readiness: () => string | undefined;
  readonly metrics: Metrics;
  /**
   * The bearer token for `/metrics` and the details of `/health`. If empty, only this machine gets metrics, and there
   * are no details.
   */
  readonly metricsToken: string;
}

export function serviceRoutes({ health, readiness, metrics, metricsToken }: ServiceDependencies): RouteGroup {
  return {
    register: (app) => {
      app.get('/ping', (_request, reply) => reply.type('text/plain').send('pong\n'));
      app.get('/health', (request, reply) => {
        const report = health();
        const body = hasMetricsToken(request.raw, metricsToken) ? report : { status: report.status };
        return reply.header('cache-control', 'no-store').send(body);
      });
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
