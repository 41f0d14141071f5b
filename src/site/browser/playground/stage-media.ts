// The media on the stage, in the shape of the finished file. The service crops, pads or blurs it in the same way.

import { DEFAULT_PAD_COLOR } from '../../../engine/caption/fit.ts';
import { find } from '../elements.ts';
import type { Editor } from './editor.ts';
import { blankCanvas } from './media.ts';
import { draftOf, isFitted, type State, targetOf } from './state.ts';

/** The longer side of the blurred copy, which needs no detail. */
const BACKDROP_PIXELS = 96;

export function stageMedia(store: Editor, root: HTMLElement): void {
  const frame = find(root, '[data-media]', HTMLElement);
  const backdrop = document.createElement('canvas');
  backdrop.className = 'backdrop';
  let shown = '';
  let last: State['media'];
  store.watch(['history', 'media'], (state) => {
    const { media } = state;
    const size = targetOf(state);
    if (media === undefined || size === undefined) return;
    const { overlay_only: isOverlayOnly, fit = 'crop', fit_color = DEFAULT_PAD_COLOR } = draftOf(state).fields;
    const look = JSON.stringify([size, isOverlayOnly, isFitted(state), fit, fit_color]);
    if (look === shown && media === last) return;
    [shown, last] = [look, media];
    const { element } = media;
    const isBlurred = isFitted(state) && fit === 'blur';
    frame.className = isFitted(state) ? `stage-media fitted fit-${fit}` : 'stage-media';
    // The stage itself has the shape, too.
    find(root, '[data-stage]', HTMLElement).style.setProperty('--ratio', String(size.width / size.height));
    frame.style.backgroundColor = isFitted(state) && fit === 'pad' ? fit_color : '';
    if (isOverlayOnly !== undefined) frame.replaceChildren(blankCanvas(size));
    else frame.replaceChildren(...(isBlurred ? [backdrop, element] : [element]));
  });
  store.watch(['history', 'media', 'time'], ({ media }) => {
    if (backdrop.isConnected && media) drawBackdrop(backdrop, media, store.state);
  });
}

function drawBackdrop(
  canvas: HTMLCanvasElement,
  { element, width, height }: NonNullable<State['media']>,
  state: State,
): void {
  const size = targetOf(state) ?? { width, height };
  const scale = BACKDROP_PIXELS / Math.max(size.width, size.height);
  Object.assign(canvas, { width: Math.ceil(size.width * scale), height: Math.ceil(size.height * scale) });
  const cover = Math.max(canvas.width / width, canvas.height / height);
  const [wide, tall] = [width * cover, height * cover];
  canvas.getContext('2d')?.drawImage(element, (canvas.width - wide) / 2, (canvas.height - tall) / 2, wide, tall);
}
