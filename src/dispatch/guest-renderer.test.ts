import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Asset } from '../media/asset.ts';
import { GuestRenderer } from './guest-renderer.ts';
import type { Renderer, RenderJob } from './renderer.ts';

const JOB: RenderJob = {
  recipe: {
    kind: 'transparent',
    canvas: { width: 16, height: 16 },
    overlays: [],
    attemptMs: 1_000,
    output: { format: 'png' },
  },
  asset: undefined,
  output: 'nowhere',
};
const { signal } = new AbortController();

/** Renders that end when the test says so. */
function slowRenderer(ready: number) {
  const state = { ready, finish: [] as (() => void)[] };
  const renderer = {
    status: () => ({ images: { ready: state.ready } }),
    render: () => new Promise<never>((_resolve, reject) => state.finish.push(() => reject(new Error('finished')))),
  } as unknown as Renderer;
  return { renderer, state };
}

it('renders in half of the ready workers at a time and starts the next render when one ends, even with an error', async () => {
  const { renderer, state } = slowRenderer(4);
  const guests = new GuestRenderer(renderer, 1);
  const renders = [1, 2, 3].map(() => guests.render(JOB, signal));
  const settled = Promise.allSettled(renders);
  await setImmediate();
  expect(state.finish).toHaveLength(2);
  await expect(guests.render(JOB, signal)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 2 });
  state.finish[0]?.();
  await expect(renders[0]).rejects.toThrow('finished');
  await setImmediate();
  expect(state.finish).toHaveLength(3);
  state.finish[1]?.();
  state.finish[2]?.();
  await settled;
});

it('uses more slots when workers come and fewer when they leave, but always at least one', async () => {
  const { renderer, state } = slowRenderer(0);
  const guests = new GuestRenderer(renderer, 10);
  const renders = [1, 2, 3, 4].map(() => guests.render(JOB, signal));
  const settled = Promise.allSettled(renders);
  await setImmediate();
  expect(state.finish).toHaveLength(1);
  state.ready = 7;
  state.finish[0]?.();
  await setImmediate();
  expect(state.finish).toHaveLength(4);
  state.ready = 1;
  const late = guests.render(JOB, signal);
  state.finish[1]?.();
  state.finish[2]?.();
  await setImmediate();
  expect(state.finish).toHaveLength(4);
  state.finish[3]?.();
  await setImmediate();
  expect(state.finish).toHaveLength(5);
  state.finish[4]?.();
  await expect(late).rejects.toThrow('finished');
  await settled;
});

it('counts videos apart from images, so that a slow clip of a guest does not hold up previews', async () => {
  const started: string[] = [];
  const renderer = {
    status: () => ({ images: { ready: 1 }, videos: { ready: 1 } }),
    render: (job: RenderJob) =>
      new Promise<never>(() => {
        started.push(job.asset?.kind ?? 'overlay');
      }),
  } as unknown as Renderer;
  const guests = new GuestRenderer(renderer, 1);
  const clip = { ...JOB, asset: { kind: 'video' } as Asset };
  void guests.render(clip, signal);
  void guests.render(clip, signal);
  void guests.render(JOB, signal);
  await setImmediate();
  expect(started).toEqual(['video', 'overlay']);
  await expect(guests.render(clip, signal)).rejects.toMatchObject({ code: 'overloaded' });
});
