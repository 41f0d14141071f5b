// The routes of the status page and its feed.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import type { Incident } from '../../service/store/incidents/incidents.ts';
import type { Store } from '../../service/store/store.ts';
import type { HealthReport } from '../../service/telemetry/health.ts';
import type { Page } from '../page.ts';
import { HISTORY_DAYS, historyOf } from './incident-views.ts';
import { FEED_PATH, STATUS_PATH, statusFeed, statusPage } from './status-page.ts';

export interface StatusDependencies {
  readonly store: Pick<Store, 'incidents' | 'operator'>;
  readonly health: () => HealthReport;
  readonly send: (request: FastifyRequest, reply: FastifyReply, page: Page) => Promise<FastifyReply>;
  readonly baseUrlOf: (request: FastifyRequest) => string;
}

const DAY_MS = 24 * 3_600_000;

export function addStatusPages(app: FastifyInstance, { store, health, send, baseUrlOf }: StatusDependencies): void {
  const listed = async (now: Date): Promise<Incident[]> =>
    await store.incidents.since(new Date(now.getTime() - HISTORY_DAYS * DAY_MS));
  app.get(STATUS_PATH, async (request, reply) => {
    const now = new Date();
    const incidents = await unlessUnavailable(async () => await listed(now));
    const begunAt = await unlessUnavailable(async () => await store.operator.begunAt());
    const history = historyOf(incidents ?? [], begunAt ?? now, now);
    return await send(request, reply, statusPage({ report: health(), incidents, history }));
  });
  app.get(FEED_PATH, async (request, reply) => {
    const now = new Date();
    const text = statusFeed(await listed(now), baseUrlOf(request), now);
    return reply
      .headers({ 'content-type': 'application/atom+xml; charset=utf-8', 'cache-control': 'no-cache' })
      .send(text);
  });
}

/** A status page must also be there while the database isn't. It then says so. */
async function unlessUnavailable<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.code === 'storage_unavailable') return undefined;
    throw error;
  }
}
