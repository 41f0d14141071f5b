// deploy/grafana-dashboard.json asks for figures by name: each must exist, and each of ours must be shown.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../src/telemetry/metrics.ts';

const FILE = path.resolve(import.meta.dirname, '../deploy/grafana-dashboard.json');
const CREW = { workers: 1, ready: 1, busy: 0, waiting: 0, restarts: 0, backlogMs: 0 };

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[] };
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Name and kind of every figure the server has. */
async function figures(): Promise<Map<string, string>> {
  const metrics = new Metrics('1.2.3');
  metrics.watchPools(() => ({ images: CREW, videos: CREW }));
  metrics.watchRequests({ inside: () => 0, promisedBytes: () => 0 });
  const types = (await metrics.text()).matchAll(/^# TYPE (?<name>\S+) (?<kind>\S+)$/gmu);
  return new Map([...types].map(({ groups }) => [groups?.['name'] ?? '', groups?.['kind'] ?? '']));
}

const askedFor = new Set(expressions.flatMap((text) => [...text.matchAll(/storybar_\w+/gu)].map(([name]) => name)));

describe('the Grafana dashboard', () => {
  it('asks only for figures that exist', async () => {
    const known = await figures();
    const exists = (name: string): boolean =>
      known.has(name) || (name.endsWith('_bucket') && known.get(name.replace(/_bucket$/u, '')) === 'histogram');
    expect([...askedFor].filter((name) => !exists(name))).toEqual([]);
    expect(askedFor.size).toBeGreaterThan(10);
  });

  it('shows every figure of ours', async () => {
    const own = [...(await figures()).keys()].filter((name) => !/^storybar_(?:process|nodejs)_/u.test(name));
    const missing = own.filter((name) => !askedFor.has(name) && !askedFor.has(`${name}_bucket`));
    expect(missing).toEqual([]);
  });

  it('has balanced expressions and panels with titles', () => {
    for (const text of expressions) {
      for (const [open = '', close = ''] of ['()', '{}', '[]']) {
        expect([text, text.split(open).length]).toEqual([text, text.split(close).length]);
      }
    }
    expect(panels.filter(({ title }) => title === '')).toEqual([]);
  });
});
