// Measures transparent overlays, for callers who composite the bars themselves.

import { renderOverlay } from '../../src/engine/index.ts';
import { must } from '../../src/shared/must.ts';
import { interleave, type Series } from './rounds.ts';

const SIZE = { width: 1080, height: 1920 } as const;

/** Overlays are fast enough for more rounds than photos. */
const ROUNDS_PER_ROUND = 5;

const TEXTS = ['Golden hour, no filter needed', 'Three hours of waiting', 'Would you have stayed?', 'Ask me anything'];
const EMOJI = ['🌅', '😂', '👩‍🚀', '🏳️‍🌈'];

const TEXT_ONLY = 'text only';
const WITH_EMOJI = 'with emoji';

export async function measureOverlays(rounds: number): Promise<Series<number>[]> {
  return await interleave(
    [
      { name: TEXT_ONLY, run: overlayOf((text) => text) },
      {
        name: WITH_EMOJI,
        run: overlayOf((text, index) => `${text} ${must(EMOJI[index % EMOJI.length], 'the emoji')}`),
      },
    ],
    rounds * ROUNDS_PER_ROUND,
  );
}

function overlayOf(decorate: (text: string, index: number) => string): () => Promise<number> {
  let call = 0;
  return async () => {
    call += 1;
    // Different captions each time, as in real use.
    const captions = [20, 50, 80].map((position, bar) => {
      const text = must(TEXTS[(call + bar) % TEXTS.length], 'the caption');
      return { text: decorate(`${text} ${call}`, call + bar), position };
    });
    return (await renderOverlay(SIZE, captions)).bytes.length;
  };
}
