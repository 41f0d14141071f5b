// Generates examples/clip.mp4, the clip of the playground. It loops seamlessly and is our own work, so it needs no
// license. Run with `npx tsx scripts/sample-clip.ts`.

import { makeClip, PLAIN_TAGS } from '../test/video/clip.ts';
import { BT709, paintYuv, type Rgb } from '../test/video/painting.ts';

const WIDTH = 540;
const HEIGHT = 960;
const FRAMES_PER_SECOND = 24;
const FRAMES = 4 * FRAMES_PER_SECOND;
const HORIZON = 430;
const MOON = { x: 370, y: 220, radius: 46 };
const WAVES = [
  { y: 440, reach: 5, length: 1, turns: 1, color: [96, 104, 158] },
  { y: 500, reach: 9, length: 2, turns: -1, color: [70, 80, 138] },
  { y: 580, reach: 14, length: 2, turns: 1, color: [48, 58, 114] },
  { y: 680, reach: 20, length: 1, turns: -1, color: [32, 40, 90] },
  { y: 800, reach: 26, length: 1, turns: 1, color: [18, 24, 64] },
] as const;

makeClip({
  path: 'examples/clip.mp4',
  container: 'mp4',
  codec: 'libx264',
  pixelFormat: 'yuv420p',
  width: WIDTH,
  height: HEIGHT,
  frames: FRAMES,
  timeBase: { num: 1, den: FRAMES_PER_SECOND },
  paint: paintYuv(colorAt, BT709),
  tags: PLAIN_TAGS,
  encoderOptions: { preset: 'veryslow', crf: '27' },
  muxerOptions: { movflags: '+faststart' },
});

function colorAt(x: number, y: number, frame: number): Rgb {
  const time = (frame / FRAMES) * Math.PI * 2;
  const wave = WAVES.findLast(
    ({ y: rest, reach, length, turns }) =>
      y > rest + Math.sin((x / WIDTH) * Math.PI * 2 * length + time * turns) * reach,
  );
  return wave ? [...wave.color] : skyAt(x, y);
}

function skyAt(x: number, y: number): Rgb {
  const distance = Math.hypot(x - MOON.x, y - MOON.y);
  if (distance < MOON.radius) return [255, 246, 222];
  const down = Math.min(1, y / HORIZON);
  const glow = Math.max(0, 1 - distance / 330) ** 2 * 90;
  return [26 + 130 * down ** 2 + glow, 30 + 62 * down + glow * 0.9, 82 + 66 * down + glow * 0.7];
}
