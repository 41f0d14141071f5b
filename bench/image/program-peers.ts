// Command-line programs. Starting the process counts, because services that use them start one per image as well.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BAR_ALPHA, SPACINGS } from '../../src/engine/layout/look.ts';
import { must } from '../../src/shared/must.ts';
import type { Contender, SkippedPeer } from './contender.ts';
import { findProgram, isNative, prints, runProgram } from './programs.ts';
import { PEER_FONT_NAME, type Scene } from './scene.ts';

export async function imageMagick(): Promise<Contender | SkippedPeer> {
  const name = 'ImageMagick';
  const program = await findProgram(
    ['magick', 'convert'],
    async (file) => (await isNative(file)) && (await prints(file, ['-version'], 'ImageMagick')),
  );
  if (program === undefined) return { name, reason: 'neither magick nor convert is installed' };
  return {
    name,
    isProgram: true,
    prepare: async (scene) => {
      const output = 'imagemagick.png';
      const args = [photoFileName(scene), '-auto-orient', ...magickBars(scene), output];
      return async () => {
        await runProgram(program, args, scene.directory);
        return path.join(scene.directory, output);
      };
    },
  };
}

function magickBars({ photo, bars }: Scene): string[] {
  const shades = bars.flatMap((bar) => [
    '-draw',
    `rectangle 0,${bar.top} ${photo.width - 1},${bar.top + bar.height - 1}`,
  ]);
  const texts = bars.flatMap((bar) => {
    // The position is relative to the top of the line, because ImageMagick takes the baseline from the font.
    const line = Math.round(bar.top + SPACINGS.bar.padding * bar.fontSize);
    return ['-pointsize', String(bar.fontSize), '-annotate', `+0+${line}`, bar.text];
  });
  const lettering = ['-fill', 'white', '-font', PEER_FONT_NAME, '-gravity', 'north'];
  return ['-fill', `rgba(0,0,0,${BAR_ALPHA})`, ...shades, ...lettering, ...texts];
}

export async function ffmpeg(): Promise<Contender | SkippedPeer> {
  const name = 'ffmpeg drawtext';
  const program = await findProgram(['ffmpeg'], (file) => prints(file, ['-hide_banner', '-filters'], 'drawtext'));
  if (program === undefined) return { name, reason: 'ffmpeg with the drawtext filter is not installed' };
  return {
    name,
    isProgram: true,
    prepare: async (scene) => {
      const output = 'ffmpeg.png';
      await Promise.all(scene.bars.map((bar, index) => writeFile(captionFile(scene, index), bar.text)));
      const quiet = ['-hide_banner', '-loglevel', 'error', '-nostdin', '-y'];
      const args = [...quiet, '-i', photoFileName(scene), '-vf', drawFilters(scene), '-frames:v', '1', output];
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
      `:x=(w-text_w)/2:y=${top + must(lines[0], 'the line').baseline}-ascent`,
  ]);
  return filters.join(',');
}

function captionFile({ directory }: Scene, index: number): string {
  return path.join(directory, `caption-${index}.txt`);
}

export function photoFileName({ photo }: Scene): string {
  return `${photo.name}.jpg`;
}
