// One request through the route with recording stand-ins: the steps that run, their order, and what is undone on
// failure.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import { WorkArea } from '../../../engine/media/work-area.ts';
import { FetchPolicy } from '../../fetch/fetch-policy.ts';
import { type OverlayDependencies, overlayRoute } from './overlay-route.ts';
import { RunningRequests } from '../transport/running-requests.ts';
import { FileSender } from './file-sender.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const CALLER = {
  accountId: 'account',
  mode: 'live',
  plan: { limits: { imageBytes: 1_000, videoBytes: 1_000, imagePixels: 1_000_000 } },
};

let folder: string;
let workArea: WorkArea;
let app: FastifyInstance;
let steps: string[];
let failing: string | undefined;
let replayFile: string | undefined;
let running: RunningRequests;
/** Delays the charge until a test continues it. */
let charging: Promise<void>;

/** Records a step, or throws when the test wants this step to fail. */
function step(name: string): void {
  steps.push(name);
  if (failing === name) throw new AppError('storage_unavailable', `${name} failed`);
}

function stepOf<Args extends unknown[], Result>(name: string, result: (...args: Args) => Result) {
  return async (...args: Args): Promise<Result> => {
    step(name);
    return result(...args);
  };
}

function standIns(): OverlayDependencies {
  const sender = new FileSender(new AbortController().signal, 3_600);
  const claim = {
    replay: undefined,
    startDelivery: () => () => undefined,
    keep: stepOf('keep', () => undefined),
    remember: () => undefined,
    rememberRefusal: () => undefined,
    abandon: stepOf('abandon', () => undefined),
  };
  const reservation = {
    credits: 1,
    remaining: 9,
    settle: async () => {
      step('settle');
      await charging;
    },
    release: stepOf('release', () => undefined),
  };
  const facts = { width: 16, height: 16, bars: [], missingGlyphs: 0, warnings: [], timings: {} };
  const dependencies = {
    authenticator: { authenticate: stepOf('authenticate', () => CALLER) },
    marketplace: { isClaimed: () => false, billingHeader: 'x-billing' },
    admission: {
      countRequest: stepOf('count request', () => undefined),
      enter: stepOf('enter', () => () => undefined),
    },
    refusals: { add: () => steps.push('count refusal') },
    renderer: {
      open: () => {
        step('open');
        return {
          choose: () => step('choose'),
          enter: () => step('enter queue'),
          probe: stepOf('probe', () => ({ kind: 'image', width: 16, height: 16, isSrgb: true })),
          render: stepOf('render', ({ output }: { readonly output: string }) => {
            writeFileSync(output, 'rendered');
            return facts;
          }),
          close: () => steps.push('close'),
        };
      },
    },
    failedDecodes: { count: async () => undefined },
    uploads: {
      reserve: stepOf('receive', () => ({
        grow: () => undefined,
        addResult: () => undefined,
        release: () => undefined,
      })),
    },
    idempotency: {
      claim: stepOf('claim', () =>
        replayFile === undefined
          ? claim
          : { ...claim, replay: { renderId: 'first', headers: {}, restore: async () => replayFile } },
      ),
    },
    links: { isAsyncAvailable: () => true },
    styles: { resolve: async (_accountId: string, form: unknown) => form },
    logos: { load: async () => undefined },
    speechCaptions: { assertAvailable: () => undefined },
    outputBytes: 1e9,
    fetcher: { policy: new FetchPolicy('off', []) },
    reservations: { reserve: stepOf('reserve', () => reservation) },
    sender: {
      send: async (...args: Parameters<FileSender['send']>) => {
        step('send');
        await sender.send(...args);
      },
    },
    metrics: { requestEnded: () => undefined, charged: () => undefined },
    workArea,
    running,
    deadlineMs: { image: 10_000, video: 10_000 },
    shutdown: new AbortController().signal,
  };
  return dependencies as unknown as OverlayDependencies;
}

async function post(fields: Readonly<Record<string, string | Buffer>>): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]));
  }
  const address = app.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen');
  return await fetch(`http://127.0.0.1:${address.port}/`, { method: 'POST', body: form });
}

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-handler-'));
  workArea = await WorkArea.open(folder);
  steps = [];
  failing = undefined;
  replayFile = undefined;
  running = new RunningRequests();
  charging = Promise.resolve();
  app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.post('/', overlayRoute(standIns()));
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const ADMITTED = ['authenticate', 'count request', 'enter', 'open'];
/** The file enters the queue before it is written to disk. */
const ENTERED = ['receive', 'claim', 'enter queue'];
const CANVAS = { text: 'Hello', width: '16', height: '16' };

describe('the overlay handler', () => {
  it('the overlay handler probes an asset before it reserves credits and renders only after that', async () => {
    const response = await post({ text: 'Hello', asset: PNG });
    expect([response.status, await response.text()]).toEqual([200, 'rendered']);
    expect(response.headers.get('x-credits-charged')).toBe('1');
    const paid = ['probe', 'reserve', 'render', 'close', 'send', 'keep', 'settle', 'close'];
    expect(steps).toEqual([...ADMITTED, ...ENTERED, ...paid]);
  });

  it('renders an overlay-only request without a probe', async () => {
    expect((await post(CANVAS)).status).toBe(200);
    const paid = ['receive', 'claim', 'choose', 'reserve', 'render', 'close', 'send', 'keep', 'settle', 'close'];
    expect(steps).toEqual([...ADMITTED, ...paid]);
  });

  it('the overlay handler sends a replay without probing, reserving or rendering', async () => {
    replayFile = path.join(folder, 'cached');
    writeFileSync(replayFile, 'cached');
    const response = await post({ text: 'Hello', asset: PNG });
    expect(await response.text()).toBe('cached');
    expect(response.headers.get('idempotency-replayed')).toBe('true');
    expect(steps.slice(ADMITTED.length)).toEqual(['receive', 'claim', 'send', 'close']);
  });

  it.each([
    ['enter queue', [...ENTERED, 'abandon', 'close', 'count refusal']],
    ['probe', [...ENTERED, 'probe', 'abandon', 'close', 'count refusal']],
    ['reserve', [...ENTERED, 'probe', 'reserve', 'abandon', 'close', 'count refusal']],
    ['render', [...ENTERED, 'probe', 'reserve', 'render', 'release', 'abandon', 'close']],
    ['send', [...ENTERED, 'probe', 'reserve', 'render', 'close', 'send', 'release', 'abandon', 'close']],
  ])('the overlay handler undoes what was done when %s fails', async (name, expected) => {
    failing = name;
    expect((await post({ text: 'Hello', asset: PNG })).status).toBe(500);
    expect(steps.slice(ADMITTED.length)).toEqual(expected);
  });

  it('the overlay handler refuses bad fields and unknown files before it claims the idempotency key', async () => {
    await post({ text: '', asset: PNG });
    await post({ text: 'Hello', asset: Buffer.from('not an image') });
    const refused = [...ADMITTED, 'receive', 'close', 'count refusal'];
    expect(steps).toEqual([...refused, ...refused]);
  });

  it('the overlay handler writes a small asset to disk only when the queue has a place for it', async () => {
    failing = 'enter queue';
    let made = 0;
    const lazyDirectory = workArea.lazyDirectory.bind(workArea);
    vi.spyOn(workArea, 'lazyDirectory').mockImplementation((id) => {
      const directory = lazyDirectory(id);
      return {
        ...directory,
        make: async () => {
          made += 1;
          await directory.make();
        },
      };
    });
    expect([(await post({ text: 'Hello', asset: PNG })).status, made]).toEqual([500, 0]);
    failing = undefined;
    expect((await post({ text: 'Hello', asset: PNG })).status).toBe(200);
    expect(made).toBeGreaterThan(0);
  });

  it('the overlay handler counts as running until the render is charged, although the client has its response', async () => {
    let charge = (): void => undefined;
    charging = new Promise((resolve) => {
      charge = resolve;
    });
    expect(await (await post(CANVAS)).text()).toBe('rendered');
    app.server.closeAllConnections();
    await expect.poll(() => steps.at(-1)).toBe('settle');
    expect(await running.ended(1)).toBe(1);
    charge();
    expect(await running.ended(60_000)).toBe(0);
  });

  it('the overlay handler removes the work directory of every request', async () => {
    await post({ text: 'Hello', asset: PNG });
    failing = 'render';
    await post({ text: 'Hello', asset: PNG });
    await app.close();
    const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /asset|output/u.test(name))).toEqual([]);
  });
});
