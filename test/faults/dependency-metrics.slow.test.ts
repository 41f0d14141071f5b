// Metrics of the dependencies that fail first: NATS and its tickets, payment events, emails, the sandbox. Those of the
// database are in several-servers.slow.test.ts.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../running-server.ts';
import { startWorker } from '../running-worker.ts';
import { scrape } from '../scrape.ts';
import { Visitor } from '../site/visitor.ts';

const OVERLAY = { text: 'Hello', width: '64', height: '64' };

it('a server counts failed emails and reports its sandbox level', async () => {
  const server = await startServer({
    STORYBAR_SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    STORYBAR_MAIL_FROM: 'captions@example.com',
    STORYBAR_PUBLIC_URL: 'https://captions.example.com',
  });
  const { level } = (await health(server)).sandbox;
  const before = await scrape(server.url);
  expect(before.get(`storybar_sandbox_info{level="${level}"}`)).toBe(1);
  expect(before.get('storybar_mails_total{result="failed"}')).toBe(0);
  expect(before.get('storybar_webhooks_total{result="failed"}')).toBe(0);
  expect(before.get('storybar_store_errors_total')).toBe(0);
  expect(before.get('storybar_ledger_pending_writes')).toBe(0);
  expect(before.has('storybar_nats_connected')).toBe(false);
  await new Visitor(server.url, '192.0.2.1').signUp('ann@example.com');
  await until(async () => (await scrape(server.url)).get('storybar_mails_total{result="failed"}') === 1);
  await server.stop();
});

describe.skipIf(!hasNats)('API servers and a worker node (needs nats-server)', () => {
  let nats: RunningNats;
  const servers: RunningServer[] = [];
  beforeAll(async () => {
    nats = await startNats();
    const remote = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };
    const environment = { ...remote, STORYBAR_NATS_URL: nats.url };
    servers.push(...(await Promise.all([startServer(environment), startServer(environment)])));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await nats.stop();
  });

  it('API servers count a render process once, although every API server knows the whole fleet', async () => {
    const worker = await startWorker(nats.url);
    const [first, second] = servers as [RunningServer, RunningServer];
    for (const server of servers) {
      await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
      await (await post(server, form(OVERLAY))).arrayBuffer();
    }
    let all: Map<string, number>[] = [];
    const sum = (name: string): number => all.reduce((total, samples) => total + (samples.get(name) ?? 0), 0);
    // A worker counts a ticket as served after the response is on its way.
    await until(async () => {
      all = await Promise.all([first.url, second.url, worker.url].map(scrape));
      return sum('storybar_tickets_total{event="served"}') === 2;
    });
    expect(sum('storybar_workers{pool="image",state="ready"}')).toBe(1);
    expect(all.map((samples) => samples.get('storybar_fleet_slots{pool="image",state="ready"}'))).toEqual([
      1,
      1,
      undefined,
    ]);
    expect(all.map((samples) => samples.get('storybar_nats_connected'))).toEqual([1, 1, 1]);
    expect(sum('storybar_tickets_total{event="issued"}')).toBe(2);
    expect(sum('storybar_tickets_total{event="claimed"}')).toBe(2);
    await worker.stop();
  });

  it('servers and workers report a lost connection to NATS', async () => {
    const [server] = servers as [RunningServer];
    await nats.kill();
    await until(async () => (await scrape(server.url)).get('storybar_nats_connected') === 0);
    expect((await scrape(server.url)).get('storybar_nats_disconnects_total')).toBe(1);
    await nats.restart();
    await until(async () => (await scrape(server.url)).get('storybar_nats_connected') === 1);
  });
});
