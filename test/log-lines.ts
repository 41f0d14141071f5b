// Reads the log of a running program.

import { until } from './running-server.ts';

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string };

/** The numbers of pino's levels. */
export const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** Returns complete lines only, because the last one may still be on its way. */
export function logLines(stderr: string): LogLine[] {
  return stderr
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Returns what `grep <id>` finds, once it contains a line with this message. */
export async function grep(stderr: () => string, id: string, message: string): Promise<LogLine[]> {
  return await until(() => {
    const found = logLines(
      stderr()
        .split('\n')
        .filter((line, index, all) => index === all.length - 1 || line.includes(id))
        .join('\n'),
    );
    return found.some(({ msg }) => msg === message) && found;
  });
}
