// Structured logs on standard error, one JSON object per line. They contain ids, sizes and times, but never a key, a
// caption, a query string or a file name. Every line names the version and the host that wrote it.

import { hostname } from 'node:os';
import pino, { type Logger } from 'pino';

export type { Logger };

export function createLogger(level: string, version: string): Logger {
  return pino(
    { level, base: { service: 'storybar', version, host: hostname() }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
