// Loads fonts and libraries and compiles code before a worker reports that it is ready, so no client waits for that.

import { probeImage } from '../../engine/media/image.ts';
import type { CodecInfo } from '../../engine/media/video/probe/codecs.ts';
import { composeImageRecipe, composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../../engine/render/recipe.ts';
import { renderOnImage, renderTransparent } from '../../engine/render/render.ts';
import type { RenderTools } from '../../engine/render/renderer-tools.ts';

export async function warmUpImages(tools: RenderTools): Promise<void> {
  const overlays = [{ text: 'Storybar 🎬', position: null }];
  const overlay = await renderTransparent(composeTransparentRecipe({ width: 1080, height: 1920 }, overlays), tools);
  const recipe = composeImageRecipe(await probeImage(overlay.bytes), overlays, DEFAULT_IMAGE_LIMITS);
  await renderOnImage(recipe, overlay.bytes, tools);
  const asJpeg = { output: { format: 'jpeg' } } as const;
  const reencoded = composeImageRecipe(await probeImage(overlay.bytes), overlays, DEFAULT_IMAGE_LIMITS, asJpeg);
  const { bytes } = await renderOnImage(reencoded, overlay.bytes, tools);
  await renderOnImage(
    composeImageRecipe(await probeImage(bytes), overlays, DEFAULT_IMAGE_LIMITS, asJpeg),
    bytes,
    tools,
  );
}

/** Warms up, and returns what the linked codecs support. */
export async function warmUpVideos(): Promise<CodecInfo> {
  await Promise.all([import('../../engine/media/video/probe/probe.ts'), import('../../engine/render/video.ts')]);
  const { codecInfo } = await import('../../engine/media/video/probe/codecs.ts');
  return codecInfo();
}
