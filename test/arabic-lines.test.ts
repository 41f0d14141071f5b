// Arabic letters hang below the baseline more than others. Measures where the ink of whole captions is in their bars.

import { describe, expect, it } from 'vitest';
import { drawBands } from '../src/render/bands.ts';
import { createRenderTools } from '../src/render/renderer-tools.ts';
import { Stopwatch } from '../src/render/timing.ts';

const CANVAS = { width: 1080, height: 1920 };
const ONE_LINE_BAR = 104;

const CAPTIONS = {
  Arabic: [
    'صباح الخير يا أصدقاء',
    'الطقس جميل اليوم',
    'عيد ميلاد سعيد',
    'كل عام وأنتم بخير',
    'شكرًا لكم جميعا على كل شيء',
    'مساء النور والسرور',
    'رحلة إلى البحر مع العائلة',
    'الحمد لله على كل حال',
    'رمضان كريم 🌙',
  ],
  Urdu: [
    'صبح بخیر دوستو',
    'آج موسم بہت اچھا ہے',
    'سالگرہ مبارک ہو',
    'پاکستان زندہ باد',
    'چائے اور بارش',
    'میری پیاری بیٹی',
    'آپ کا بہت شکریہ',
  ],
  Persian: [
    'صبح بخیر دوستان',
    'امروز هوا خیلی خوب است',
    'تولدت مبارک',
    'نوروز مبارک',
    'خیلی ممنون از همه',
    'سفر به شمال با خانواده',
    'می‌خواهم برگردم',
  ],
} as const;

describe.each(Object.entries(CAPTIONS))('one line in %s', (_language, captions) => {
  const tools = createRenderTools();

  it.each(captions)(
    'a line has the center of gravity of its ink within 4 pixels of the middle of the bar: %s',
    async (text) => {
      const { bands } = await drawBands({ canvas: CANVAS, overlays: [{ text, position: 50 }] }, tools, new Stopwatch());
      const [band, ...others] = bands;
      if (!band || others.length > 0) throw new Error('expected one bar');
      expect(band.height).toBe(ONE_LINE_BAR);
      let ink = 0;
      let moment = 0;
      let firstRow = band.height;
      for (let row = 0; row < band.height; row += 1) {
        for (let column = 0; column < band.width; column += 1) {
          const red = band.pixels[(row * band.width + column) * 4] ?? 0;
          ink += red;
          moment += red * (row + 0.5);
          if (red > 0) firstRow = Math.min(firstRow, row);
        }
      }
      expect(Math.abs(moment / ink - band.height / 2)).toBeLessThanOrEqual(4);
      expect(firstRow).toBeGreaterThan(0);
    },
  );
});
