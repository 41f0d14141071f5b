// Worker processes that are killed, freeze or lose their client during a render.

import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { holdImages, imageWorkers } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import {
  form,
  health,
  post,
  problemOf,
  type RunningServer,
  signalProcess,
  startServer,
  until,
} from '../running-server.ts';

let server: RunningServer;
let photo: Buffer;
/** The image is so large that no worker finishes it before it is killed. */
let large: Buffer;
beforeAll(async () => {
  [server, photo, large] = await Promise.all([
    startServer({ STORYBAR_WORKERS: '1' }),
    noisyJpeg(1000, 1000),
    noisyJpeg(4000, 3000),
  ]);
});
afterAll(async () => {
  await server.stop();
});

const busy = (): Promise<boolean> => health(server).then(({ renderer }) => renderer.images.busy > 0);
const workersBack = (): Promise<boolean> =>
  health(server).then(({ renderer: { images } }) => images.ready === images.workers);

/** Starts a render and waits until a worker has it, which is then stopped. */
async function startRender(options: { signal?: AbortSignal } = {}): Promise<{ response: Promise<Response> }> {
  holdImages(server);
  const response = post(server, form({ asset: photo, text: 'held' }), options);
  response.catch(() => undefined);
  await until(busy);
  return { response };
}

function killWorkers(signal: NodeJS.Signals): void {
  for (const pid of imageWorkers(server)) signalProcess(pid, signal);
}

describe('a worker that is killed', () => {
  it('a worker that is killed is replaced, and the client still gets the image', async () => {
    const before = (await health(server)).renderer.images.restarts;
    const { response: pending } = await startRender();
    killWorkers('SIGKILL');
    const response = await pending;
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
    expect((await health(server)).renderer.images.restarts).toBe(before + 1);
  });

  it('a render whose worker is killed on every attempt, as by the kernel without memory, gets 503 and leaves nothing behind', async () => {
    const response = await renderWhileWorkersDieOf('SIGKILL');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'renderer_unavailable' });
    await until(() => server.workDirectories().length === 0);
  });

  it('a render whose worker crashes on every attempt gets 422', async () => {
    const response = await renderWhileWorkersDieOf('SIGSEGV');
    expect(await problemOf(response)).toMatchObject({ status: 422, code: 'asset_undecodable' });
  });
});

/** Kills every worker that takes the render until there is a response. */
async function renderWhileWorkersDieOf(signal: NodeJS.Signals): Promise<Response> {
  await until(workersBack);
  let response: Response | undefined;
  const done = post(server, form({ asset: large, text: 'slow' })).then((each) => (response = each));
  await until(async () => {
    if (response === undefined && (await busy())) killWorkers(signal);
    return response !== undefined;
  });
  return await done;
}

it('a worker stops the render and removes its directory when the client disconnects', async () => {
  await until(workersBack);
  const client = new AbortController();
  const { response } = await startRender({ signal: client.signal });
  expect(server.workDirectories()).toHaveLength(1);
  client.abort();
  await expect(response).rejects.toThrow('aborted');
  await until(() => busy().then((isBusy) => !isBusy));
  await until(() => server.workDirectories().length === 0);
  await until(workersBack);
});

it('the server closes the files of aborted uploads', async () => {
  const descriptors = (): number => readdirSync(`/proc/${server.pid}/fd`).length;
  const before = descriptors();
  for (let count = 0; count < 30; count += 1) {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.key}\r\ncontent-length: 2000000\r\n` +
        'content-type: multipart/form-data; boundary=x\r\n\r\n--x\r\ncontent-disposition: form-data; name="asset"; ' +
        // Shorter files are not created before they are complete.
        `filename="a.jpg"\r\n\r\n\u00ff\u00d8\u00ff${'\0'.repeat(1_200_000)}`,
      'latin1',
    );
    await until(() => server.workDirectories().length > 0);
    socket.destroy();
    await until(() => server.workDirectories().length === 0);
  }
  await until(() => descriptors() <= before + 3);
  expect(descriptors()).toBeLessThanOrEqual(before + 3);
});

describe('with a queue of length 0', () => {
  let small: RunningServer;
  beforeAll(async () => {
    small = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_QUEUE: '0' });
  });
  afterAll(async () => {
    await small.stop();
  });

  /** The worker is stopped. */
  const startHeld = async (): Promise<{ response: Promise<Response>; release: () => void }> => {
    await until(() => health(small).then(({ renderer }) => renderer.images.ready === 1));
    const release = holdImages(small);
    const response = post(small, form({ asset: photo, text: 'held' }));
    await until(() => health(small).then(({ renderer }) => renderer.images.busy > 0));
    return { response, release };
  };

  it('retries a render first when its worker dies', async () => {
    const { response } = await startHeld();
    for (const pid of imageWorkers(small)) process.kill(pid, 'SIGKILL');
    expect((await response).status).toBe(200);
    await (await response).arrayBuffer();
  });

  it('returns 503 immediately to a second render', async () => {
    const { response, release } = await startHeld();
    const second = await post(small, form({ width: '64', height: '64', text: 'a' }));
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemOf(second)).toMatchObject({ status: 503, code: 'overloaded' });
    release();
    await (await response).arrayBuffer();
  });
});

it('the server returns 504 when the deadline of a request passes, and replaces the worker that does not stop', async () => {
  const hasty = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_DEADLINE_SECONDS: '1' });
  try {
    const frozen = must(imageWorkers(hasty)[0], 'a worker for images');
    process.kill(frozen, 'SIGSTOP');
    const response = await post(hasty, form({ width: '64', height: '64', text: 'a' }));
    expect(await problemOf(response)).toMatchObject({ status: 504, code: 'deadline_exceeded' });
    // The line says where the time went.
    const line = await until(() => /^.*"status":504.*$/mu.exec(hasty.output().stderr)?.[0]);
    expect(JSON.parse(line)).toMatchObject({ status: 504, stage: 'render', waitedMs: expect.any(Number) });
    await until(() => hasty.workDirectories().length === 0);
    await until(() => !hasty.workerPids().includes(frozen));
    await until(async () => (await post(hasty, form({ width: '64', height: '64', text: 'a' }))).status === 200);
  } finally {
    await hasty.stop();
  }
});
