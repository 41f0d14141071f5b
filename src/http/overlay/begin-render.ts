// How far a render goes before its credits are reserved. One whose credits are certain is on its way by then; any other has
// only been looked at, since who is short of credits gets no work for nothing. Of an asset that is no good, the ledger never
// hears.

import { setImmediate } from 'node:timers/promises';
import type { Renderer, Share } from '../../dispatch/renderer.ts';
import { type AssetLimits, composeRecipe, creditsOf, IMAGE_CREDITS } from '../../render/compose.ts';
import type { RenderFacts } from '../../render/render.ts';
import { canvasOf, type ParsedRequest } from './asset.ts';

export interface RenderOrder {
  readonly wanted: ParsedRequest;
  readonly limits: AssetLimits;
  readonly watermark: boolean;
  readonly output: string;
  readonly share: Share;
}

export interface BegunRender {
  readonly credits: number;
  /** Its end. Begins it, if it has not begun. */
  readonly facts: () => Promise<RenderFacts>;
  /** Resolves when nothing of it runs any more, however it ended. */
  readonly ended: () => Promise<unknown>;
}

/** `isSure` says whether so many credits are all but certain to be there. */
export async function beginRender(
  renderer: Renderer,
  order: RenderOrder,
  signal: AbortSignal,
  isSure: (credits: number) => boolean,
): Promise<BegunRender> {
  const { wanted, limits, watermark, output, share } = order;
  const { asset, overlays } = wanted;
  if (asset?.kind === 'image' && isSure(IMAGE_CREDITS)) {
    const draft = { overlays, limits, watermark };
    return await untilProbed((onProbed) => renderer.renderImage({ draft, asset, output }, signal, share, onProbed));
  }
  // Without an asset there is nothing to wait for before the render; refused here, the ledger need not hear of it.
  if (!asset) renderer.assertRoom(share.account, 'image');
  const ground = asset ? await renderer.probe(asset, limits, signal, share) : canvasOf(wanted);
  const recipe = composeRecipe(ground, overlays, limits, { watermark });
  const credits = creditsOf(recipe);
  const render = async (): Promise<RenderFacts> => await renderer.render({ recipe, asset, output }, signal, share);
  return isSure(credits) ? await onItsWay(credits, render()) : { credits, facts: render, ended: async () => undefined };
}

async function untilProbed(start: (onProbed: () => void) => Promise<RenderFacts>): Promise<BegunRender> {
  let onProbed: () => void = () => undefined;
  const probed = new Promise<void>((resolve) => {
    onProbed = resolve;
  });
  const facts = start(onProbed);
  await Promise.race([probed, facts]);
  return running(IMAGE_CREDITS, facts);
}

async function onItsWay(credits: number, facts: Promise<RenderFacts>): Promise<BegunRender> {
  const render = running(credits, facts);
  // The embedded database keeps this thread while it writes: the task must be on its way before.
  await setImmediate();
  return render;
}

function running(credits: number, facts: Promise<RenderFacts>): BegunRender {
  // Somebody listens from now on, whenever its end comes and whoever asks for it.
  const ended = Promise.allSettled([facts]);
  return { credits, facts: async () => await facts, ended: async () => await ended };
}
