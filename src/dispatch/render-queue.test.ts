import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Asset, createAsset } from '../media/asset.ts';
import type { Recipe } from '../render/compose.ts';
import { RenderQueue } from './render-queue.ts';

const { signal } = new AbortController();
setMaxListeners(0, signal);
const requester = (account: string) => ({ account, budgetMs: 1e9 });
const photo = (): Asset => createAsset({ path: 'photo', format: 'png', bytes: 1 });
const clip = (): Asset => createAsset({ path: 'clip', format: 'mp4', bytes: 1 });
const imageOf = (megapixels: number) =>
  ({ kind: 'image', canvas: { width: 1_000, height: megapixels * 1_000 } }) as unknown as Recipe;
const videoOf = (frames: number | undefined, transfer = 'sdr', frameStep = 1) =>
  ({
    kind: 'video',
    canvas: { width: 1_000, height: 1_000 },
    video: { frames, tags: { transfer } },
    frameStep,
  }) as unknown as Recipe;

/** One busy slot. `finish` releases it, so that the next waiting entry is served. */
function busyQueue(kind: 'image' | 'video') {
  let free = 1;
  const served: string[] = [];
  const queue = new RenderQueue<void>(
    kind,
    {
      total: () => 1,
      free: () => free,
      take: ({ account }) => {
        free -= 1;
        served.push(account);
      },
    },
    100,
  );
  void queue.take(signal, queue.renderEntry({ recipe: imageOf(1), asset: undefined }, requester('first')));
  const finish = (): void => {
    free += 1;
    queue.release(served.at(-1) ?? '');
  };
  return { queue, served, finish };
}

describe('a render queue', () => {
  it('charges a layout for its bars, and learns how long they take', () => {
    const { queue } = busyQueue('image');
    const layoutOf = (bars: number) =>
      ({
        recipe: { kind: 'layout', canvas: { width: 100, height: 100 }, overlays: Array.from({ length: bars }) },
        asset: undefined,
      }) as unknown as { recipe: Recipe; asset: undefined };
    const usualMs = queue.probeEntry(photo()).cost;
    expect(queue.renderEntry(layoutOf(500)).cost).toBeGreaterThan(1_000);
    expect(queue.renderEntry(layoutOf(1)).cost).toBeLessThan(10);
    for (let count = 0; count < 100; count += 1) queue.learn(layoutOf(500).recipe, 10_000);
    expect(queue.renderEntry(layoutOf(500)).cost).toBeGreaterThan(9_000);
    expect(queue.probeEntry(photo()).cost).toBe(usualMs);
  });

  it('charges a probe with the cost of an average render', () => {
    const { queue } = busyQueue('video');
    const before = queue.probeEntry(clip()).cost;
    expect(before).toBeGreaterThan(1_000);
    for (let count = 0; count < 100; count += 1) queue.learn(videoOf(100), 30_000);
    expect(queue.probeEntry(clip()).cost).toBeGreaterThan(25_000);
  });

  it('does not refuse normal videos after many tiny or slow ones', () => {
    const { queue } = busyQueue('video');
    for (let count = 0; count < 100; count += 1) queue.learn(videoOf(1), 5_000);
    const job = { recipe: videoOf(1_200), asset: clip() };
    expect(() => queue.assertFeasible(job, { account: 'a', budgetMs: 60_000 })).not.toThrow();
    for (let count = 0; count < 100; count += 1) queue.learn(videoOf(1_000), 10_000_000);
    expect(() => queue.assertFeasible(job, { account: 'a', budgetMs: 60_000 })).not.toThrow();
  });

  it('refuses a video whose estimate exceeds the deadline by more than a quarter, before it takes a slot', () => {
    const { queue } = busyQueue('video');
    for (let count = 0; count < 100; count += 1) queue.learn(videoOf(1_000), 10_000);
    const asset = clip();
    const check = (frames: number, transfer = 'sdr', frameStep = 1) =>
      queue.assertFeasible(
        { recipe: videoOf(frames, transfer, frameStep), asset },
        { account: 'a', budgetMs: 100_000 },
      );
    expect(() => check(12_400)).not.toThrow();
    expect(() => check(20_000, 'sdr', 4)).not.toThrow();
    const heavy = expect.objectContaining({ code: 'asset_too_heavy', limit: { limit: 100, actual: 130 } });
    expect(() => check(13_000)).toThrow(heavy);
    for (let count = 0; count < 100; count += 1) queue.learn(videoOf(1_000, 'hlg'), 20_000);
    expect(() => check(6_500, 'hlg')).toThrow(heavy);
    expect(() => queue.assertFeasible({ recipe: videoOf(1e6), asset })).not.toThrow();
  });

  it('learns the cost of renders per unit of work', () => {
    const { queue } = busyQueue('image');
    for (let count = 0; count < 100; count += 1) queue.learn(imageOf(10), 1_003);
    expect(queue.renderEntry({ recipe: imageOf(2), asset: undefined }).cost).toBeCloseTo(203, 0);
  });

  it('serves the render of a probed asset before everything that waits', () => {
    const { queue, served, finish } = busyQueue('image');
    const asset = photo();
    void queue.take(signal, queue.probeEntry(asset, requester('a')));
    finish();
    void queue.take(signal, queue.probeEntry(photo(), requester('b')));
    void queue.take(signal, queue.renderEntry({ recipe: imageOf(1), asset }, requester('a')));
    finish();
    finish();
    expect(served).toEqual(['first', 'a', 'a', 'b']);
  });

  it('shares by the real cost of renders, which is known after the probe', async () => {
    const { queue, served, finish } = busyQueue('image');
    const megapixels: Readonly<Record<string, number>> = { small: 1, large: 10 };
    const waiting = new Map<string, Asset[]>();
    for (const account of ['small', 'large']) {
      const assets = Array.from({ length: 40 }, photo);
      waiting.set(account, assets);
      for (const asset of assets) void queue.take(signal, queue.probeEntry(asset, requester(account)));
    }
    for (let count = 0; count < 40; count += 1) {
      finish();
      // A render follows its probe, so the promise of the slot has been resolved.
      await setImmediate();
      const account = served.at(-1) ?? '';
      const recipe = imageOf(megapixels[account] ?? 0);
      queue.renderEntry({ recipe, asset: waiting.get(account)?.shift() }, requester(account));
    }
    const count = (account: string): number => served.filter((each) => each === account).length;
    // 10 megapixels cost 253 ms, 1 megapixel 28 ms; each probe costs another 2 ms.
    expect(count('small') / count('large')).toBeGreaterThan(6);
    expect(count('small') / count('large')).toBeLessThan(10);
  });

  it('gives back what a failed probe paid for the render, and nothing that was not paid', async () => {
    const { queue, served, finish } = busyQueue('video');
    const damaged = Array.from({ length: 10 }, clip);
    for (const asset of damaged) void queue.take(signal, queue.probeEntry(asset, requester('damaged')));
    for (const asset of damaged) {
      finish();
      await setImmediate();
      queue.refund(asset, requester('damaged'));
    }
    // Never served, so never charged.
    queue.refund(clip(), requester('other'));
    for (const account of ['other', 'damaged', 'other', 'damaged', 'other', 'damaged']) {
      void queue.take(signal, queue.probeEntry(clip(), requester(account)));
    }
    for (let count = 0; count < 6; count += 1) finish();
    expect(served.slice(-6).toSorted()).toEqual(['damaged', 'damaged', 'damaged', 'other', 'other', 'other']);
    expect(served.slice(-6, -2).toSorted()).toEqual(['damaged', 'damaged', 'other', 'other']);
  });

  it('rejects a recipe without a number of frames and stays fair for others', () => {
    const { queue, served, finish } = busyQueue('video');
    const asset = clip();
    queue.probeEntry(asset, requester('a'));
    expect(() => queue.renderEntry({ recipe: videoOf(undefined), asset }, requester('a'))).toThrow(
      /finite number; got NaN/u,
    );
    for (const account of ['a', 'a', 'a', 'b', 'b', 'b']) {
      void queue.take(signal, queue.probeEntry(clip(), requester(account)));
    }
    for (let count = 0; count < 6; count += 1) finish();
    expect(served).toEqual(['first', 'a', 'b', 'a', 'b', 'a', 'b']);
  });
});
