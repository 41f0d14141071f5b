// The state of the playground, and what follows from it.

import { SOFT_ENLARGEMENT } from '../../../engine/caption/fit.ts';
import {
  defaultFormat,
  FORMATS_OF,
  isFormatOf,
  OUTPUT_FORMATS,
  type OutputFormat,
} from '../../../engine/caption/output-format.ts';
import { MAX_SIDE, MIN_SIDE } from '../../../engine/caption/overlay.ts';
import { type Margins, SAFE_AREAS } from '../../../engine/caption/safe-area.ts';
import { presetOf, STYLE_PRESETS } from '../../../engine/caption/style-presets.ts';
import type { Size } from '../../../engine/layout/geometry.ts';
import { marginsFor } from '../../../engine/layout/safe-area.ts';
import type { BarRows } from '../preview.ts';
import type { Draft } from './draft.ts';
import type { EditHistory } from './history.ts';
import type { Media } from './media.ts';
import type { RenderState } from './payer.ts';
import type { CaptionPages } from './caption-pages.ts';

export interface State extends RenderState {
  readonly history: EditHistory<Draft>;
  readonly media: Media | undefined;
  /** The seconds of the video that the player is at. */
  readonly time: number;
  readonly isPlaying: boolean;
  /** The latest overlay of the server. */
  readonly overlay: ShownOverlay | undefined;
  readonly isBusy: boolean;
  readonly status: string;
  /** The pages of subtitles or a transcript. */
  readonly pages: CaptionPages | undefined;
  /** True while a bar is dragged. Its overlay is requested afterwards. */
  readonly isMoving: boolean;
  /** The id of the caption whose text is typed on the image. */
  readonly editing: string | undefined;
  readonly result: FinishedFile | undefined;
}

export interface ShownOverlay {
  readonly url: string;
  readonly bitmap: ImageBitmap;
  readonly size: Size;
  readonly rows: readonly BarRows[];
  /** The captions that it was requested with. */
  readonly bars: readonly FilledBar[];
}

export interface FinishedFile {
  /** The file and the draft that it was made from. */
  readonly media: Media;
  readonly draft: Draft;
  readonly blob: Blob;
  readonly url: string;
  readonly headers: Headers;
  /** What the file looks like without captions, if the browser can show both. */
  readonly before: HTMLElement | undefined;
  readonly after: HTMLImageElement | HTMLVideoElement | undefined;
}

/** What the finished file is made from. Undefined until a file is open. */
export type DraftSource = 'canvas' | 'clip' | 'image' | 'frame' | 'video';

type Content = Pick<State, 'history' | 'media'>;

export function draftOf({ history }: Pick<State, 'history'>): Draft {
  return history.current;
}

/** A clip of captions whose length the visitor didn't choose, over an image. */
const CLIP_SECONDS = 5;
/** The shorter side of a story. */
const STORY_SIDE = 1_080;

/** The formats that the visitor can choose from. Those of a video include images of one frame. */
export function formatsOf(state: Content): readonly OutputFormat[] {
  const { overlay_only: isOverlayOnly } = draftOf(state).fields;
  if (isOverlayOnly !== undefined) return [...FORMATS_OF.canvas, ...FORMATS_OF.clip];
  return state.media?.kind === 'video' ? [...FORMATS_OF.video, ...FORMATS_OF.frame] : FORMATS_OF.image;
}

export function formatOf(state: Content): OutputFormat {
  const formats = formatsOf(state);
  const { format } = draftOf(state).fields;
  return formats.find((name) => name === format) ?? formats[0] ?? 'png';
}

export function formatTitle(format: OutputFormat, state: Content): string {
  const { title } = OUTPUT_FORMATS[format];
  if (draftOf(state).fields['overlay_only'] !== undefined) return isFormatOf('clip', format) ? `${title} clip` : title;
  return state.media?.kind === 'video' && isFormatOf('frame', format) ? `${title} cover` : title;
}

export function sourceOf(state: Content): DraftSource {
  const format = formatOf(state);
  if (draftOf(state).fields['overlay_only'] !== undefined) return isFormatOf('clip', format) ? 'clip' : 'canvas';
  if (state.media?.kind !== 'video') return 'image';
  return isFormatOf('frame', format) ? 'frame' : 'video';
}

/** The format to send. The default isn't sent. */
export function sentFormat(state: Content): OutputFormat | undefined {
  const format = formatOf(state);
  return format === defaultFormat(sourceOf(state)) ? undefined : format;
}

/** Seconds of the timeline. Undefined for an image, whose captions have no times. */
export function secondsOf(state: Content): number | undefined {
  const { media } = state;
  const source = sourceOf(state);
  if (source === 'clip') return Number(draftOf(state).fields['duration']) || media?.seconds || CLIP_SECONDS;
  return source === 'frame' || source === 'video' ? media?.seconds : undefined;
}

/** A caption with text, as it is sent. */
export interface FilledBar {
  readonly id: string;
  readonly text: string;
  readonly position?: number;
  readonly start?: number;
  readonly end?: number;
}

/** Times are only for videos. */
export function filledBars(state: Content): FilledBar[] {
  const isTimed = secondsOf(state) !== undefined;
  return draftOf(state)
    .bars.map(({ id, text, position, start, end }) => ({
      id,
      text: text.trim(),
      ...(position !== undefined && { position }),
      ...(isTimed && start !== undefined && { start }),
      ...(isTimed && end !== undefined && { end }),
    }))
    .filter(({ text }) => text !== '');
}

/** Returns undefined for images, and while the field is blank. */
export function captionsOf(state: Content): string | undefined {
  const { captions } = draftOf(state);
  return secondsOf(state) !== undefined && captions.trim() !== '' ? captions : undefined;
}

/** Returns true if the file is brought to another size, rather than an empty canvas. */
export function isFitted(state: Content): boolean {
  const { shape, overlay_only: isOverlayOnly } = draftOf(state).fields;
  return shape !== undefined && isOverlayOnly === undefined;
}

/** The size of the finished file. */
export function targetOf(state: Content): Size | undefined {
  const { media } = state;
  if (media === undefined) return undefined;
  const { shape = '', overlay_only: isOverlayOnly, width, height } = draftOf(state).fields;
  const own = { width: media.width, height: media.height };
  if (shape === '') return own;
  if (shape === 'custom') return { width: Number(width) || own.width, height: Number(height) || own.height };
  return shapedSize(own, ratioOf(shape), isOverlayOnly !== undefined);
}

/**
 * Returns the size of an aspect ratio: as many pixels as the file has in that shape, or 1,080 on the shorter side if that
 * enlarges it at most twice. Videos need even sides.
 */
function shapedSize(media: Size, ratio: number, isCanvas: boolean): Size {
  const short = ratio < 1 ? 'width' : 'height';
  const inside = {
    width: Math.min(media.width, media.height * ratio),
    height: Math.min(media.height, media.width / ratio),
  };
  const side = isCanvas ? STORY_SIDE : Math.max(inside[short], Math.min(STORY_SIDE, inside[short] * SOFT_ENLARGEMENT));
  const even = (pixels: number): number => Math.min(MAX_SIDE, Math.max(MIN_SIDE, 2 * Math.round(pixels / 2)));
  return ratio < 1
    ? { width: even(side), height: even(side / ratio) }
    : { width: even(side * ratio), height: even(side) };
}

function ratioOf(shape: string): number {
  const [across = 1, down = 1] = shape.split(':').map(Number);
  return across / down || 1;
}

/** The preset of the style, also of a saved one. */
export function presetFor({ history, account }: Pick<State, 'history' | 'account'>): ReturnType<typeof presetOf> {
  const { preset: name } = draftOf({ history }).fields;
  const saved = account?.styles.find((style) => style.name === name)?.style.preset;
  return presetOf(STYLE_PRESETS.find((known) => known === (saved ?? name)));
}

/** A multiple of the default font size. */
export function fontSizeOf(state: Pick<State, 'history' | 'account'>): number {
  return Number(draftOf(state).fields['size']) || (presetFor(state).size ?? 1);
}

/** The margins that the safe area keeps free. */
export function marginsOf(state: Pick<State, 'history'>, size: Size): Margins {
  const { safe_area: area } = draftOf(state).fields;
  return marginsFor(
    size,
    SAFE_AREAS.find((name) => name === area),
  );
}
