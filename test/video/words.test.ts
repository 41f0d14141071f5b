// Words that stand out in a video, checked in every frame: a word is lit from the first frame at or after its start.

import { afterAll, describe, expect, it } from 'vitest';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import { must } from '../../src/shared/must.ts';
import { layOut } from '../../src/engine/render/bands.ts';
import type { VideoRecipe } from '../../src/engine/render/video-recipe.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import { type ClipOptions, type ReadClip, readClip } from './clip.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const tools = createRenderTools();
const ALL = Number.POSITIVE_INFINITY;
const MILLISECONDS = { num: 1, den: 1_000 };
const SIZE = { width: 320, height: 180 };
const TEXT = 'AAA BBB CCC';

function timesOf({ frames }: ReadClip): number[] {
  const first = frames[0]?.seconds ?? 0;
  return frames.map(({ seconds }) => Math.round((seconds - first) * 1_000));
}

/** Three words that start exactly at a frame, a millisecond after one, and a millisecond before one. */
function wordsAt([first = 0, second = 0, third = 0, end = 0]: readonly number[]): Overlay {
  const starts = [first, second + 1, third - 1, end].map((time) => time / 1_000);
  const words = [0, 4, 8].map((from, at) => ({ from, to: from + 3, start: starts[at] ?? 0, end: starts[at + 1] ?? 0 }));
  const style = { size: 2.5, highlight: { mode: 'box', background: '#00ff00' } } as const;
  return { text: TEXT, position: 50, start: 0, end: end / 1_000, isCue: true, words, style };
}

/** Which word is lit at each time, or `-` for none and a blank without the page. */
function expected({ words = [], end = 0 }: Overlay, times: readonly number[]): string[] {
  return times.map((time) => {
    if (time / 1_000 >= end) return ' ';
    const lit = words.findLastIndex(({ start }) => start <= time / 1_000);
    return lit < 0 ? '-' : must(TEXT.split(' ')[lit], 'the word');
  });
}

/** The same, as seen in the frames: the box is green above the letters, and the bar is darker than the background. */
async function seen(recipe: VideoRecipe, file: string): Promise<string[]> {
  const { layout } = await layOut(recipe, tools, new Stopwatch());
  const bar = must(layout.bars[0], 'the bar');
  return readClip(file, ALL).frames.map((frame) => {
    const isLit = bar.words.map((parts) => {
      const { box } = must(parts[0], 'the word');
      const [red, green] = frame.rgb(Math.round((box.left + box.right) / 2), bar.top + box.top + 3);
      return green > red + 80;
    });
    const lit = isLit.indexOf(true);
    if (lit >= 0) return must(TEXT.split(' ')[lit], 'the word');
    return frame.rgb(2, bar.top + Math.round(bar.height / 2))[1] < 90 ? '-' : ' ';
  });
}

const CLIPS: Readonly<Record<string, Partial<ClipOptions>>> = {
  'a constant frame rate': { frames: 30 },
  '29.97 frames per second': { frames: 30, timeBase: { num: 1_001, den: 30_000 } },
  'a variable frame rate': {
    pts: Array.from({ length: 30 }, (_, index) => index * 33 + ((index * index) % 29)),
    timeBase: MILLISECONDS,
  },
};

/** A sixth, two sixths, and so on of the frames. */
function sixths(times: readonly number[]): number[] {
  return [1, 2, 3, 4].map((share) => must(times[Math.floor((times.length * share) / 6)], 'the time'));
}

describe('a word is lit from the first frame at or after its start', () => {
  it.each(Object.entries(CLIPS))('at %s', async (name, changes) => {
    const path = plainClip(work.path(name), { ...SIZE, ...changes });
    const times = timesOf(readClip(path, 0));
    const overlay = wordsAt(sixths(times));
    const output = work.path(`${name}.mp4`);
    const { recipe } = await renderClip(path, output, [overlay]);
    expect(await seen(recipe, output)).toEqual(expected(overlay, times));
  });
});

describe('captions on a video whose sound starts before its first frame', () => {
  it('follow the clock of the file, and overlays count from the first frame', async () => {
    const path = plainClip(work.path('late picture'), {
      ...SIZE,
      pts: Array.from({ length: 20 }, (_, index) => 400 + index * 50),
      timeBase: MILLISECONDS,
      audio: { codec: 'aac', seconds: 1, sampleRate: 48_000 },
    });
    const cue: Overlay = { text: 'cue', position: 30, start: 0.6, end: 0.8, isCue: true };
    const overlay: Overlay = { text: 'overlay', position: 70, start: 0.6, end: 0.8 };
    const output = work.path('late.mp4');
    const { facts } = await renderClip(path, output, [cue, overlay]);
    const shown = (index: number): number[] =>
      readClip(output, ALL).frames.flatMap((frame, at) => {
        const { top, height } = must(facts.bars[index], 'the bar');
        return frame.rgb(2, top + Math.round(height / 2))[1] < 90 ? [at * 50] : [];
      });
    const [ofCue, ofOverlay] = [shown(0), shown(1)];
    expect(ofOverlay).toEqual([600, 650, 700, 750]);
    expect(ofCue).toHaveLength(4);
    expect(ofCue[0]).toBeLessThanOrEqual(250);
  });
});
