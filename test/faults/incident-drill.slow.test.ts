// Incidents on real processes, explained by nothing but their logs: a client reports an id, and one search for it on
// each machine shows what happened.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grep, LEVELS, logLines, type LogLine } from '../log-lines.ts';
import { hold, holdImages } from '../held-workers.ts';
import { noisyJpeg, plainPng } from '../pictures.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const CAPTION = 'a caption that no log may contain';
const idOf = (response: Response): string => response.headers.get('x-request-id') ?? 'no request id';
const requestLine = (lines: readonly LogLine[]): LogLine | undefined =>
  lines.find(({ msg }) => msg.startsWith('request '));

describe('the log of a server', () => {
  let server: RunningServer;
  let noisy: Buffer;
  let photo: Buffer;
  const log = (): string => server.output().stderr;
  const search = async (id: string, message = 'request completed'): Promise<LogLine[]> => await grep(log, id, message);

  beforeAll(async () => {
    [server, noisy, photo] = await Promise.all([
      startServer({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' }),
      noisyJpeg(300, 300),
      plainPng(320, 240, 'gray'),
    ]);
  });
  afterAll(async () => {
    await server.stop();
  });

  /** Starts a render and waits until a worker has it, which is then stopped. */
  async function startHeldRender(signal?: AbortSignal): Promise<{ response: Promise<Response> }> {
    const areBusy = async (): Promise<boolean> => (await health(server)).renderer.images.busy > 0;
    // The worker of an earlier test must not be taken for that of this render.
    await until(async () => !(await areBusy()));
    holdImages(server);
    const response = post(server, form({ asset: noisy, text: CAPTION }), signal ? { signal } : {});
    response.catch(() => undefined);
    await until(areBusy);
    return { response };
  }

  it('the log has the account, worker, cost and size of a delivered render', async () => {
    const response = await post(server, form({ asset: photo, text: CAPTION }));
    const size = (await response.arrayBuffer()).byteLength;
    const lines = await search(idOf(response));
    expect(lines.map(({ msg }) => msg).toSorted()).toEqual(['render completed', 'request completed']);
    const rendered = lines.find(({ msg }) => msg === 'render completed');
    expect(rendered).toMatchObject({ worker: 'image-1', kind: 'image', host: hostname(), version });
    const line = requestLine(lines);
    expect(line).toMatchObject({
      level: LEVELS.info,
      method: 'POST',
      route: '/v1/overlay',
      status: 200,
      host: hostname(),
      version,
      sourceType: 'image',
      credits: 1,
      worker: 'image-1',
      ms: expect.any(Number),
      accountId: expect.stringMatching(/./u),
      keyId: expect.stringMatching(/./u),
    });
    expect(line?.['bytesOut']).toBeGreaterThan(size);
    expect(line?.['bytesIn']).toBeGreaterThan(photo.length);
  });

  it('the log has the faults of refused fields in one line', async () => {
    const response = await post(server, form({ asset: photo, overlays: '[{"text":" ","position":101}]' }));
    const lines = await search(idOf(response));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      status: 400,
      code: 'invalid_fields',
      faults: ['blank', 'out_of_range'],
      credits: 0,
    });
    expect(lines[0]).not.toHaveProperty('worker');
  });

  it('the log names the owner of a suspended key', async () => {
    const created = JSON.parse(await server.cli('keys', 'create', '--plan', 'free', '--json')) as Record<
      string,
      string
    >;
    await server.cli('keys', 'suspend', String(created['id'] ?? created['keyId']));
    const response = await post(
      { url: server.url, key: String(created['key']) },
      form({ asset: photo, text: CAPTION }),
    );
    const [line] = await search(idOf(response));
    expect(line).toMatchObject({ status: 403, code: 'key_suspended', keyId: created['id'] ?? created['keyId'] });
    expect(line?.['accountId']).toBeDefined();
  });

  it('the log explains what is wrong with a corrupt asset and which worker found out', async () => {
    const response = await post(server, form({ asset: noisy.subarray(0, 300), text: CAPTION }));
    const lines = await search(idOf(response));
    expect(lines.map(({ msg }) => msg).toSorted()).toEqual(['probe failed', 'request completed']);
    for (const line of lines) {
      expect(line).toMatchObject({ code: 'asset_undecodable', detail: expect.stringMatching(/./u) });
    }
    expect(requestLine(lines)).toMatchObject({ status: 422, worker: 'image-1', credits: 0 });
  });

  it('the log names the render of a killed worker, and the worker that rendered it then', async () => {
    const { response } = await startHeldRender();
    for (const pid of server.workerPids()) process.kill(pid, 'SIGKILL');
    const delivered = await response;
    await delivered.arrayBuffer();
    const lines = await search(idOf(delivered));
    const lost = lines.find(({ msg }) => msg === 'render worker exited unexpectedly, starting another');
    expect(lost).toMatchObject({ level: LEVELS.warn, exit: { signal: 'SIGKILL' } });
    const [first, second] = String(requestLine(lines)?.['worker']).split(',');
    expect(lost?.['worker']).toBe(first);
    expect(lines.find(({ msg }) => msg === 'render completed')).toMatchObject({ worker: second });
  });

  it('the log shows how far the request of a client that left had come, with status 499', async () => {
    await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
    const client = new AbortController();
    const { response } = await startHeldRender(client.signal);
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    const line = await until(() => logLines(log()).find(({ status }) => status === 499));
    expect(line).toMatchObject({ code: 'client_closed', sourceType: 'image', credits: 0 });
    expect(line['bytesIn']).toBeGreaterThan(noisy.length);
    const canceled = (): LogLine[] =>
      logLines(log()).filter(
        ({ msg, renderId }) => renderId === line['requestId'] && /^(?:probe|render) canceled$/u.test(msg),
      );
    await until(() => canceled().length > 0);
    expect(canceled()).toHaveLength(1);
  });

  it('the log of a server has one line for a request to a path that does not exist, and for bytes that are not HTTP', async () => {
    const response = await fetch(`${server.url}/nowhere?token=query-secret`);
    expect(await search(idOf(response))).toMatchObject([
      { method: 'GET', route: 'unknown', status: 404, code: 'not_found' },
    ]);
    const malformed = await fetch(`${server.url}/%c0`);
    expect(await search(idOf(malformed))).toMatchObject([{ status: 404, code: 'not_found' }]);
  });

  it('the log of a server never contains a key, a caption or a query string, and has probes only at level debug', async () => {
    for (const probe of ['ping', 'health', 'ready', 'metrics'])
      await fetch(`${server.url}/${probe}?token=query-secret`);
    const response = await fetch(`${server.url}/docs/errors?token=query-secret`);
    await search(idOf(response));
    expect(log()).not.toContain(CAPTION);
    expect(log()).not.toContain('query-secret');
    expect(log()).not.toContain(server.key.slice('sb_live_'.length));
    const routes = logLines(log()).map(({ route }) => route);
    for (const probe of ['/ping', '/health', '/ready', '/metrics']) expect(routes).not.toContain(probe);
  });

  // This is the last test, because it ends the server.
  it('the log of a server records start, listening, draining and stop', async () => {
    await server.stop();
    const messages = logLines(log()).map(({ msg }) => msg);
    const steps = messages.filter((msg) => msg.startsWith('server '));
    expect(steps).toEqual(['server starting', 'server listening', 'server draining', 'server stopped']);
  });
});

describe.skipIf(!hasNats)('the logs of an API server and a worker node (needs nats-server)', () => {
  let nats: RunningNats;
  let server: RunningServer;
  let worker: RunningWorker;

  beforeAll(async () => {
    nats = await startNats();
    const remote = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '0', STORYBAR_INTERNAL_PORT: '0' };
    worker = await startWorker(nats.url, { STORYBAR_VIDEO_WORKERS: '0' });
    server = await startServer({ ...remote, STORYBAR_NATS_URL: nats.url });
    await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
  });
  afterAll(async () => {
    await server.stop();
    await worker.stop();
    await nats.stop();
  });

  it('the logs have the render id of a delivered render, and the request line names the worker node', async () => {
    const response = await post(server, form({ asset: await plainPng(320, 240, 'gray'), text: CAPTION }));
    await response.arrayBuffer();
    const onWorker = await grep(() => worker.stderr(), idOf(response), 'render completed');
    const onServer = await grep(() => server.output().stderr, idOf(response), 'request completed');
    expect(requestLine(onServer)?.['worker']).toBe(onWorker[0]?.['node']);
    expect(onWorker[0]).toMatchObject({ worker: 'image-1', version, host: hostname() });
  });

  it('the logs have the render id and the reason of an asset that could not be decoded', async () => {
    const corrupt = (await noisyJpeg(640, 480)).subarray(0, 300);
    const response = await post(server, form({ asset: corrupt, text: CAPTION }));
    const [onWorker] = await grep(() => worker.stderr(), idOf(response), 'probe failed');
    expect(onWorker).toMatchObject({ code: 'asset_undecodable' });
    const [line] = await grep(() => server.output().stderr, idOf(response), 'request completed');
    expect(line).toMatchObject({ status: 422, code: 'asset_undecodable', worker: onWorker?.['node'] });
  });

  it('the logs have the render id of a render whose worker node died', async () => {
    const victim = await startWorker(nats.url);
    await until(() => health(server).then(({ renderer }) => renderer.images.ready === 2));
    const release = hold([...worker.renderPids(), ...victim.renderPids()]);
    const asset = await noisyJpeg(300, 300);
    const pending = [post(server, form({ asset, text: CAPTION })), post(server, form({ asset, text: CAPTION }))];
    await until(() => victim.health().then(({ renderer }) => renderer.images.busy > 0));
    await victim.stop();
    release();
    const responses = await Promise.all(pending);
    for (const response of responses) {
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      await grep(() => server.output().stderr, idOf(response), 'request completed');
    }
    const lost = logLines(server.output().stderr).find(
      ({ msg }) => msg === 'worker lost a render, handing it out again',
    );
    expect(responses.map(idOf)).toContain(lost?.['renderId']);
    const lines = await grep(() => server.output().stderr, String(lost?.['renderId']), 'request completed');
    expect(String(requestLine(lines)?.['worker']).split(',')[0]).toBe(lost?.['worker']);
    expect(worker.stderr()).not.toContain(CAPTION);
  });

  it("record a worker node's start, listening, draining and stop", async () => {
    const node = await startWorker(nats.url);
    node.signal('SIGTERM');
    await node.exited;
    const steps = (): string[] => logLines(node.stderr()).map(({ msg }) => msg);
    // The last output of a process may arrive after its exit.
    await until(() => steps().includes('worker node stopped'));
    expect(steps().filter((msg) => msg.startsWith('worker node '))).toEqual([
      'worker node starting',
      'worker node listening',
      'worker node draining',
      'worker node stopped',
    ]);
    await node.stop();
  });
});
