// The bars alone, as a transparent PNG: what a caller pays who composites elsewhere.

import { renderOverlay } from '../../src/index.ts';
import { interleave, type Series } from './rounds.ts';

const SIZE = { width: 1080, height: 1920 } as const;

/** Cheap enough for many more rounds than photos get. */
const ROUNDS_PER_ROUND = 5;

const TEXTS = ['Golden hour, no filter needed', 'Three hours of waiting', 'Would you have stayed?', 'Ask me anything'];
const EMOJI = ['🌅', '😂', '👩‍🚀', '🏳️‍🌈'];

const TEXT_ONLY = 'text only';
const WITH_EMOJI = 'with emoji';

export async function measureOverlays(rounds: number): Promise<Series<number>[]> {
  return await interleave(
    [
      { name: TEXT_ONLY, run: overlayOf((text) => text) },
      { name: WITH_EMOJI, run: overlayOf((text, index) => `${text} ${EMOJI[index % EMOJI.length] ?? ''}`) },
    ],
    rounds * ROUNDS_PER_ROUND,
  );
}

function overlayOf(decorate: (text: string, index: number) => string): () => Promise<number> {
  let call = 0;
  return async () => {
    call += 1;
    // Other captions every time: nobody asks for the same overlay twice in a row.
    const captions = [20, 50, 80].map((position, bar) => {
      const text = TEXTS[(call + bar) % TEXTS.length] ?? '';
      return { text: decorate(`${text} ${call}`, call + bar), position };
    });
    return (await renderOverlay(SIZE, captions)).bytes.length;
  };
}
