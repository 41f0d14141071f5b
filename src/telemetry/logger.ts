// Structured logs, one JSON object a line, on standard error. They hold ids, sizes and times; never a key, a caption or a
// file name.

import pino, { type Logger } from 'pino';

export type { Logger };

export function createLogger(level: string): Logger {
  return pino(
    { level, base: { service: 'storybar' }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
