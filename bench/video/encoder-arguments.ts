import type { Job } from './contenders.ts';

/** Returns our encoder settings as FFmpeg arguments. */
export function encoderArguments({ recipe: { encoder }, output }: Pick<Job, 'recipe' | 'output'>): string[] {
  return [
    '-c:v',
    'libx264',
    '-preset',
    encoder.preset,
    '-crf',
    `${encoder.crf}`,
    '-maxrate',
    `${encoder.maxRate}`,
    '-bufsize',
    `${encoder.bufferSize}`,
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
    '-movflags',
    '+faststart',
    output,
  ];
}
