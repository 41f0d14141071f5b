// Measures the processor time of a minute of video with timed bars, relative to the same transcode without bars. Frames
// without a bar should cost nothing extra, so the cost should follow the time that bars are shown.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { type Contender, inNode, type Job } from './contenders.ts';

const SECONDS = 60;

type Clip = Pick<Job, 'clip' | 'output'>;

/** Each case with the ratio to reach. */
const TARGETS: Readonly<Record<string, { readonly contender: Contender<Clip>; readonly target: number }>> = {
  'no bar': { contender: inNode('floor'), target: 1 },
  'one bar for 10 s': { contender: inNode('one'), target: 1.03 },
  'ten bars, one after the other': { contender: inNode('ten'), target: 1.06 },
  'ten captions as box and outline': { contender: inNode('styled'), target: 1.1 },
  'ten bars, three at a time': { contender: inNode('crowd'), target: 1.1 },
};

/** Repeats a clip without encoding it. */
function makeMinute(clip: string, work: string): string {
  const minute = path.join(work, 'minute.mp4');
  const input = ['-v', 'error', '-y', '-stream_loop', '-1', '-i', clip];
  execFileSync('ffmpeg', [...input, '-t', `${SECONDS}`, '-map', '0:v:0', '-c', 'copy', minute]);
  return minute;
}

export async function benchTimed(clip: string, work: string, runs: number): Promise<void> {
  const job: Clip = { clip: makeMinute(clip, work), output: path.join(work, 'timed.mp4') };
  const best = new Map<string, number>();
  for (let run = 0; run < runs; run += 1) {
    for (const [name, { contender }] of Object.entries(TARGETS)) {
      const { cpu } = await contender(job);
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, cpu));
    }
  }
  const floor = best.get('no bar') ?? Number.NaN;
  console.log(`\nTimed bars on ${SECONDS} s of ${path.basename(clip)}       cpu s   x no bar   target`);
  for (const [name, { target }] of Object.entries(TARGETS)) {
    const cpu = best.get(name) ?? Number.NaN;
    const columns = [(cpu / 1000).toFixed(2), (cpu / floor).toFixed(3), target.toFixed(2)];
    console.log(`${name.padEnd(46)} ${columns.map((text) => text.padStart(9)).join('')}`);
  }
}
