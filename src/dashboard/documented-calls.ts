// The calls the reference shows. A test sends every one of them, in every language.

import { type Call, KEY_PLACEHOLDER } from './browser/snippets.ts';

export interface DocumentedCall {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly call: Omit<Call, 'baseUrl'>;
}

export const DOCUMENTED_CALLS: readonly DocumentedCall[] = [
  {
    id: 'one-caption',
    title: 'One caption on a photo',
    words: 'In the middle, as a PNG of the photo’s size.',
    call: {
      key: KEY_PLACEHOLDER,
      asset: 'photo.jpg',
      overlays: [{ text: 'Golden hour, no filter needed 🌅' }],
      output: 'captioned.png',
    },
  },
  {
    id: 'several-bars',
    title: 'Several bars',
    words: 'Each at its own height; the second where its place in the list puts it.',
    call: {
      key: KEY_PLACEHOLDER,
      asset: 'photo.jpg',
      overlays: [{ text: 'Day 12 🚐', position: 0 }, { text: "Nobody's here but us" }],
      output: 'captioned.png',
    },
  },
  {
    id: 'a-video',
    title: 'A video',
    words: 'Goes in the same way and comes back as an MP4.',
    call: {
      key: KEY_PLACEHOLDER,
      asset: 'clip.mp4',
      overlays: [{ text: 'Wait for it', position: 75 }],
      output: 'captioned.mp4',
    },
  },
  {
    id: 'bars-alone',
    title: 'Bars alone',
    words: 'A transparent PNG. Laid over a picture of that size, it gives what the API would have baked.',
    call: {
      key: KEY_PLACEHOLDER,
      size: { width: 1080, height: 1920 },
      overlays: [{ text: 'Golden hour' }],
      output: 'overlay.png',
    },
  },
];
