// The contenders. Our renderer and the floor run in Node. The others are common ways to use an installed FFmpeg and are
// skipped without one. All use the same encoder settings.

import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { VideoRecipe } from '../../src/engine/render/video-recipe.ts';
import { encoderArguments } from './encoder-arguments.ts';

export interface Figures {
  /** Milliseconds. */
  readonly wall: number;
  /** Milliseconds. */
  readonly cpu: number;
  readonly rssMb: number;
}

export interface Job {
  readonly clip: string;
  readonly output: string;
  /** The overlay as a full-frame PNG, for contenders that composite one. */
  readonly png: string;
  readonly recipe: VideoRecipe;
}

export type Contender<Input = Job> = (job: Input) => Figures | Promise<Figures>;

const here = import.meta.dirname;

/** `kind` is one of `render-one.ts`. */
export function inNode(kind: string): Contender<Pick<Job, 'clip' | 'output'>> {
  return ({ clip, output }) => {
    const args = ['--import', 'tsx', path.join(here, 'render-one.ts'), clip, output, kind];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Figures;
  };
}

/** `-benchmark` makes FFmpeg print its CPU time and peak memory. */
function ffmpeg(inputs: (job: Job) => readonly string[], filter: (job: Job) => readonly string[]): Contender {
  return (job) => {
    const input = ['-hide_banner', '-y', '-benchmark', '-i', job.clip];
    const args = [...input, ...inputs(job), ...filter(job), ...encoderArguments(job)];
    const start = performance.now();
    const { stderr, status } = spawnSync('ffmpeg', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr.slice(-500));
    const wall = performance.now() - start;
    const number = (name: string) => Number(new RegExp(`${name}=([\\d.]+)`, 'u').exec(stderr)?.[1] ?? 0);
    return { wall, cpu: (number('utime') + number('stime')) * 1000, rssMb: number('maxrss') / 1024 };
  };
}

/** Returns one drawtext filter per caption, which supports neither emoji nor wrapping nor other scripts. */
function drawtext({ recipe }: Job): readonly string[] {
  const font = path.join(
    path.dirname(createRequire(import.meta.url).resolve('inter-ui/package.json')),
    'web/Inter-Regular.woff2',
  );
  const size = Math.round(recipe.canvas.width / 20);
  const boxes = recipe.overlays.map(({ text, position }) => {
    const plain = text.replaceAll(/[^ \w]/gu, '');
    const place = `x=(w-text_w)/2:y=h*${(position ?? 50) / 100}-text_h/2`;
    return `drawtext=fontfile=${font}:text=${plain}:fontsize=${size}:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=16:${place}`;
  });
  return ['-vf', boxes.join(',')];
}

export function hasFfmpeg(): boolean {
  return spawnSync('ffmpeg', ['-version']).status === 0;
}

export const OURS: Readonly<Record<string, Contender>> = { floor: inNode('floor'), ours: inNode('ours') };

export const SYSTEM: Readonly<Record<string, Contender>> = {
  'ffmpeg, no bars': ffmpeg(
    () => [],
    () => [],
  ),
  'ffmpeg, looped full-frame PNG': ffmpeg(
    ({ png }) => ['-loop', '1', '-i', png],
    () => ['-filter_complex', '[0:v][1:v]overlay=shortest=1'],
  ),
  'ffmpeg, drawtext': ffmpeg(() => [], drawtext),
};
