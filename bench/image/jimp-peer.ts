import { HorizontalAlign, Jimp, JimpMime, loadFont, VerticalAlign } from 'jimp';
import { SANS_128_WHITE, SANS_64_WHITE } from 'jimp/fonts';
import { BAR_ALPHA } from '../../src/engine/layout/look.ts';
import type { Contender } from './contender.ts';

/** Jimp has bitmap fonts of fixed sizes. From this size on, the larger one is closer. */
const LARGE_FONT_FROM_PX = 96;

export const jimpPeer: Contender = {
  name: 'jimp',
  prepare: async ({ photo, bars }) => {
    const largest = Math.max(...bars.map((bar) => bar.fontSize));
    const font = await loadFont(largest >= LARGE_FONT_FROM_PX ? SANS_128_WHITE : SANS_64_WHITE);
    return async () => {
      const image = await Jimp.read(photo.jpeg);
      for (const { top, height, text } of bars) {
        const shade = new Jimp({ width: photo.width, height, color: Math.round(BAR_ALPHA * 255) });
        image.composite(shade, 0, top);
        const centered = { text, alignmentX: HorizontalAlign.CENTER, alignmentY: VerticalAlign.MIDDLE };
        image.print({ font, x: 0, y: top, text: centered, maxWidth: photo.width, maxHeight: height });
      }
      return await image.getBuffer(JimpMime.png);
    };
  },
};
