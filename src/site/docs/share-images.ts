// Images for links to our pages (Open Graph): a photo with the title of the page, captioned by the service itself. Each is
// rendered on first request and then cached.

import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type Renderer, withLease } from '../../service/dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { RouteGroup } from '../../service/http/route-group.ts';
import { FREE, GUESTS, performRender } from '../../service/renders/perform-render.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { WorkArea } from '../../engine/media/work-area.ts';
import { type AssetLimits, composeRecipe } from '../../engine/render/compose.ts';

export interface ShareImageDependencies {
  readonly renderer: Pick<Renderer, 'open'>;
  readonly workArea: WorkArea;
  readonly shutdown: AbortSignal;
  /** The photo behind the captions, a JPEG. */
  readonly photo: Buffer;
  readonly limits: AssetLimits;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
  /** The title of each page by its path. */
  readonly titles: ReadonlyMap<string, string>;
}

/** Returns the path of the image for links to a page. */
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

async function renderShareImage(title: string, dependencies: ShareImageDependencies): Promise<Buffer> {
  const { renderer, workArea, shutdown: signal, photo, limits, deadlineMs } = dependencies;
  const directory = workArea.lazyDirectory(randomUUID());
  const overlays = [
    { text: title, position: 70 },
    { text: 'Storybar', position: 100 },
  ];
  try {
    await directory.make();
    const asset = { path: directory.file('asset'), format: 'jpeg', kind: 'image', bytes: photo.length } as const;
    await writeFile(asset.path, photo);
    const request = { account: GUESTS, class: 'guest', budgetMs: deadlineMs, signal } as const;
    return await withLease(
      renderer,
      request,
      async (lease) =>
        await performRender({
          renderId: 'share-image',
          lease,
          directory,
          signal,
          limits,
          source: { asset, canvas: undefined },
          compose: (base) => composeRecipe(base, overlays, limits),
          reserve: async () => FREE,
          deliver: async ({ file }) => await readFile(file),
        }),
    );
  } finally {
    await directory.remove();
  }
}
