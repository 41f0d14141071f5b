import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { readSettings } from '../service/config/settings.ts';
import type { Store } from '../service/store/store.ts';
import { loadPlans } from './load-plans.ts';
import { printWelcome } from './welcome.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('greets, and the server goes on, while the database is unavailable', async () => {
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const accounts = { count: async () => await Promise.reject(new Error('connection refused')) };
  const store = { accounts } as unknown as Store;
  const settings = readSettings({});
  const url = 'http://127.0.0.1:8080';
  await printWelcome({ settings, store, plans: loadPlans(settings), url, logger, showSecrets: true });
  expect(printed.mock.calls.join('')).toContain(`listens on ${url}`);
  expect(lines.join('')).toContain('connection refused');
});
