// A renderer that takes time but no CPU, to measure dispatching on a machine with fewer cores than workers.

import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolStatus, Renderer, RenderJob } from '../../src/service/dispatch/renderer.ts';
import type { AssetProbe } from '../../src/engine/render/compose.ts';
import type { RenderFacts } from '../../src/engine/render/render.ts';

export function sleepingRenderer(renderMs: number, outputBytes: number): Renderer {
  const output = Buffer.alloc(outputBytes, 'storybar');
  const pool: PoolStatus = { workers: 1, ready: 1, busy: 0, waiting: 0, backlogMs: 0, restarts: 0 };
  const render = async (signal: AbortSignal, { recipe, output: file }: RenderJob): Promise<RenderFacts> => {
    await sleep(renderMs, undefined, { signal });
    await writeFile(file, output);
    if (!('canvas' in recipe)) throw new Error(`a recipe of kind ${recipe.kind} draws nothing`);
    const bars = recipe.overlays.map(() => ({ top: 0, height: 1 }));
    return { ...recipe.canvas, bars, missingGlyphs: 0, warnings: [], timings: { sleep: renderMs } };
  };
  return {
    open: ({ signal }) => ({
      choose: () => undefined,
      enter: () => undefined,
      probe: async (): Promise<AssetProbe> => ({ kind: 'image', width: 1080, height: 1920, isSrgb: true }),
      render: async (job) => await render(signal, job),
      assertFeasible: () => undefined,
      leave: () => undefined,
      close: () => undefined,
    }),
    refusal: () => undefined,
    status: () => ({ images: pool, videos: pool, codecs: undefined }),
    close: async () => undefined,
  };
}
