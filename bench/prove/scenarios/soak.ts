// Steady load for a long time: does memory grow? A line is laid through what server and workers take after a warm-up.

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

const LOAD = 0.4;
const SAMPLE_MS = 5_000;
const WARM_UP = 0.3;
const MOST_MB_AN_HOUR = 1;

export const soak: Scenario = {
  name: 'soak',
  about: 'steady mixed load, and a line through the memory of server and workers',
  run: async (world) => {
    const [story, small] = await Promise.all([storyForm(), smallForm()]);
    const video = multipart({ asset: clip(), text: CAPTION });
    const broken = multipart({ asset: Buffer.from('not a picture'), text: CAPTION });
    const overlay = multipart({ width: '320', height: '240', text: CAPTION });
    const bodies = [story, story, small, small, small, overlay, overlay, video, broken];
    const minutes = Math.max(1, world.profile.soakMinutes);
    await world.on({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async (stage) => {
      const rate = (await capacityOf(stage, story, 5)) * LOAD;
      const end = performance.now() + minutes * 60_000;
      const sampling = sample(stage.subject, end);
      const send = async (due: number) =>
        await stage.ask({ key: stage.subject.key, body: world.random.pick(bodies), due });
      while (performance.now() < end) {
        const seconds = Math.max(1, Math.min(60, (end - performance.now()) / 1_000));
        await openLoad({ rate, seconds, random: world.random, send });
        // Answers are counted, not kept: the client must not be what grows.
      }
      const samples = await sampling;
      const warm = samples.slice(Math.floor(samples.length * WARM_UP));
      world.figure(
        'minutes, requests, samples',
        `${minutes}, ${stage.journal.delivered.size} delivered, ${warm.length}`,
      );
      for (const who of ['server', 'workers'] as const) {
        const { slope, error } = fitLine(warm.map((one) => [one.hours, one[who]]));
        const last = warm.at(-1)?.[who].toFixed(0);
        // Only a growth that the noise cannot explain is a miss.
        const met = who === 'server' ? slope - 2 * error <= MOST_MB_AN_HOUR : undefined;
        const target = `<= ${MOST_MB_AN_HOUR} MB/h within 2 errors`;
        const value = `${slope.toFixed(1)} +- ${error.toFixed(1)} MB/h (${last} MB)`;
        world.figure(`${who} slope`, value, met === undefined ? undefined : { target, met });
      }
    });
  },
};

interface Sample {
  readonly hours: number;
  readonly server: number;
  readonly workers: number;
}

async function sample(subject: Subject, end: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const started = performance.now(); performance.now() < end; await wait(SAMPLE_MS)) {
    const workers = subject.workers().reduce((sum, pid) => sum + residentBytes(pid), 0) / 1e6;
    const hours = (performance.now() - started) / 3_600_000;
    samples.push({ hours, server: residentBytes(subject.pid) / 1e6, workers });
  }
  return samples;
}
