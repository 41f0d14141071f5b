import { expect, it } from 'vitest';
import { LatestTimes } from './latency.ts';

it('the latency has the median and 99th percentile of the latest 500 requests only', () => {
  const times = new LatestTimes();
  expect(times.latency).toBeUndefined();
  times.add(7.4);
  expect(times.latency).toEqual({ median: 7, p99: 7, requests: 1 });
  for (let count = 0; count < 1_000; count += 1) times.add(9_999);
  for (let milliseconds = 1; milliseconds <= 500; milliseconds += 1) times.add(milliseconds);
  expect(times.latency).toEqual({ median: 250, p99: 495, requests: 500 });
});
