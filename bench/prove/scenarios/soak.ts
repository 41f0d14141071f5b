// Steady load for a long time, to see whether memory grows: the slope of a line through the memory use after a warm-up.

import { setTimeout as wait } from 'node:timers/promises';
import { multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import { openLoad } from '../load.ts';
import { clip, smallForm, storyForm } from '../payloads.ts';
import { residentBytes } from '../processes.ts';
import { fitLine } from '../slope.ts';
import type { Subject } from '../subject.ts';
import type { Scenario } from '../world.ts';
import { capacityOf } from './overload.ts';

/** The load as a share of the capacity. */
const LOAD = 0.4;
const SAMPLE_MS = 5_000;
/** The share of the samples that the fit ignores. */
const WARM_UP = 0.3;
const MAX_MB_PER_HOUR = 1;

export const soak: Scenario = {
  name: 'soak',
  about: 'steady mixed load; measures memory growth of server and workers',
  run: async (world) => {
    const [story, small] = await Promise.all([storyForm(), smallForm()]);
    const video = multipart({ asset: clip(), text: CAPTION });
    const broken = multipart({ asset: Buffer.from('not an image'), text: CAPTION });
    const overlay = multipart({ width: '320', height: '240', text: CAPTION });
    const bodies = [story, story, small, small, small, overlay, overlay, video, broken];
    const minutes = Math.max(1, world.profile.soakMinutes);
    await world.withServer({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async (fixture) => {
      const rate = (await capacityOf(fixture, story, 5)) * LOAD;
      const end = performance.now() + minutes * 60_000;
      const sampling = sampleMemory(fixture.subject, end);
      const send = async (due: number) =>
        await fixture.request({ key: fixture.subject.key, body: world.random.pick(bodies), due });
      while (performance.now() < end) {
        // At most a minute each, so the responses of a long run don't pile up in this process.
        const seconds = Math.max(1, Math.min(60, (end - performance.now()) / 1_000));
        await openLoad({ rate, seconds, random: world.random, send });
      }
      const samples = await sampling;
      const warm = samples.slice(Math.floor(samples.length * WARM_UP));
      world.figure('minutes, deliveries, samples', `${minutes}, ${fixture.journal.delivered.size}, ${warm.length}`);
      for (const component of ['server', 'workers'] as const) {
        const { slope, standardError } = fitLine(warm.map((sample) => [sample.hours, sample[component]]));
        const last = warm.at(-1)?.[component].toFixed(0);
        // Only growth beyond two standard errors misses the target, because less could be noise.
        const met = component === 'server' ? slope - 2 * standardError <= MAX_MB_PER_HOUR : undefined;
        const target = `<= ${MAX_MB_PER_HOUR} MB/h within 2 standard errors`;
        const value = `${slope.toFixed(1)} +- ${standardError.toFixed(1)} MB/h (${last} MB)`;
        world.figure(`${component} memory growth`, value, met === undefined ? undefined : { target, met });
      }
    });
  },
};

interface Sample {
  readonly hours: number;
  readonly server: number;
  readonly workers: number;
}

async function sampleMemory(subject: Subject, end: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const started = performance.now(); performance.now() < end; await wait(SAMPLE_MS)) {
    const workers = subject.workers().reduce((sum, pid) => sum + residentBytes(pid), 0) / 1e6;
    const hours = (performance.now() - started) / 3_600_000;
    samples.push({ hours, server: residentBytes(subject.pid) / 1e6, workers });
  }
  return samples;
}
