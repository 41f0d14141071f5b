// Command line programs. Starting the process is part of their price: it is how services call them.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BAR_ALPHA, style } from '../../src/layout/style.ts';
import type { Absent, Contender } from './contender.ts';
import { findProgram, isNative, prints, runProgram } from './programs.ts';
import { PEER_FONT_NAME, type Scene } from './scene.ts';

export async function imageMagick(): Promise<Contender | Absent> {
  const name = 'ImageMagick';
  const program = await findProgram(
    ['magick', 'convert'],
    async (file) => (await isNative(file)) && (await prints(file, ['-version'], 'ImageMagick')),
  );
  if (program === undefined) return { name, absent: 'neither magick nor convert is installed' };
  return {
    name,
    prepare: async (scene) => {
      const output = 'imagemagick.png';
      const args = [pictureName(scene), '-auto-orient', ...magickBars(scene), output];
      return async () => {
        await runProgram(program, args, scene.directory);
        return path.join(scene.directory, output);
      };
    },
  };
}

function magickBars({ picture, bars }: Scene): string[] {
  const shades = bars.flatMap((bar) => [
    '-draw',
    `rectangle 0,${bar.top} ${picture.width - 1},${bar.top + bar.height - 1}`,
  ]);
  const texts = bars.flatMap((bar) => {
    // Measured from the top of the text's line, which leaves the baseline to the font.
    const line = Math.round(bar.top + style.padding * bar.fontSize);
    return ['-pointsize', String(bar.fontSize), '-annotate', `+0+${line}`, bar.text];
  });
  const lettering = ['-fill', 'white', '-font', PEER_FONT_NAME, '-gravity', 'north'];
  return ['-fill', `rgba(0,0,0,${BAR_ALPHA})`, ...shades, ...lettering, ...texts];
}

export async function ffmpeg(): Promise<Contender | Absent> {
  const name = 'ffmpeg drawtext';
  const program = await findProgram(['ffmpeg'], (file) => prints(file, ['-hide_banner', '-filters'], 'drawtext'));
  if (program === undefined) return { name, absent: 'no ffmpeg with the drawtext filter is installed' };
  return {
    name,
    prepare: async (scene) => {
      const output = 'ffmpeg.png';
      await Promise.all(scene.bars.map((bar, index) => writeFile(captionFile(scene, index), bar.text)));
      const quiet = ['-hide_banner', '-loglevel', 'error', '-nostdin', '-y'];
      const args = [...quiet, '-i', pictureName(scene), '-vf', drawFilters(scene), '-frames:v', '1', output];
      return async () => {
        await runProgram(program, args, scene.directory);
        return path.join(scene.directory, output);
      };
    },
  };
}

function drawFilters({ bars }: Scene): string {
  const filters = bars.flatMap(({ top, height, fontSize, lines }, index) => [
    `drawbox=x=0:y=${top}:w=iw:h=${height}:color=black@${BAR_ALPHA}:t=fill`,
    `drawtext=fontfile=${PEER_FONT_NAME}:textfile=caption-${index}.txt:fontsize=${fontSize}:fontcolor=white` +
      `:x=(w-text_w)/2:y=${top + (lines[0]?.baseline ?? 0)}-ascent`,
  ]);
  return filters.join(',');
}

function captionFile({ directory }: Scene, index: number): string {
  return path.join(directory, `caption-${index}.txt`);
}

export function pictureName({ picture }: Scene): string {
  return `${picture.name}.jpg`;
}
