// Renders a contact sheet with the most important cases, for visual review. `npm run look` writes out/look.png; pass a
// path to write another file.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createCanvas, loadImage, type SKRSContext2D } from '@napi-rs/canvas';
import sharp from 'sharp';
import { type Captions, renderImage } from '../src/engine/index.ts';

interface Case {
  readonly title: string;
  readonly captions: Captions;
  readonly width?: number;
  readonly height?: number;
  /** Brightens the photo behind the bars. */
  readonly bright?: true;
}

const LONG =
  'Five lines of text is about as much as anyone will read on a story, so here are exactly one hundred and eighty ' +
  'characters to show how the bar grows and how evenly its lines break.';

const CASES: readonly Case[] = [
  { title: 'one line on a bright photo', captions: 'Coffee first', bright: true },
  { title: '180 characters', captions: LONG },
  { title: 'emoji at the end of a line', captions: 'We did it, all of us, after three years 🎉🏳️‍🌈👩🏽‍🚀' },
  { title: 'Arabic', captions: 'صباح الخير من القاهرة، القهوة جاهزة (7:30) ☕️' },
  { title: 'Hebrew, digits, Latin', captions: 'פגישה ב-10:30 ליד Dizengoff 99, תביאו קפה ☕️' },
  { title: 'Thai', captions: 'วันนี้อากาศดีมากๆ ไปเที่ยวทะเลกันเถอะ ใครพร้อมยกมือขึ้น' },
  { title: 'Hindi', captions: 'आज का सूर्यास्त देखकर दिल खुश हो गया, आप भी देखिए' },
  { title: 'Japanese', captions: '今日の夕焼けがすごくきれいだったので、思わず立ち止まってしまいました。「また明日」' },
  { title: 'Chinese', captions: '今天的日落美得让人不想回家，我们就这样坐着看了一个小时。' },
  { title: 'Korean', captions: '오늘 노을이 너무 예뻐서 한참을 서 있었어요' },
  { title: 'Tibetan', captions: 'བཀྲ་ཤིས་བདེ་ལེགས། སྐྱེས་བརྒྱུད་ཀྱི་རྒྱལ་ཁབ།' },
  { title: 'Khmer', captions: 'ថ្ងៃលិចថ្ងៃនេះស្អាតណាស់ យើងអង្គុយមើលអស់មួយម៉ោង' },
  {
    title: 'position 0 and 100',
    captions: [
      { text: 'touches the top', position: 0 },
      { text: 'touches the bottom', position: 100 },
    ],
  },
  {
    title: 'four defaults',
    captions: [
      { text: 'first, at 50' },
      { text: 'second, at 60' },
      { text: 'third, at 70' },
      { text: 'fourth, at 80' },
    ],
  },
  { title: 'defaults that have to move', captions: [{ text: LONG }, { text: 'moved just below' }] },
  { title: 'landscape 1920x1080', captions: [{ text: 'Wide' }, { text: 'and tidy' }], width: 1920, height: 1080 },
  { title: '16x16', captions: 'tiny', width: 16, height: 16 },
  { title: '7680x4320', captions: 'Eight thousand pixels across', width: 7680, height: 4320 },
];

const COLUMNS = 6;
const TILE = { width: 420, height: 747, gap: 24, label: 44 };

const output = process.argv[2] ?? 'out/look.png';
const rows = Math.ceil(CASES.length / COLUMNS);
const cell = { width: TILE.width + TILE.gap, height: TILE.height + TILE.label + TILE.gap };
const sheet = createCanvas(COLUMNS * cell.width + TILE.gap, rows * cell.height + TILE.gap);
const context = sheet.getContext('2d');
context.fillStyle = '#f4f2ee';
context.fillRect(0, 0, sheet.width, sheet.height);
for (const [index, item] of CASES.entries()) {
  const x = TILE.gap + (index % COLUMNS) * cell.width;
  const y = TILE.gap + Math.floor(index / COLUMNS) * cell.height;
  await paintTile(context, item, x, y);
}
mkdirSync(path.dirname(output), { recursive: true });
await sharp(sheet.toBuffer('image/png')).png({ palette: true, colors: 256 }).toFile(output);
console.log(output);

async function paintTile(target: SKRSContext2D, item: Case, x: number, y: number): Promise<void> {
  const { bytes, width, height } = await renderImage(await backdrop(item), item.captions);
  const scale = Math.min(TILE.width / width, TILE.height / height);
  target.fillStyle = '#333';
  target.font = '400 22px main';
  target.fillText(item.title, x, y + 26);
  // Small canvases are enlarged without smoothing, so that their rows can be counted.
  target.imageSmoothingEnabled = scale < 1;
  target.drawImage(await loadImage(bytes), x, y + TILE.label, width * scale, height * scale);
}

async function backdrop({ width = 1080, height = 1920, bright }: Case): Promise<Buffer> {
  const photo = sharp('examples/photo.jpg').resize(width, height, { fit: 'cover', position: 'top' });
  return await (bright ? photo.modulate({ brightness: 1.45, saturation: 0.6 }) : photo)
    .jpeg({ quality: 92 })
    .toBuffer();
}
