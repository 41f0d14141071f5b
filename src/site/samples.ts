// The sample images of the front page and their captions. Each caption is a transparent overlay on top of the image.
// The overlays are files, so the page looks complete at once, however many renders wait for a worker. `npm run
// golden:update` renders them, and a test compares them with the renderer.

import type { Overlay } from '../engine/caption/overlay.ts';

export interface Sample {
  readonly name: string;
  /** The name of the asset. */
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly alt: string;
  readonly overlays: readonly Overlay[];
}

export const HERO: Sample = {
  name: 'hero',
  file: 'cairn.webp',
  width: 720,
  height: 1280,
  alt: 'Stones stacked into a tower on a mountain, under a blue sky',
  overlays: [{ text: 'No signal, great connection 🏔️', position: 66 }],
};

/** The result of the first example request on the front page. */
export const EXAMPLE: Sample = {
  name: 'example',
  file: 'sunset.webp',
  width: 576,
  height: 1024,
  alt: 'The last light of the sun over a dark horizon',
  overlays: [{ text: 'Golden hour, no filter needed 🌅', position: null }],
};

export const SAMPLES: readonly Sample[] = [
  {
    name: 'bus',
    file: 'bus.webp',
    width: 1120,
    height: 630,
    alt: 'A red bus on a wet street in front of a rusty fence',
    overlays: [
      { text: 'Tuesday, 8:59', position: 0 },
      { text: 'Ran for it. Missed it. Bus 1, me 0 🚌', position: 84 },
    ],
  },
  {
    name: 'tokyo',
    file: 'tokyo.webp',
    width: 576,
    height: 720,
    alt: 'A temple in Tokyo with a red and white tower behind it',
    overlays: [{ text: '増上寺と東京タワー、冬の朝の散歩', position: 80 }],
  },
  {
    name: 'sunset',
    file: 'sunset.webp',
    width: 576,
    height: 1024,
    alt: 'The last light of the sun over a dark horizon',
    overlays: [
      { text: 'غروب الشمس ✨', position: 25 },
      { text: 'एक और शाम', position: 82 },
    ],
  },
];

export const ALL_SAMPLES: readonly Sample[] = [HERO, EXAMPLE, ...SAMPLES];

/** Returns the name of the asset. */
export function overlayFile({ name }: Sample): string {
  return `samples/${name}.png`;
}
