// Processor time of a video with words that light up as they are spoken, relative to the same transcode without bars. Memory
// must not grow with the number of words.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import { parseForm } from '../../src/engine/caption/form.ts';
import { inNode } from './contenders.ts';

const WORDS_PER_MINUTE = 150;
const SECONDS = 20;
const TARGET = 1.08;
/** The longest video, with as many words as a request can have. */
const LONG_SECONDS = 600;
const LONG_WORDS = 3_000;

const SENTENCES =
  'So this is how captions follow a voice. Every word lights up when it is spoken, and nothing else on the screen moves.';

/** A transcript of that many words as a request would have it. */
function spoken(words: number, secondsPerWord: number, style: object): readonly Overlay[] {
  const texts = SENTENCES.split(' ');
  const transcript = Array.from({ length: words }, (_, at) => {
    const start = at * secondsPerWord;
    return { word: texts[at % texts.length], start, end: start + 0.9 * secondsPerWord };
  });
  const fields = [
    { name: 'captions', value: { words: transcript } },
    { name: 'style', value: style },
  ];
  return parseForm({ fields, isJson: true, hasAsset: true, faults: [] }).overlays;
}

const perWord = 60 / WORDS_PER_MINUTE;
const count = (SECONDS / 60) * WORDS_PER_MINUTE;

/** By the name of the case. */
export const SPOKEN_OVERLAYS: Readonly<Record<string, () => readonly Overlay[]>> = {
  'words-box': () => spoken(count, perWord, { highlight: 'box' }),
  'words-outline': () => spoken(count, perWord, { preset: 'outline', size: 1.25, weight: 'bold', highlight: 'box' }),
  'words-color': () => spoken(count, perWord, { preset: 'box', highlight: 'color' }),
  'words-pop': () => spoken(count, perWord, { preset: 'plain', highlight: 'pop' }),
  'words-reveal': () => spoken(count, perWord, { preset: 'outline', highlight: 'reveal' }),
  'words-few': () => spoken(LONG_WORDS / 10, LONG_SECONDS / LONG_WORDS, { highlight: 'box' }),
  'words-many': () => spoken(LONG_WORDS, LONG_SECONDS / LONG_WORDS, { highlight: 'box' }),
};

function makeClip(source: string, file: string, seconds: number, size: string): string {
  const [width, height] = size.split('x');
  const fill = `scale=${width}:${height}:force_original_aspect_ratio=increase,crop=${width}:${height},fps=30`;
  const input = ['-v', 'error', '-y', '-stream_loop', '-1', '-i', source, '-t', `${seconds}`];
  execFileSync('ffmpeg', [...input, '-map', '0:v:0', '-vf', fill, '-c:v', 'libx264', '-preset', 'veryfast', file]);
  return file;
}

export async function benchWords(source: string, work: string, runs: number): Promise<void> {
  const job = {
    clip: makeClip(source, path.join(work, 'words.mp4'), SECONDS, '1080x1920'),
    output: path.join(work, 'out.mp4'),
  };
  const kinds = ['floor', 'words-box', 'words-outline', 'words-color', 'words-pop', 'words-reveal'];
  const best = new Map<string, number>();
  for (let run = 0; run < runs; run += 1) {
    for (const kind of kinds) {
      const { cpu } = await inNode(kind)(job);
      best.set(kind, Math.min(best.get(kind) ?? Number.POSITIVE_INFINITY, cpu));
    }
  }
  const floor = best.get('floor') ?? Number.NaN;
  console.log(`\n${WORDS_PER_MINUTE} words a minute on ${SECONDS} s of 1080x1920       cpu s   x no bar   target`);
  for (const kind of kinds) {
    const cpu = best.get(kind) ?? Number.NaN;
    const columns = [(cpu / 1000).toFixed(2), (cpu / floor).toFixed(3), kind === 'floor' ? '' : TARGET.toFixed(2)];
    console.log(`${kind.padEnd(42)} ${columns.map((text) => text.padStart(9)).join('')}`);
  }
  const long = { ...job, clip: makeClip(source, path.join(work, 'long.mp4'), LONG_SECONDS, '90x160') };
  console.log(`\nMemory on ${LONG_SECONDS} s of 90x160                          rss MB`);
  for (const [kind, words] of [
    ['floor', 0],
    ['words-few', LONG_WORDS / 10],
    ['words-many', LONG_WORDS],
  ] as const) {
    const { rssMb } = await inNode(kind)(long);
    console.log(`${`${words} words`.padEnd(50)} ${rssMb.toFixed(0).padStart(9)}`);
  }
}
