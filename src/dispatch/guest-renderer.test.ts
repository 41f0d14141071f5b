import { expect, it } from 'vitest';
import { GuestRenderer } from './guest-renderer.ts';
import type { Renderer, RenderJob } from './renderer.ts';

const JOB: RenderJob = {
  recipe: { kind: 'transparent', canvas: { width: 16, height: 16 }, overlays: [], attemptMs: 1_000 },
  asset: undefined,
  output: 'nowhere',
};

function slowRenderer() {
  const finish: (() => void)[] = [];
  const renderer = {
    render: () =>
      new Promise<never>((_resolve, reject) => {
        finish.push(() => reject(new Error('finished')));
      }),
  } as unknown as Renderer;
  return { renderer, finish };
}

it('renders as many at once as it may, and the next when one has ended, however it ended', async () => {
  const { renderer, finish } = slowRenderer();
  const courtesy = new GuestRenderer(renderer, { atOnce: 2, maxWaiting: 1 });
  const { signal } = new AbortController();
  const renders = [1, 2, 3].map(() => courtesy.render(JOB, signal));
  const settled = Promise.allSettled(renders);
  await new Promise(setImmediate);
  expect(finish).toHaveLength(2);
  await expect(courtesy.render(JOB, signal)).rejects.toMatchObject({ code: 'overloaded' });
  finish[0]?.();
  await expect(renders[0]).rejects.toThrow('finished');
  await new Promise(setImmediate);
  expect(finish).toHaveLength(3);
  finish[1]?.();
  finish[2]?.();
  await settled;
});
