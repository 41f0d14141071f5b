// Subtitles (SRT, WebVTT) and transcripts of speech recognition (JSON).

import { isDeepStrictEqual } from 'node:util';
import { parseCues } from '../../../src/engine/caption/captions-field.ts';
import type { Overlay } from '../../../src/engine/caption/overlay.ts';
import type { FieldFault } from '../../../src/shared/errors.ts';
import { atOnce } from '../../../src/shared/slices.ts';
import { check } from '../check.ts';

/** The first byte selects how captions are split into pages. */
const PAGINGS = [undefined, { maxLines: 2 }, { maxLines: 1, maxWords: 1 }] as const;

/** Accepted captions have times and words in order. Stored as JSON, they stay the same. */
export function fuzz(input: Buffer): void {
  const paging = PAGINGS[(input[0] ?? 0) % PAGINGS.length];
  const source = input.subarray(1).toString();
  const faults: FieldFault[] = [];
  const options = { position: undefined, paging, hasLanguage: false };
  const overlays = atOnce(parseCues(source, options, faults));
  if (faults.length > 0) return;
  for (const overlay of overlays) checkOverlay(overlay);
  check(isDeepStrictEqual(JSON.parse(JSON.stringify(overlays)), overlays), 'stored captions are the same');
}

function checkOverlay({ text, start = 0, end = Number.POSITIVE_INFINITY, words = [] }: Overlay): void {
  check(text.trim() !== '', 'a caption has text');
  check(start >= 0 && end > start, 'a caption is shown for some time');
  for (const [index, word] of words.entries()) {
    const before = words[index - 1];
    check(
      word.from >= (before?.to ?? 0) && word.to > word.from && word.to <= text.length,
      'words are parts of the text',
    );
    check(before === undefined || word.start > before.start, 'words start one after the other');
    check(word.end >= word.start, 'a word ends after its start');
  }
}
