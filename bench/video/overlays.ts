import type { Overlay } from '../../src/engine/caption/overlay.ts';

export const OVERLAYS: readonly Overlay[] = [
  { text: 'When the deploy goes out on Friday 🚀', position: 20 },
  { text: 'and nobody is on call', position: 50 },
  { text: 'good luck everyone', position: 80 },
];

const NUMBERS = Array.from({ length: 10 }, (_, index) => index);

/** Bars for a minute of video, by the name of the case. */
export const TIMED_OVERLAYS: Readonly<Record<string, readonly Overlay[]>> = {
  one: [{ text: 'and nobody is on call', position: 50, start: 25, end: 35 }],
  ten: NUMBERS.map((index) => ({
    text: `Caption ${index + 1}, for five seconds`,
    position: index * 10,
    start: index * 6,
    end: index * 6 + 5,
  })),
  styled: NUMBERS.map((index) => ({
    text: `Caption ${index + 1}, for five seconds`,
    position: index * 10,
    start: index * 6,
    end: index * 6 + 5,
    style: { preset: index % 2 === 0 ? 'box' : 'outline' },
  })),
  crowd: NUMBERS.map((index) => ({
    text: `Caption ${index + 1} of three at a time`,
    position: index * 10,
    start: index * 5,
    end: index * 5 + 15,
  })),
};
