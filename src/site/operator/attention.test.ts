import { describe, expect, it } from 'vitest';
import type { HealthReport } from '../../service/telemetry/health.ts';
import { type AttentionFigures, attentionSection, mattersOf } from './attention.ts';

const pool = { workers: 2, ready: 2, busy: 0, waiting: 0, restarts: 0 };
const report: HealthReport = {
  status: 'ok',
  version: '1',
  uptimeSeconds: 1,
  sandbox: { level: 'full', guards: [] },
  latencyMs: {},
  renderer: { images: pool, videos: pool },
};
const calm: AttentionFigures = {
  report,
  today: undefined,
  pendingAccounts: 0,
  failingWebhooks: { endpoints: 0, accountId: undefined },
  openIncidents: 0,
};
const failing = (endpoints: number) => ({ endpoints, accountId: 'a' });
const today = (delivered: number, failed: number) => ({ day: '2026-01-01', delivered, test: 0, refused: 50, failed });
const withRenderer = (renderer: Partial<HealthReport['renderer']>): AttentionFigures => ({
  ...calm,
  report: { ...report, renderer: { ...report.renderer, ...renderer } },
});
const remote = {
  isConnected: false,
  workers: { images: 0, videos: 0 },
  queue: { images: { waiting: 0, taken: 0 }, videos: { waiting: 0, taken: 0 } },
};

describe('what needs attention', () => {
  it('nothing needs attention while all is well', () => {
    expect(mattersOf(calm)).toEqual([]);
    expect(attentionSection([]).text).toContain('Nothing needs your attention.');
  });

  it.each<[string, AttentionFigures, string]>([
    ['an open incident', { ...calm, openIncidents: 1 }, 'An incident is open.'],
    ['accounts that await approval', { ...calm, pendingAccounts: 2 }, '2 accounts await approval.'],
    ['a failing webhook', { ...calm, failingWebhooks: failing(1) }, 'A webhook endpoint of a customer accepts nothing'],
    ['a missing worker', withRenderer({ images: { ...pool, ready: 1 } }), '1 render worker isn’t ready.'],
    ['a long queue', withRenderer({ videos: { ...pool, waiting: 17 } }), '17 renders wait for 4 workers.'],
    ['a lost queue', withRenderer({ remote }), 'NATS is unavailable'],
    ['many server errors', { ...calm, today: today(95, 5) }, '5 of today’s 100 renders ended with a server error.'],
  ])('%s needs attention', (_name, figures, words) => {
    expect(mattersOf(figures).map(({ text }) => text)).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    ['few server errors', today(95, 4)],
    ['a small share of server errors', today(9_000, 40)],
    ['requests that were rejected', today(0, 0)],
  ])('%s need no attention', (_name, counts) => {
    expect(mattersOf({ ...calm, today: counts })).toEqual([]);
  });

  it('failing webhooks lead to the account whose endpoint fails longest', () => {
    const [matter] = mattersOf({ ...calm, failingWebhooks: failing(3) });
    expect(matter?.text).toContain('3 webhook endpoints');
    expect(matter?.link).toEqual(['/operator/accounts/a#webhooks', 'The one that fails longest']);
  });

  it('the worst comes first', () => {
    const figures = { ...calm, pendingAccounts: 1, today: today(5, 5) };
    expect(mattersOf(figures).map(({ level }) => level)).toEqual(['bad', 'warn']);
  });
});
