// The approach of browser-based and script-based renderers: FFmpeg pipes raw frames to Node, which draws on them and
// pipes them to another FFmpeg.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { must } from '../../src/shared/must.ts';
import { bakeBands } from '../../src/engine/raster/blend.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import type { RenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import type { Figures, Job } from './contenders.ts';
import { encoderArguments } from './encoder-arguments.ts';
import { ProcessorTime } from './processor-time.ts';

export async function pipeFrames(job: Job, tools: RenderTools): Promise<Figures> {
  const { width, height } = job.recipe.canvas;
  const { bands } = await drawBands(job.recipe, tools, new Stopwatch());
  const start = performance.now();
  const decode = ffmpeg(['-i', job.clip, '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1']);
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${width}x${height}`, '-r', `${job.recipe.frameRate}`];
  const tracks = ['-map', '0:v', '-map', '1:a?'];
  const encode = ffmpeg([...raw, '-i', 'pipe:0', '-i', job.clip, ...tracks, ...encoderArguments(job)]);
  const time = new ProcessorTime([process.pid, pidOf(decode.child), pidOf(encode.child)]);
  for await (const data of framesOf(decode.output, width * height * 3)) {
    bakeBands({ width, height, channels: 3, data }, bands);
    if (!encode.input.write(data)) await once(encode.input, 'drain');
    time.sample();
  }
  encode.input.end();
  await once(encode.child, 'exit');
  return { wall: performance.now() - start, ...time.figures() };
}

function ffmpeg(args: readonly string[]): { child: ChildProcess; input: Writable; output: Readable } {
  const child = spawn('ffmpeg', ['-v', 'error', '-y', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  return { child, input: child.stdin, output: child.stdout };
}

function pidOf({ pid }: ChildProcess): number {
  return must(pid, 'the pid of ffmpeg');
}

async function* framesOf(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let frame = Buffer.alloc(size);
  let filled = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let used = 0; used < chunk.length; ) {
      const copied = chunk.copy(frame, filled, used);
      used += copied;
      filled += copied;
      if (filled < size) continue;
      yield frame;
      frame = Buffer.alloc(size);
      filled = 0;
    }
  }
}
