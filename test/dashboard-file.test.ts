// deploy/grafana-dashboard.json and deploy/prometheus/alerts.yml name metrics. Each must exist, and the dashboard must
// show each of ours. promtool checks the rules and the names.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../src/service/telemetry/metrics.ts';

const DEPLOY = path.resolve(import.meta.dirname, '../deploy');
const FILE = path.join(DEPLOY, 'grafana-dashboard.json');
const ALERTS = path.join(DEPLOY, 'prometheus/alerts.yml');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const NO_PROMTOOL = hasPromtool ? '' : ' (needs promtool: apt-get install prometheus)';
const POOL = { workers: 1, ready: 1, busy: 0, waiting: 0, restarts: 0, backlogMs: 0 };

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[] };
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** A server with everything that has metrics. */
function allMetrics(): Metrics {
  const metrics = new Metrics('1.2.3');
  const fleet = { slots: 1, ready: 1, busy: 0, ticketsWaiting: 0, ticketsTaken: 0 };
  metrics.dependencies.watchNats(() => true);
  metrics.dependencies.watchConnections(() => ({ total: 1, idle: 1, waiting: 0 }));
  metrics.dependencies.watchPendingWrites(() => 0);
  metrics.webhooks.watchSending(() => 0);
  const lane = { waiting: 0, claimed: 0, oldestSeconds: 0 };
  const renders = { image: lane, video: lane, fetch: lane, put: lane };
  metrics.watchBacklog(() => ({ renders, webhooks: { waiting: 0, oldestSeconds: 0 } }));
  metrics.dependencies.watchDisks(1, () => new Map([['data', 2]]));
  metrics.dependencies.watchFleet(() => ({ image: fleet, video: fleet }));
  metrics.dependencies.sandbox('bubblewrap');
  metrics.watchPools(() => ({ images: POOL, videos: POOL }));
  metrics.watchRequests({ inside: () => 0, reservedBytes: () => 0 });
  return metrics;
}

/** Returns the name and type of every metric of the server. */
async function metricTypes(): Promise<Map<string, string>> {
  const types = (await allMetrics().text()).matchAll(/^# TYPE (?<name>\S+) (?<kind>\S+)$/gmu);
  return new Map([...types].map(({ groups }) => [groups?.['name'] ?? '', groups?.['kind'] ?? '']));
}

const namesIn = (text: string): string[] => [...text.matchAll(/storybar_\w+/gu)].map(([name]) => name);
const queried = new Set(expressions.flatMap(namesIn));

/** Returns the names that no metric has. */
async function unknownAmong(names: Iterable<string>): Promise<string[]> {
  const known = await metricTypes();
  const exists = (name: string): boolean =>
    known.has(name) ||
    (/_(?:bucket|count)$/u.test(name) && known.get(name.replace(/_(?:bucket|count)$/u, '')) === 'histogram');
  return [...names].filter((name) => !exists(name));
}

describe('Grafana dashboard', () => {
  it('queries only metrics that exist', async () => {
    expect(await unknownAmong(queried)).toEqual([]);
    expect(queried.size).toBeGreaterThan(10);
  });

  it('shows every Storybar metric', async () => {
    const own = [...(await metricTypes()).keys()].filter((name) => !/^storybar_(?:process|nodejs)_/u.test(name));
    const missing = own.filter((name) => !queried.has(name) && !queried.has(`${name}_bucket`));
    expect(missing).toEqual([]);
  });

  it('the Grafana dashboard has balanced brackets in every expression and a title on every panel', () => {
    for (const text of expressions) {
      for (const [open = '', close = ''] of ['()', '{}', '[]']) {
        expect([text, text.split(open).length]).toEqual([text, text.split(close).length]);
      }
    }
    expect(panels.filter(({ title }) => title === '')).toEqual([]);
  });
});

describe('Prometheus alert rules', () => {
  const rules = readFileSync(ALERTS, 'utf8');
  const promtool = (args: string[], input = ''): string => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
    return `${status} ${stdout}${stderr}`;
  };

  it('query only metrics that exist', async () => {
    const names = namesIn(rules.replaceAll(/^\s*#.*$/gmu, ''));
    expect(new Set(names).size).toBeGreaterThan(8);
    expect(await unknownAmong(names)).toEqual([]);
  });

  it('have a section in the runbook each, to which they link', () => {
    const runbook = readFileSync(path.resolve(DEPLOY, '../docs/runbook.md'), 'utf8');
    const sections = [...runbook.matchAll(/^## (?<name>\w+)$/gmu)].map(({ groups }) => groups?.['name'] ?? '');
    const alerts = [...rules.matchAll(/- alert: (?<name>\w+)/gu)].map(({ groups }) => groups?.['name'] ?? '');
    expect(sections.toSorted()).toEqual(alerts.toSorted());
    const linked = [...rules.matchAll(/runbook_url: \S+docs\/runbook\.md#(?<name>\w+)$/gmu)];
    expect(linked.map(({ groups }) => groups?.['name'])).toEqual(alerts.map((name) => name.toLowerCase()));
  });

  it('cover every dependency that has metrics', () => {
    for (const name of [
      'nats_connected',
      'tickets_total',
      'store_errors_total',
      'webhooks_total',
      'mails_total',
      'sandbox_info',
      'fleet_async_oldest_seconds',
      'fleet_webhooks_oldest_seconds',
      'disk_free_bytes',
      'housekeeping_failures_total',
    ]) {
      expect(rules).toContain(`storybar_${name}`);
    }
  });

  it.skipIf(!hasPromtool)(
    `Prometheus alert rules pass promtool, with their unit tests and the scrape configuration${NO_PROMTOOL}`,
    () => {
      expect(promtool(['check', 'rules', ALERTS])).toMatch(/^0 /u);
      expect(promtool(['test', 'rules', path.join(DEPLOY, 'prometheus/alerts.test.yml')])).toMatch(/^0 /u);
      expect(promtool(['check', 'config', '--syntax-only', path.join(DEPLOY, 'prometheus/prometheus.yml')])).toMatch(
        /^0 /u,
      );
    },
  );

  it.skipIf(!hasPromtool)(`names of metrics follow the conventions that promtool checks${NO_PROMTOOL}`, async () => {
    expect(promtool(['check', 'metrics'], await allMetrics().text())).toBe('0 ');
  });
});
