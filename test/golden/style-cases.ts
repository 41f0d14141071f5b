// Golden cases of styles: every preset in five scripts with emoji on a photo, and the effect of each option of a style.

import type { Overlay } from '../../src/engine/caption/overlay.ts';
import type { CaptionStyle } from '../../src/engine/caption/style.ts';
import type { StylePreset } from '../../src/engine/caption/style-presets.ts';
import type { GoldenCase } from './cases.ts';

const CANVAS = { width: 400, height: 480 };
const POST = { width: 540, height: 540 };
const STORY = { width: 540, height: 960 };

const CAPTIONS = [
  'Golden hour at the lake,\nfinally 🌅🎉 no filter',
  'صباح الخير يا أصدقاء 🌅\nالطقس جميل اليوم',
  'आज मौसम बहुत अच्छा है 🌧️\nचलो घूमने चलें',
  'วันนี้อากาศดีมาก ๆ 🏖️\nไปเที่ยวทะเลกัน',
  '今日はいい天気ですね☀️\n海へ行こう 🎵 みんなで',
];

export const STYLE_CASES: readonly GoldenCase[] = [
  preset('bar', 'tokyo'),
  preset('bar-light', 'sunset'),
  preset('box', 'tokyo'),
  preset('box-light', 'bus'),
  preset('outline', 'bus'),
  preset('plain', 'tokyo'),
  styled(
    'style-box-joints',
    { preset: 'box', size: 1.1 },
    ['Wide, narrow and wide again,\nwith\nround corners in between', 16],
    ['Nearly the same width\nas the line above', 42],
    ['A blank line\n\nmakes two labels', 67],
    ['Ship it 🚀', 92],
  ),
  styled(
    'style-box-right',
    { preset: 'box-light', align: 'right', weight: 'bold', color: '#c2185b' },
    ['All lines end\nat the right margin,\nalso', 20],
    ['هذا النص عربي\nومحاذاته إلى اليمين 🌙', 50],
    ['Bold in every script\nपर भी मोटा\n太字でも', 80],
  ),
  {
    name: 'style-options',
    canvas: POST,
    overlays: [
      { text: 'Half as large', position: 6, style: { size: 0.5 } },
      { text: 'Twice 🎈', position: 22, style: { preset: 'outline', size: 2, color: '#ffe14d' } },
      { text: 'On the left', position: 40, style: { align: 'left', background: '#1565c0' } },
      { text: 'على اليسار', position: 54, style: { preset: 'box', align: 'left', background: '#2e7d32cc' } },
      { text: 'Outline on the right', position: 68, style: { preset: 'outline', align: 'right', weight: 'bold' } },
      { text: 'See-through text', position: 82, style: { preset: 'outline', color: '#d81b6080' } },
      { text: 'Soft and bold 🎵', position: 95, style: { preset: 'plain', weight: 'bold' } },
    ],
  },
  {
    name: 'style-safe-area',
    canvas: STORY,
    overlays: safe([
      { text: 'Moved down from the top', position: 0 },
      { text: 'This line wraps earlier, because the buttons on the right need room', position: 40 },
      { text: 'Left', position: 52, style: { preset: 'box', align: 'left' } },
      { text: 'Right', position: 52, style: { preset: 'box', align: 'right' } },
      { text: 'Moved up from the bottom', position: 100, style: { preset: 'box-light' } },
    ]),
  },
];

function safe(overlays: readonly Overlay[]): Overlay[] {
  return overlays.map((overlay) => ({ ...overlay, safeArea: 'shorts' }));
}

function preset(name: StylePreset, photo: string): GoldenCase {
  const overlays = CAPTIONS.map((text, index) => ({
    text,
    position: 7 + index * 21.5,
    style: { preset: name, size: 1.25 },
  }));
  return { name: `style-${name}`, canvas: CANVAS, overlays, photo };
}

function styled(name: string, style: CaptionStyle, ...bars: readonly (readonly [string, number])[]): GoldenCase {
  return { name, canvas: POST, overlays: bars.map(([text, position]) => ({ text, position, style })) };
}
