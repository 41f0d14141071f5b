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
  /** File name in examples/. */
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly alt: string;
  readonly overlays: readonly Overlay[];
}

const LAKE = { file: 'photo.jpg', width: 1080, height: 1920, alt: 'A lake at sunset, pines in front' } as const;

export const HERO: Sample = {
  ...LAKE,
  name: 'hero',
  overlays: [{ text: 'Golden hour, no filter needed 🌅', position: 66 }],
};

export const SAMPLES: readonly Sample[] = [
  {
    ...LAKE,
    name: 'languages',
    overlays: [
      { text: 'غروب الشمس على البحيرة ✨', position: 25 },
      { text: '夕焼けがきれいだったので、ちょっと寄り道', position: 50 },
      { text: 'झील किनारे एक और शाम', position: 75 },
    ],
  },
  {
    name: 'city',
    file: 'city.jpg',
    width: 1920,
    height: 1080,
    alt: 'Lit windows of a city at night, mirrored in a river',
    overlays: [{ text: 'Last train home. 23:58 and still 4 % battery 🔋', position: 100 }],
  },
  {
    name: 'table',
    file: 'table.jpg',
    width: 1080,
    height: 1080,
    alt: 'A cup of coffee and a notebook on a wooden table, from above',
    overlays: [
      { text: 'Monday, 8:59 ☕', position: 0 },
      { text: 'Inbox: 214', position: 100 },
    ],
  },
];

const ALL_SAMPLES: readonly Sample[] = [HERO, ...SAMPLES];

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
