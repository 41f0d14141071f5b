// Structured logs on standard error, one JSON object per line. They contain ids, sizes and times, but never a key, a caption
// or a file name.

import pino, { type Logger } from 'pino';

export type { Logger };

export function createLogger(level: string): Logger {
  return pino(
    { level, base: { service: 'storybar' }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
