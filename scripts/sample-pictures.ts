// Generates examples/city.jpg and examples/table.jpg, for the home page and the playground. They are our own work, so
// they need no license. Run with `npx tsx scripts/sample-pictures.ts`; the same seed generates the same images.

import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import sharp from 'sharp';
import { seededRandom } from './seeded-random.ts';

const random = seededRandom(20_261_116);

await paint('examples/city.jpg', 1920, 1080, paintCity);
await paint('examples/table.jpg', 1080, 1080, paintTable);

type Painter = (target: SKRSContext2D, width: number, height: number) => void;

async function paint(file: string, width: number, height: number, painter: Painter): Promise<void> {
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  painter(context, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  for (let index = 0; index < data.length; index += 4) {
    const grain = (random() - 0.5) * 8;
    for (let channel = 0; channel < 3; channel += 1) data[index + channel] = (data[index + channel] ?? 0) + grain;
  }
  await sharp(Buffer.from(data.buffer), { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .jpeg({ quality: 80, mozjpeg: true })
    .toFile(file);
}

function gradient(target: SKRSContext2D, from: number, to: number, stops: readonly (readonly [number, string])[]) {
  const fill = target.createLinearGradient(0, from, 0, to);
  for (const [at, color] of stops) fill.addColorStop(at, color);
  return fill;
}

function paintCity(target: SKRSContext2D, width: number, height: number): void {
  const shore = height * 0.66;
  target.fillStyle = gradient(target, 0, shore, [
    [0, '#0d1233'],
    [0.55, '#2a2a63'],
    [0.85, '#7a4a86'],
    [1, '#d9798a'],
  ]);
  target.fillRect(0, 0, width, shore);
  for (let star = 0; star < 130; star += 1) {
    target.fillStyle = `rgba(255, 250, 235, ${(0.15 + random() * 0.6).toFixed(2)})`;
    const size = 1 + random() * 2;
    target.fillRect(random() * width, random() ** 1.5 * shore * 0.6, size, size);
  }
  paintMoon(target, width * 0.78, height * 0.2);
  paintTowers(target, width, shore, { tallest: 300, narrowest: 50, color: '#3d2f66', lit: 0.1 });
  paintTowers(target, width, shore, { tallest: 440, narrowest: 74, color: '#241f4d', lit: 0.26 });
  paintTowers(target, width, shore, { tallest: 250, narrowest: 96, color: '#141433', lit: 0.34 });
  paintRiver(target, width, height, shore);
}

function paintMoon(target: SKRSContext2D, x: number, y: number): void {
  const halo = target.createRadialGradient(x, y, 20, x, y, 260);
  halo.addColorStop(0, 'rgba(255, 240, 210, 0.5)');
  halo.addColorStop(1, 'rgba(255, 240, 210, 0)');
  target.fillStyle = halo;
  target.fillRect(x - 260, y - 260, 520, 520);
  target.fillStyle = '#fff4dc';
  target.beginPath();
  target.arc(x, y, 46, 0, Math.PI * 2);
  target.fill();
}

interface Row {
  readonly tallest: number;
  readonly narrowest: number;
  readonly color: string;
  /** The share of lit windows. */
  readonly lit: number;
}

function paintTowers(
  target: SKRSContext2D,
  width: number,
  foot: number,
  { tallest, narrowest, color, lit }: Row,
): void {
  for (let x = -20; x < width; ) {
    const across = narrowest + random() * narrowest;
    const tall = tallest * (0.35 + random() * 0.65);
    target.fillStyle = color;
    target.fillRect(x, foot - tall, across, tall);
    if (random() < 0.3) target.fillRect(x + across / 2 - 2, foot - tall - 46, 4, 46);
    for (let top = foot - tall + 14; top < foot - 18; top += 18) {
      for (let left = x + 9; left < x + across - 13; left += 15) {
        if (random() > lit) continue;
        target.fillStyle = random() < 0.75 ? `rgba(255, 214, 140, ${(0.5 + random() * 0.5).toFixed(2)})` : '#bfe3ff';
        target.fillRect(left, top, 7, 9);
      }
    }
    x += across + random() * 14;
  }
}

/** Paints the reflected skyline, row by row, with ripples that grow toward the viewer. */
function paintRiver(target: SKRSContext2D, width: number, height: number, shore: number): void {
  const depth = height - shore;
  for (let row = 0; row < depth; row += 1) {
    const distance = row / depth;
    const sway = Math.sin(row * 0.5 + Math.sin(row * 0.09) * 3) * (1 + distance * 22) * (0.5 + random() * 0.5);
    target.drawImage(target.canvas, 0, shore - 1 - row * 1.4, width, 1, sway - 24, shore + row, width + 48, 1.6);
  }
  target.fillStyle = gradient(target, shore, height, [
    [0, 'rgba(16, 16, 50, 0.35)'],
    [1, 'rgba(8, 9, 30, 0.88)'],
  ]);
  target.fillRect(0, shore, width, depth);
}

function paintTable(target: SKRSContext2D, width: number, height: number): void {
  const plank = height / 5;
  for (let index = 0; index < 5; index += 1) {
    const light = 44 + random() * 7;
    target.fillStyle = `hsl(28, 42%, ${light.toFixed(1)}%)`;
    target.fillRect(0, index * plank, width, plank - 4);
    target.fillStyle = '#4b2f1b';
    target.fillRect(0, (index + 1) * plank - 4, width, 4);
    for (let line = 0; line < 40; line += 1) paintGrain(target, index * plank + 6 + random() * (plank - 16), width);
  }
  paintNotebook(target);
  paintCup(target, 400, 560);
  const window = target.createLinearGradient(0, 0, width, height);
  window.addColorStop(0, 'rgba(255, 236, 200, 0.34)');
  window.addColorStop(0.5, 'rgba(255, 236, 200, 0)');
  window.addColorStop(1, 'rgba(30, 14, 6, 0.42)');
  target.fillStyle = window;
  target.fillRect(0, 0, width, height);
}

function paintGrain(target: SKRSContext2D, y: number, width: number): void {
  target.strokeStyle = `rgba(60, 32, 14, ${(0.05 + random() * 0.16).toFixed(2)})`;
  target.lineWidth = 0.8 + random() * 1.6;
  target.beginPath();
  const bend = random() * 9;
  const phase = random() * 6;
  for (let x = 0; x <= width; x += 30) target.lineTo(x, y + Math.sin(x / 210 + phase) * bend);
  target.stroke();
}

function paintNotebook(target: SKRSContext2D): void {
  target.save();
  target.translate(700, 210);
  target.rotate(0.16);
  shadowed(target, () => {
    target.fillStyle = '#1f4d4a';
    target.fillRect(0, 0, 330, 470);
  });
  target.fillStyle = '#183d3b';
  target.fillRect(0, 0, 34, 470);
  target.fillStyle = '#e9dfc8';
  target.fillRect(86, 84, 190, 70);
  target.fillStyle = '#e0533a';
  target.fillRect(284, 0, 12, 470);
  target.rotate(-0.5);
  shadowed(target, () => {
    target.fillStyle = '#e8b33c';
    target.fillRect(-190, 470, 300, 15);
    target.fillStyle = '#2b2320';
    target.fillRect(110, 470, 26, 15);
  });
  target.restore();
}

function paintCup(target: SKRSContext2D, x: number, y: number): void {
  const disc = (radius: number, color: string): void => {
    target.fillStyle = color;
    target.beginPath();
    target.arc(x, y, radius, 0, Math.PI * 2);
    target.fill();
  };
  shadowed(target, () => disc(290, '#efe8da'));
  disc(262, '#e3d9c6');
  disc(252, '#f3ede1');
  shadowed(target, () => {
    target.fillStyle = '#f7f2e8';
    target.fillRect(x - 290, y + 40, 150, 46);
    disc(186, '#fbf7ef');
  });
  disc(166, '#5a3216');
  disc(158, '#8a5428');
  paintLeaf(target, x, y);
}

function paintLeaf(target: SKRSContext2D, x: number, y: number): void {
  for (let layer = 0; layer < 5; layer += 1) {
    const size = 104 - layer * 19;
    target.fillStyle = layer % 2 === 0 ? '#f1dcb8' : '#9a6232';
    target.beginPath();
    target.moveTo(x, y + size);
    target.bezierCurveTo(x - size * 1.5, y + size * 0.1, x - size * 0.7, y - size * 1.05, x, y - size * 0.35);
    target.bezierCurveTo(x + size * 0.7, y - size * 1.05, x + size * 1.5, y + size * 0.1, x, y + size);
    target.fill();
  }
}

function shadowed(target: SKRSContext2D, draw: () => void): void {
  target.save();
  target.shadowColor = 'rgba(30, 14, 4, 0.55)';
  target.shadowBlur = 38;
  target.shadowOffsetX = 16;
  target.shadowOffsetY = 20;
  draw();
  target.restore();
}
