// The request that the visitor has composed: the form to send, the code to copy, and the preview to ask for.

import { DEFAULT_PAD_COLOR } from '../../../engine/caption/fit.ts';
import { COLOR_SPACES, hasByteLimit, OUTPUT_FORMATS } from '../../../engine/caption/output-format.ts';
import { takesHighlightColor } from '../../../engine/caption/style.ts';
import { isShownAt, isTimed, type ShownTimes } from '../../../engine/caption/timing-field.ts';
import type { Size } from '../../../engine/layout/geometry.ts';
import { type PreviewMoment, type PreviewRequest, previewSize } from '../preview.ts';
import { KEY_PLACEHOLDER, type SnippetOverlay, type SnippetRequest } from '../snippets.ts';
import type { CaptionPage } from './caption-pages.ts';
import { STYLE_NAMES } from './draft.ts';
import {
  captionsOf,
  draftOf,
  filledBars,
  formatOf,
  isFitted,
  presetFor,
  secondsOf,
  sentFormat,
  sourceOf,
  type State,
  targetOf,
} from './state.ts';

type Fields = Readonly<Record<string, string>>;
export type Composed = Pick<State, 'history' | 'media' | 'account' | 'time'>;

type StyleValue = string | number | Fields;

/** The style, without defaults and without what doesn't apply. */
function styleOf(state: Composed): Readonly<Record<string, StyleValue>> {
  const { fields } = draftOf(state);
  const applies: Readonly<Record<string, boolean>> = {
    // Only words of subtitles and transcripts can stand out.
    highlight: captionsOf(state) !== undefined,
    background: presetFor(state).background !== undefined,
  };
  const own = STYLE_NAMES.flatMap((name): [string, StyleValue][] => {
    const value = fields[name];
    if (value === undefined || applies[name] === false) return [];
    if (name === 'highlight') return [[name, highlightOf(fields, value)]];
    return [[name, name === 'size' ? Number(value) : value]];
  });
  const id = logoOf(state);
  const logo = id === undefined ? {} : { logo: defined({ id, corner: fields['logo_corner'] }) };
  return { ...Object.fromEntries(own), ...logo };
}

/** A highlight with colors of its own is an object. */
function highlightOf(fields: Fields, mode: string): string | Fields {
  const color = takesHighlightColor(mode) ? fields['highlight_color'] : undefined;
  const background = mode === 'box' ? fields['highlight_background'] : undefined;
  return color === undefined && background === undefined ? mode : defined({ mode, color, background });
}

/** The id of the chosen logo. A link may name one of another account. */
export function logoOf({ history, account }: Pick<State, 'history' | 'account'>): string | undefined {
  const { logo } = draftOf({ history }).fields;
  return account?.logos.find(({ id }) => id === logo)?.id;
}

/** The fields that decide where captions are and what they look like. */
export function captionFields(state: Composed): Fields {
  const { safe_area, max_words, max_lines } = draftOf(state).fields;
  const style = styleOf(state);
  const isPaged = captionsOf(state) !== undefined;
  return defined({
    style: Object.keys(style).length > 0 ? JSON.stringify(style) : undefined,
    safe_area,
    max_words: isPaged ? max_words : undefined,
    max_lines: isPaged ? max_lines : undefined,
  });
}

/** True if the size of the finished file can be limited. */
export function takesMaxBytes(state: Composed): boolean {
  return hasByteLimit(formatOf(state), sourceOf(state));
}

/** True if the finished file can keep the color profile of a photo. */
export function takesColorSpace(state: Composed): boolean {
  return sourceOf(state) === 'image' && formatOf(state) === 'jpeg';
}

/** The fields of the finished file besides its size. */
function fileFields(state: Composed): Fields {
  const { fit = 'crop', fit_color, color_space, max_kilobytes, fps } = draftOf(state).fields;
  const source = sourceOf(state);
  const isPadded = fit === 'pad' && fit_color !== undefined && fit_color !== DEFAULT_PAD_COLOR;
  return defined({
    fit: isFitted(state) ? (isPadded ? JSON.stringify({ mode: fit, color: fit_color }) : fit) : undefined,
    at: source === 'frame' ? String(Math.round(state.time * 1_000) / 1_000) : undefined,
    duration: source === 'clip' ? String(secondsOf(state)) : undefined,
    fps: source === 'clip' ? fps : undefined,
    color_space: takesColorSpace(state) && color_space !== COLOR_SPACES[0] ? color_space : undefined,
    max_bytes: takesMaxBytes(state) && max_kilobytes ? String(Number(max_kilobytes) * 1_000) : undefined,
  });
}

function defined(fields: Readonly<Record<string, string | undefined>>): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Overlays in the form that the API takes. */
function overlaysOf(state: Composed): SnippetOverlay[] {
  return filledBars(state).map(({ id: _id, ...overlay }) => overlay);
}

/** An overlay without a file, and a file that gets another size, need the size. */
function sizeOf(state: Composed): Size | undefined {
  const source = sourceOf(state);
  return source === 'canvas' || source === 'clip' || isFitted(state) ? targetOf(state) : undefined;
}

/** Returns undefined until a file is open. */
export function snippetOf(state: Composed, baseUrl: string): SnippetRequest | undefined {
  const { media } = state;
  if (media === undefined) return undefined;
  const source = sourceOf(state);
  const isOverlay = source === 'canvas' || source === 'clip';
  return {
    baseUrl,
    key: KEY_PLACEHOLDER,
    asset: isOverlay ? undefined : media.file.name,
    size: sizeOf(state),
    overlays: overlaysOf(state),
    captions: captionsOf(state),
    look: { ...captionFields(state), ...fileFields(state) },
    format: sentFormat(state),
    output: `${isOverlay ? 'overlay' : 'captioned'}.${OUTPUT_FORMATS[formatOf(state)].extension}`,
  };
}

/** With `maxSide`, an overlay without a file has at most this many pixels on its longer side. */
export function formOf(state: Composed, maxSide = Number.POSITIVE_INFINITY): FormData {
  const request = snippetOf(state, '');
  const form = new FormData();
  if (request === undefined) return form;
  const { asset, size, overlays, captions, look, format } = request;
  const sent = {
    ...(size && (asset === undefined ? previewSize(size, maxSide) : size)),
    ...(captions === undefined ? { overlays: JSON.stringify(overlays) } : { captions }),
    ...(format !== undefined && { format }),
    ...look,
  };
  for (const [name, value] of Object.entries(sent)) form.append(name, String(value));
  if (asset !== undefined && state.media) form.append('asset', state.media.file);
  return form;
}

/** Returns undefined if there is nothing to preview. */
export function previewOf(state: Composed & Pick<State, 'pages'>, maxSide: number): PreviewRequest | undefined {
  const size = targetOf(state);
  const moment = momentOf(state);
  const overlays = overlaysOf(state);
  if (size === undefined || (moment?.captions === undefined && overlays.length === 0)) return undefined;
  return {
    ...previewSize(size, maxSide),
    overlays,
    look: captionFields(state),
    token: state.account?.token,
    ...(moment && { moment }),
  };
}

/** The frame of a video that a preview is for. Undefined if captions have no times, because all frames are then alike. */
export function momentOf(state: Composed & Pick<State, 'pages'>): PreviewMoment | undefined {
  const duration = secondsOf(state);
  if (duration === undefined) return undefined;
  const milliseconds = Math.round(state.time * 1_000);
  const captions = captionsOf(state);
  const bars = filledBars(state);
  if (captions === undefined && !bars.some(isTimed)) return undefined;
  const isHighlighted = draftOf(state).fields['highlight'] !== undefined;
  const shown =
    captions === undefined
      ? bars.flatMap((bar, index) => (isShownAt(bar, milliseconds) ? [index] : [])).join(' ')
      : pagesAt(state.pages?.pages ?? [], milliseconds, isHighlighted);
  return { duration, milliseconds, captions, shown };
}

/** Names what a frame shows. Frames with the same name look the same. */
function pagesAt(pages: readonly CaptionPage[], milliseconds: number, isHighlighted: boolean): string {
  const isShown = (times: ShownTimes): boolean => isShownAt(times, milliseconds);
  return pages
    .flatMap((page, index) => {
      if (!isShown(page)) return [];
      if (!isHighlighted) return [String(index)];
      const appeared = page.words.filter(({ start }) => isShown({ start })).length;
      return [`${index}:${page.lit.findIndex(isShown)}:${appeared}`];
    })
    .join(' ');
}
