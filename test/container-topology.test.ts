// The services of compose.yaml with their settings: two API servers and a worker from our image, with HAProxy, NATS and
// PostgreSQL from this machine, because their images need a registry. Run with `npm run test:container`.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from './free-port.ts';
import { plainPng } from './pictures.ts';
import { createKey, IMAGE, type RunningContainer, startContainer } from './running-container.ts';
import { type RunningDatabase, serverDatabase } from './running-database.ts';
import { hasHaproxy, type RunningHaproxy, startHaproxy } from './running-haproxy.ts';
import { hasNats, type RunningNats, startNats } from './running-nats.ts';
import { form, health, post, until } from './running-server.ts';
import { plainClip } from './video/plain-clip.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const postgresUrl = inject('postgresUrl');
const needs = 'needs npm run test:container, haproxy, nats-server and PostgreSQL';
const canRun = IMAGE !== '' && hasHaproxy && hasNats && postgresUrl !== '';
const PASSWORDS = {
  POSTGRES_PASSWORD: 'unused',
  NATS_FRONT_PASSWORD: 'front-secret',
  NATS_WORKER_PASSWORD: 'worker-secret',
};

/** The environment of a service in compose.yaml, with the defaults of all variables except the passwords. */
function environmentOf(service: string): Record<string, string> {
  const [, after = ''] = readFileSync(path.join(ROOT, 'compose.yaml'), 'utf8').split(`\n  ${service}:\n`);
  const [section = ''] = after.split(/\n(?= {2}\w)/u);
  const lines = [...section.matchAll(/^ {6}(?<name>[A-Z_]+): "?(?<value>[^"\n]*)"?$/gmu)];
  const resolve = (value: string): string =>
    value.replaceAll(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}/gu, (_match, name: string, defaultValue: string | undefined) =>
      name in PASSWORDS ? PASSWORDS[name as keyof typeof PASSWORDS] : (defaultValue ?? ''),
    );
  return Object.fromEntries(lines.map(({ groups }) => [groups?.['name'] ?? '', resolve(groups?.['value'] ?? '')]));
}

describe.skipIf(!canRun)(`the services of compose.yaml (${needs})`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-topology-'));
  let database: RunningDatabase;
  let nats: RunningNats;
  let balancer: RunningHaproxy;
  let worker: RunningContainer;
  const apiServers: RunningContainer[] = [];

  /** NATS has another address here than in the network of compose. */
  const here = (url: string | undefined): string =>
    (url ?? '').replace('@nats:4222', `@${nats.url.replace('nats://', '')}`);

  async function startApiServer(): Promise<RunningContainer> {
    const { STORYBAR_METRICS_TOKEN: _token, ...shipped } = environmentOf('api');
    return await startContainer({
      options: ['--memory=1g', `--volume=${path.join(ROOT, 'deploy/plans.json')}:/etc/storybar/plans.json:ro`],
      environment: {
        ...shipped,
        ...database.env,
        STORYBAR_NATS_URL: here(shipped['STORYBAR_NATS_URL']),
        STORYBAR_INTERNAL_HOST: '127.0.0.1',
        STORYBAR_INTERNAL_PORT: String(await freePort()),
      },
    });
  }

  beforeAll(async () => {
    database = await serverDatabase(postgresUrl);
    const configuration = readFileSync(path.join(ROOT, 'deploy/nats.conf'), 'utf8');
    nats = await startNats({ configuration, environment: PASSWORDS });
    apiServers.push(await startApiServer(), await startApiServer());
    const { STORYBAR_METRICS_TOKEN: _token, ...shipped } = environmentOf('worker');
    worker = await startContainer({
      command: 'worker',
      options: ['--memory=5g', `--security-opt=seccomp=${path.join(ROOT, 'deploy/seccomp.json')}`],
      environment: { ...shipped, STORYBAR_NATS_URL: here(shipped['STORYBAR_NATS_URL']) },
    });
    balancer = await startHaproxy(apiServers.map(({ url }) => Number(new URL(url).port)));
  });
  afterAll(async () => {
    await balancer?.stop();
    for (const container of [worker, ...apiServers]) await container?.remove();
    await nats?.stop();
    await database?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('the services of compose.yaml render images, videos and bars alone in a sandboxed worker, through the load balancer', async () => {
    for (const apiServer of apiServers) {
      await until(async () => (await health(apiServer)).renderer.images.ready > 0);
    }
    const key = await createKey(apiServers[0] as RunningContainer);
    const bodies = [
      form({ asset: await plainPng(320, 240, '#567'), text: 'an image' }),
      form({ asset: readFileSync(plainClip(path.join(folder, 'clip.mp4'))), text: 'a video' }),
      form({ width: '320', height: '240', text: 'bars alone' }),
    ];
    for (const body of bodies) {
      const response = await post({ url: balancer.url, key }, body);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
    expect((await health(worker)).sandbox.level).toBe('bubblewrap');
    expect(await worker.logs()).not.toContain('container memory limit too small');
  });

  it('the services of compose.yaml have sign-up closed, and print no key', async () => {
    expect(await (await fetch(`${balancer.url}/signup`)).text()).toContain('Sign-up is closed');
    for (const apiServer of apiServers) expect(await apiServer.logs()).not.toMatch(/sb_live_|\?link=/u);
  });
});
