// The log, the metrics and the traces of a server.

import { hostname } from 'node:os';
import type { Settings, TelemetrySettings } from '../service/config/settings.ts';
import { createLogger, type Logger } from '../service/telemetry/logger.ts';
import { Metrics } from '../service/telemetry/metrics.ts';
import type { OtlpExporter } from '../service/telemetry/otlp-exporter.ts';
import { VERSION } from './version.ts';

export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined without a collector. */
  readonly traces: OtlpExporter | undefined;
  /** Sends the remaining spans. Call it after the last request. */
  close(): Promise<void>;
}

/** A collector that is down would fill the log, so messages are rare. The metric counts all spans. */
const LOG_INTERVAL_MS = 60_000;

export async function startTelemetry(settings: TelemetrySettings & Pick<Settings, 'logLevel'>): Promise<Telemetry> {
  const logger = createLogger(settings.logLevel, VERSION);
  logger.info({ pid: process.pid, nodejs: process.version }, 'server starting');
  const metrics = new Metrics(VERSION);
  const traces = await startTracing(settings, logger, metrics);
  return { logger, metrics, traces, close: async () => await traces?.close() };
}

/** Loads the exporter only if there is a collector. */
async function startTracing(
  { otlpEndpoint: endpoint, otlpHeaders: headers }: TelemetrySettings,
  logger: Logger,
  { dependencies }: Metrics,
): Promise<OtlpExporter | undefined> {
  if (endpoint === '') return undefined;
  const { OtlpExporter: Exporter } = await import('../service/telemetry/otlp-exporter.ts');
  let loggedAt = Number.NEGATIVE_INFINITY;
  return new Exporter({
    endpoint,
    headers,
    resource: { 'service.name': 'storybar', 'service.version': VERSION, 'host.name': hostname() },
    onLost: (spans, reason) => {
      dependencies.spansLost(spans);
      if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
      loggedAt = performance.now();
      logger.warn({ spans, err: reason }, 'trace export failed');
    },
  });
}
