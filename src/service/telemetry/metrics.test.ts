import { expect, it } from 'vitest';
import { Metrics } from './metrics.ts';

const linesOf = async (metrics: Metrics, name: string): Promise<string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(`storybar_${name}`));

it('metrics count an accepted request apart from delivered ones, and its render when it ends', async () => {
  const metrics = new Metrics('1.2.3');
  metrics.requestEnded('video', 'accepted', 0.02);
  expect(metrics.latency).toEqual({});
  metrics.asyncEnded('video', true, { ms: 8_000, ageMs: 65_000 });
  expect(metrics.latency).toMatchObject({ video: { median: 8_000, requests: 1 } });
  expect(await linesOf(metrics, 'requests_total')).toEqual([
    'storybar_requests_total{type="video",outcome="accepted"} 1',
  ]);
  expect(await linesOf(metrics, 'request_seconds_count')).toEqual([
    'storybar_request_seconds_count{type="video",result="accepted"} 1',
  ]);
  expect(await linesOf(metrics, 'async_render_seconds_sum')).toEqual([
    'storybar_async_render_seconds_sum{type="video",result="succeeded"} 65',
  ]);
});

it('metrics have no backlog instead of a wrong one while the database is unavailable', async () => {
  const metrics = new Metrics('1.2.3');
  const lane = { waiting: 3, claimed: 1, oldestSeconds: 90 };
  const renders = { image: lane, video: lane, fetch: lane, put: lane };
  let figures: Parameters<Metrics['watchBacklog']>[0] extends () => infer Reading ? Reading : never;
  figures = { renders, webhooks: { waiting: 2, oldestSeconds: 5 } };
  metrics.watchBacklog(() => figures);
  expect(await linesOf(metrics, 'fleet_')).toContain('storybar_fleet_async_renders{lane="video",state="waiting"} 3');
  expect(await linesOf(metrics, 'fleet_')).toContain('storybar_fleet_webhooks_late 2');
  figures = undefined;
  expect(await linesOf(metrics, 'fleet_')).toEqual([]);
});

it('metrics count failures of periodic tasks from 0, so that an alert sees the first one', async () => {
  const metrics = new Metrics('1.2.3');
  metrics.dependencies.taskStarted('trim');
  expect(await linesOf(metrics, 'housekeeping_failures_total')).toEqual([
    'storybar_housekeeping_failures_total{task="trim"} 0',
  ]);
  metrics.dependencies.taskEnded('trim', false);
  expect(await linesOf(metrics, 'housekeeping_failures_total')).toEqual([
    'storybar_housekeeping_failures_total{task="trim"} 1',
  ]);
});
