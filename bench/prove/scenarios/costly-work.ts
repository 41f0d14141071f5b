// Valid requests of one account that take a worker as long as they can: an image of 33 megapixels that must fit into few bytes, and
// layouts with as many words as allowed. Another account's images must not wait for them longer than one of them may take.

import sharp from 'sharp';
import { must } from '../../../src/shared/must.ts';
import { exchange, watchAttack } from '../bystander.ts';
import { multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import type { Fixture, Scenario, World } from '../world.ts';

/** As on the free plan. */
const AT_ONCE = 2;
const LAYOUTS = 8;
const CUES = 500;
const MAX_EXTRA_MS = 100;

export const costlyWork: Scenario = {
  name: 'costly-work',
  about: 'one account sends the most expensive images and layouts it may, beside another account',
  run: async (world) => {
    const settings = { STORYBAR_LOG_LEVEL: 'warn', STORYBAR_WORKERS: '2' };
    await world.withServer({ accounts: 2, settings }, async (fixture) => {
      const body = multipart(await largeImage());
      await watch(world, fixture, 'images with `max_bytes`', AT_ONCE, async () => {
        const { code } = await fixture.request({ key: fixture.subject.account(0).key, body });
        return code;
      });
      await watch(world, fixture, 'layouts of many cues', LAYOUTS, async () => await layOut(fixture));
    });
  },
};

async function watch(
  world: World,
  fixture: Fixture,
  name: string,
  clients: number,
  send: () => Promise<string>,
): Promise<void> {
  const ended: { readonly outcome: string; readonly ms: number }[] = [];
  const client = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const started = performance.now();
      const outcome = await send();
      ended.push({ outcome, ms: performance.now() - started });
    }
  };
  await watchAttack(world, fixture, {
    name,
    seconds: world.choose(15, 60),
    maxExtraMs: MAX_EXTRA_MS,
    key: fixture.subject.account(1).key,
    attack: async (signal) => await Promise.all(Array.from({ length: clients }, async () => await client(signal))),
  });
  const outcomes = [...new Set(ended.map(({ outcome }) => outcome))].join(', ');
  const slowest = must(ended.map(({ ms }) => ms).toSorted((a, b) => b - a)[0], 'an ended request');
  world.figure(name, `${ended.length} ended (${outcomes}), the slowest after ${(slowest / 1e3).toFixed(1)} s`);
}

/** Noise can't be compressed, so no quality but the lowest fits. */
async function largeImage(): Promise<Readonly<Record<string, string | Buffer>>> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const asset = await sharp({ create: { width: 1_500, height: 1_500, channels: 3, background: '#888', noise } })
    .jpeg({ quality: 90 })
    .toBuffer();
  return { asset, text: CAPTION, fit: 'crop', width: '5744', height: '5744', format: 'webp', max_bytes: '4000000' };
}

async function layOut({ subject }: Fixture): Promise<string> {
  const words = Array.from({ length: CUES }, (_, index) => ({ text: `word${index}`, start: index, end: index + 1 }));
  const body = JSON.stringify({ width: 1_080, height: 1_920, duration: CUES, captions: JSON.stringify({ words }) });
  const { status } = await exchange(subject.target, '/v1/layout', { key: subject.account(0).testKey, body });
  return String(status);
}
