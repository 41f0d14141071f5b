// The sample images of the front page and their captions. Each caption is a transparent overlay on top of the image,
// rendered on first request and then cached.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Overlay } from '../caption/overlay.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import type { RouteGroup } from '../http/route-group.ts';
import type { WorkArea } from '../media/work-area.ts';
import { composeTransparentRecipe } from '../render/recipe.ts';

export interface Sample {
  readonly name: string;
  /** Name of the asset. */
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

/** What the first example request of the front page returns. */
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

const ALL_SAMPLES: readonly Sample[] = [HERO, EXAMPLE, ...SAMPLES];

export function overlayPath({ name }: Sample): string {
  return `/samples/${name}.png`;
}

interface SampleDependencies {
  readonly renderer: Pick<Renderer, 'render'>;
  readonly workArea: WorkArea;
  readonly shutdown: AbortSignal;
}

export function sampleRoutes(dependencies: SampleDependencies): RouteGroup {
  const rendered = new Map<string, Promise<Buffer>>();
  const overlayOf = (sample: Sample): Promise<Buffer> => {
    const overlay = rendered.get(sample.name) ?? renderSample(sample, dependencies);
    rendered.set(sample.name, overlay);
    // A failed render is retried on the next request.
    overlay.catch(() => rendered.delete(sample.name));
    return overlay;
  };
  return {
    register: (app) => {
      app.get<{ Params: { name: string } }>('/samples/:name', async ({ params }, reply) => {
        const sample = ALL_SAMPLES.find(({ name }) => `${name}.png` === params.name);
        if (sample === undefined) throw new AppError('not_found', "That sample doesn't exist.");
        const bytes = await overlayOf(sample);
        return reply.headers({ 'content-type': 'image/png', 'cache-control': 'public, max-age=300' }).send(bytes);
      });
    },
  };
}

async function renderSample(sample: Sample, { renderer, workArea, shutdown }: SampleDependencies): Promise<Buffer> {
  const directory = await workArea.directory(randomUUID());
  try {
    const output = directory.file('output');
    const recipe = composeTransparentRecipe({ width: sample.width, height: sample.height }, sample.overlays);
    await renderer.render({ recipe, asset: undefined, output }, shutdown);
    return await readFile(output);
  } finally {
    await directory.remove();
  }
}
