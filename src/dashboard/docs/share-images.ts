// Images for links to our pages (Open Graph): a photo with the title of the page, captioned by the service itself. Each is
// rendered on first request and then cached.

import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { Renderer } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import type { RouteGroup } from '../../http/route-group.ts';
import type { WorkArea } from '../../media/work-area.ts';
import { type AssetLimits, composeRecipe } from '../../render/compose.ts';

export interface ShareImageDependencies {
  readonly renderer: Pick<Renderer, 'probe' | 'render'>;
  readonly workArea: WorkArea;
  readonly shutdown: AbortSignal;
  /** The photo behind the captions, a JPEG. */
  readonly photo: Buffer;
  readonly limits: AssetLimits;
  /** The title of each page by its path. */
  readonly titles: ReadonlyMap<string, string>;
}

/** The path of the image for links to a page. */
export function shareImagePath(pagePath: string): string {
  return `/share/${pagePath === '/' ? 'home' : pagePath.slice(1).replaceAll('/', '-')}.png`;
}

export function shareImageRoutes(dependencies: ShareImageDependencies): RouteGroup {
  const titles = new Map([...dependencies.titles].map(([path, title]) => [shareImagePath(path), title]));
  const rendered = new Map<string, Promise<Buffer>>();
  const imageOf = (path: string, title: string): Promise<Buffer> => {
    const image = rendered.get(path) ?? renderShareImage(title, dependencies);
    rendered.set(path, image);
    // A failed render is retried on the next request.
    image.catch(() => rendered.delete(path));
    return image;
  };
  return {
    register: (app) => {
      app.get<{ Params: { name: string } }>('/share/:name', async ({ params }, reply) => {
        const path = `/share/${params.name}`;
        const title = titles.get(path);
        if (title === undefined) throw new AppError('not_found', "That image doesn't exist.");
        const headers = { 'content-type': 'image/png', 'cache-control': 'public, max-age=86400' };
        return reply.headers(headers).send(await imageOf(path, title));
      });
    },
  };
}

async function renderShareImage(
  title: string,
  { renderer, workArea, shutdown, photo, limits }: ShareImageDependencies,
): Promise<Buffer> {
  const directory = await workArea.directory(randomUUID());
  try {
    const asset = { path: directory.file('asset'), format: 'jpeg', kind: 'image', bytes: photo.length } as const;
    await writeFile(asset.path, photo);
    const base = await renderer.probe(asset, limits, shutdown);
    const overlays = [
      { text: title, position: 70 },
      { text: 'Storybar', position: 100 },
    ];
    const output = directory.file('output');
    await renderer.render({ recipe: composeRecipe(base, overlays, limits), asset, output }, shutdown);
    return await readFile(output);
  } finally {
    await directory.remove();
  }
}
