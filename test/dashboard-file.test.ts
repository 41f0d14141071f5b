// deploy/grafana-dashboard.json names metrics: each must exist, and each of ours must be shown.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../src/telemetry/metrics.ts';

const FILE = path.resolve(import.meta.dirname, '../deploy/grafana-dashboard.json');
const POOL = { workers: 1, ready: 1, busy: 0, waiting: 0, restarts: 0, backlogMs: 0 };

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[] };
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Name and type of every metric of the server. */
async function metricTypes(): Promise<Map<string, string>> {
  const metrics = new Metrics('1.2.3');
  metrics.watchPools(() => ({ images: POOL, videos: POOL }));
  metrics.watchRequests({ inside: () => 0, reservedBytes: () => 0 });
  const types = (await metrics.text()).matchAll(/^# TYPE (?<name>\S+) (?<kind>\S+)$/gmu);
  return new Map([...types].map(({ groups }) => [groups?.['name'] ?? '', groups?.['kind'] ?? '']));
}

const queried = new Set(expressions.flatMap((text) => [...text.matchAll(/storybar_\w+/gu)].map(([name]) => name)));

describe('Grafana dashboard', () => {
  it('queries only metrics that exist', async () => {
    const known = await metricTypes();
    const exists = (name: string): boolean =>
      known.has(name) || (name.endsWith('_bucket') && known.get(name.replace(/_bucket$/u, '')) === 'histogram');
    expect([...queried].filter((name) => !exists(name))).toEqual([]);
    expect(queried.size).toBeGreaterThan(10);
  });

  it('shows every Storybar metric', async () => {
    const own = [...(await metricTypes()).keys()].filter((name) => !/^storybar_(?:process|nodejs)_/u.test(name));
    const missing = own.filter((name) => !queried.has(name) && !queried.has(`${name}_bucket`));
    expect(missing).toEqual([]);
  });

  it('has balanced brackets in every expression and a title on every panel', () => {
    for (const text of expressions) {
      for (const [open = '', close = ''] of ['()', '{}', '[]']) {
        expect([text, text.split(open).length]).toEqual([text, text.split(close).length]);
      }
    }
    expect(panels.filter(({ title }) => title === '')).toEqual([]);
  });
});
