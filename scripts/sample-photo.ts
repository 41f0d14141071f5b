// Generates examples/photo.jpg, the photo of the README and of its first curl example. It is our own work, so it needs
// no license. Run with `npx tsx scripts/sample-photo.ts`; the same seed generates the same photo.

import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import sharp from 'sharp';
import { seededRandom } from './seeded-random.ts';

const WIDTH = 1080;
const HEIGHT = 1920;
const HORIZON = 1130;
const SUN = { x: 690, y: 770, radius: 74 };

const random = seededRandom(20_261_115);
const canvas = createCanvas(WIDTH, HEIGHT);
const context = canvas.getContext('2d');

paintSky(context);
paintClouds(context);
paintSun(context);
const ranges = [
  { base: HORIZON - 70, relief: 210, roughness: 0.55, color: '#b0718a' },
  { base: HORIZON - 30, relief: 190, roughness: 0.6, color: '#7d5480' },
  { base: HORIZON, relief: 120, roughness: 0.62, color: '#4d3a68' },
];
for (const range of ranges) paintRange(context, range);
paintLake(context);
paintShore(context);

// Grain, as in a phone photo at dusk. Without it, the gradients show banding and compress unrealistically well.
const { data } = context.getImageData(0, 0, WIDTH, HEIGHT);
for (let index = 0; index < data.length; index += 4) {
  const grain = (random() - 0.5) * 9;
  for (let channel = 0; channel < 3; channel += 1) data[index + channel] = (data[index + channel] ?? 0) + grain;
}
await sharp(Buffer.from(data.buffer), { raw: { width: WIDTH, height: HEIGHT, channels: 4 } })
  .removeAlpha()
  .jpeg({ quality: 84, mozjpeg: true })
  .toFile('examples/photo.jpg');

function paintSky(target: SKRSContext2D): void {
  const sky = target.createLinearGradient(0, 0, 0, HORIZON);
  sky.addColorStop(0, '#27376b');
  sky.addColorStop(0.3, '#5d5a94');
  sky.addColorStop(0.55, '#c8788f');
  sky.addColorStop(0.78, '#f7a978');
  sky.addColorStop(1, '#ffe2a4');
  target.fillStyle = sky;
  target.fillRect(0, 0, WIDTH, HORIZON);
}

function paintClouds(target: SKRSContext2D): void {
  for (let band = 0; band < 46; band += 1) {
    const y = 170 + random() * 620;
    const x = random() * WIDTH;
    const width = 160 + random() * 420;
    const height = 7 + random() * 20;
    const warmth = y / 800;
    const glow = target.createRadialGradient(0, 0, 0, 0, 0, 1);
    glow.addColorStop(0, `rgba(255, ${Math.round(170 + 50 * warmth)}, ${Math.round(175 - 30 * warmth)}, 0.28)`);
    glow.addColorStop(1, 'rgba(255, 190, 160, 0)');
    target.save();
    target.translate(x, y);
    target.scale(width, height);
    target.fillStyle = glow;
    target.fillRect(-1, -1, 2, 2);
    target.restore();
  }
}

function paintSun(target: SKRSContext2D): void {
  const halo = target.createRadialGradient(SUN.x, SUN.y, SUN.radius * 0.6, SUN.x, SUN.y, 620);
  halo.addColorStop(0, 'rgba(255, 240, 200, 0.95)');
  halo.addColorStop(0.16, 'rgba(255, 218, 150, 0.5)');
  halo.addColorStop(1, 'rgba(255, 190, 130, 0)');
  target.fillStyle = halo;
  target.fillRect(0, 0, WIDTH, HORIZON);
  target.fillStyle = '#fffbe9';
  target.beginPath();
  target.arc(SUN.x, SUN.y, SUN.radius, 0, Math.PI * 2);
  target.fill();
}

interface Range {
  readonly base: number;
  readonly relief: number;
  readonly roughness: number;
  readonly color: string;
}

function paintRange(target: SKRSContext2D, { base, relief, roughness, color }: Range): void {
  const ridge = midpointRidge(11, roughness);
  target.beginPath();
  target.moveTo(0, HORIZON + 2);
  ridge.forEach((height, index) => target.lineTo((index / (ridge.length - 1)) * WIDTH, base - height * relief));
  target.lineTo(WIDTH, HORIZON + 2);
  target.closePath();
  const haze = target.createLinearGradient(0, base - relief, 0, HORIZON);
  haze.addColorStop(0, color);
  haze.addColorStop(1, '#f0a685');
  target.fillStyle = haze;
  target.fill();
}

/** Returns heights along a ridge, from 0 to about 1. */
function midpointRidge(levels: number, roughness: number): number[] {
  let ridge = [random() * 0.6, random() * 0.6];
  let spread = 0.6;
  for (let level = 0; level < levels; level += 1) {
    ridge = ridge.flatMap((height, index) => {
      const next = ridge[index + 1];
      return next === undefined ? [height] : [height, (height + next) / 2 + (random() - 0.5) * spread];
    });
    spread *= roughness;
  }
  return ridge.map((height) => Math.max(0, height));
}

/** Paints the reflected landscape, dimmed and distorted by ripples that grow toward the viewer. */
function paintLake(target: SKRSContext2D): void {
  const depth = HEIGHT - HORIZON;
  for (let row = 0; row < depth; row += 1) {
    const distance = row / depth;
    const source = HORIZON - 1 - row * 1.25;
    const sway = Math.sin(row * 0.35 + Math.sin(row * 0.07) * 4) * (2 + distance * 26) * (0.4 + random() * 0.6);
    target.drawImage(canvas, 0, Math.max(0, source), WIDTH, 1, sway - 20, HORIZON + row, WIDTH + 40, 1.6);
  }
  const water = target.createLinearGradient(0, HORIZON, 0, HEIGHT);
  water.addColorStop(0, 'rgba(70, 50, 90, 0.1)');
  water.addColorStop(0.5, 'rgba(40, 40, 85, 0.42)');
  water.addColorStop(1, 'rgba(14, 20, 48, 0.8)');
  target.fillStyle = water;
  target.fillRect(0, HORIZON, WIDTH, depth);
  for (let glint = 0; glint < 340; glint += 1) {
    const distance = random() ** 1.6;
    const y = HORIZON + 6 + distance * depth * 0.8;
    const spread = 30 + distance * 190;
    target.fillStyle = `rgba(255, 226, 170, ${(0.55 * (1 - distance)).toFixed(3)})`;
    target.fillRect(
      SUN.x + (random() - 0.5) * 2 * spread,
      y,
      10 + random() * 46 * (0.4 + distance),
      1.5 + distance * 2.5,
    );
  }
}

function paintShore(target: SKRSContext2D): void {
  target.fillStyle = '#15152b';
  const pines = [
    ...Array.from({ length: 17 }, () => ({ x: -30 + random() * 330, height: 170 + random() * 330 })),
    ...Array.from({ length: 9 }, () => ({ x: 850 + random() * 260, height: 120 + random() * 190 })),
  ];
  for (const { x, height } of pines) paintPine(target, x, HEIGHT - 40 + random() * 40, height);
  target.beginPath();
  target.moveTo(0, HEIGHT);
  midpointRidge(8, 0.5).forEach((height, index, all) => {
    const across = index / (all.length - 1);
    const bank = 95 * Math.abs(across - 0.55) ** 0.7;
    target.lineTo(across * WIDTH, HEIGHT - 12 - bank - height * 22);
  });
  target.lineTo(WIDTH, HEIGHT);
  target.fill();
}

function paintPine(target: SKRSContext2D, x: number, foot: number, height: number): void {
  target.beginPath();
  target.moveTo(x, foot - height);
  const tiers = 9 + Math.floor(random() * 4);
  const side = (sign: number, tier: number): void => {
    const down = (tier + 1) / tiers;
    const reach = height * 0.17 * down * (0.8 + random() * 0.4);
    target.lineTo(x + sign * reach, foot - height + height * 0.96 * down);
    target.lineTo(x + sign * reach * 0.42, foot - height + height * (0.96 * down - 0.02));
  };
  for (let tier = 0; tier < tiers; tier += 1) side(1, tier);
  target.lineTo(x, foot);
  for (let tier = tiers - 1; tier >= 0; tier -= 1) side(-1, tier);
  target.closePath();
  target.fill();
}
