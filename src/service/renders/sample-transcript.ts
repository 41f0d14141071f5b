// The transcript that test keys get, so that trying captions from speech is free and sends no sound anywhere.

import type { SpokenTranscript } from '../../engine/caption/words/spoken.ts';

const TEXT =
  'This is a sample transcript. Test keys always show these words. With a live key, you get what is said in your video.';
const SECONDS_PER_WORD = 0.4;

/** In a short video, the words follow each other faster. */
export function sampleTranscript(seconds: number): SpokenTranscript {
  const texts = TEXT.split(' ');
  const each = Math.min(SECONDS_PER_WORD, seconds / texts.length);
  const words = texts.map((text, index) => ({ text, start: index * each, end: (index + 1) * each }));
  return { language: 'en', text: TEXT, words };
}
