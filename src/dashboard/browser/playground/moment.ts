// The frame of a video that a preview is for.

import { isShownAt, isTimed, type ShownTimes } from '../../../caption/timing-field.ts';
import { litTimes } from '../../../caption/words/phrases.ts';
import type { PreviewMoment } from '../preview.ts';
import type { CaptionPage, Subtitles } from './subtitles.ts';

interface Frame {
  /** Seconds of the video. Undefined without one. */
  readonly duration: number | undefined;
  readonly milliseconds: number;
  readonly bars: readonly { readonly start?: number; readonly end?: number }[];
  readonly subtitles: Pick<Subtitles, 'captions' | 'pages'>;
  /** True if the word that is being spoken stands out. */
  readonly isHighlighted: boolean;
}

/** Returns undefined if captions have no times, because all frames are then alike. */
export function momentOf({ duration, milliseconds, bars, subtitles, isHighlighted }: Frame): PreviewMoment | undefined {
  const { captions, pages } = subtitles;
  if (duration === undefined) return undefined;
  if (captions === undefined) {
    if (!bars.some(isTimed)) return undefined;
    const shown = bars.flatMap((bar, index) => (isShownAt(bar, milliseconds) ? [index] : [])).join(' ');
    return { duration, milliseconds, captions, shown };
  }
  return { duration, milliseconds, captions, shown: shownAt(pages, milliseconds, isHighlighted) };
}

/** Names what a frame shows. Frames with the same name look the same. */
function shownAt(pages: readonly CaptionPage[], milliseconds: number, isHighlighted: boolean): string {
  const isShown = (times: ShownTimes): boolean => isShownAt(times, milliseconds);
  return pages
    .flatMap((page, index) => {
      if (!isShown(page)) return [];
      if (!isHighlighted) return [String(index)];
      const appeared = page.words.filter(({ start }) => isShown({ start })).length;
      return [`${index}:${litTimes(page.words, page.end).findIndex(isShown)}:${appeared}`];
    })
    .join(' ');
}
