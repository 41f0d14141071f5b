// A visitor's work: captions and settings, without the file and without the key. It survives a reload, can be undone,
// and fits into a link. Drafts from storage and links are validated, because anyone can create one.

import { MAX_CAPTIONS_BYTES, MAX_OVERLAYS, MAX_TEXT_BYTES } from '../../../engine/caption/overlay.ts';
import { STYLE_FIELDS } from '../../../engine/caption/style.ts';

export interface DraftBar {
  /** Stays the same when captions are reordered or removed. Neither storage nor links have it. */
  readonly id: string;
  readonly text: string;
  readonly position?: number | undefined;
  /** The time in seconds of the video. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

export const STYLE_NAMES = Object.keys(STYLE_FIELDS);
/**
 * `shape` is an aspect ratio such as `9:16`, or `custom`; `overlay_only` is `on` for a transparent background. The others are
 * fields of the API or, like `fit_color`, `highlight_color` and `max_kilobytes`, a part of one. `logo` is an id.
 */
export const FIELD_NAMES: readonly string[] = [
  ...STYLE_NAMES,
  'highlight_color',
  'highlight_background',
  'logo',
  'logo_corner',
  'safe_area',
  'max_words',
  'max_lines',
  'shape',
  'overlay_only',
  'fit',
  'fit_color',
  'width',
  'height',
  'format',
  'color_space',
  'max_kilobytes',
  'duration',
  'fps',
];

/** The values of fields by name, as their inputs have them. A field at its default is absent. */
export type DraftFields = Readonly<Record<string, string>>;

export interface Draft {
  readonly bars: readonly DraftBar[];
  readonly fields: DraftFields;
  /** Subtitles or a transcript of a video, instead of the bars. */
  readonly captions: string;
  /** The name of the sample file. Empty for the visitor's own file, which a draft doesn't contain. */
  readonly sample: string;
}

export const EMPTY_DRAFT: Draft = { bars: [], fields: {}, captions: '', sample: '' };

const MAX_VALUE = 50;
/** Browsers and chat programs truncate longer links. */
const MAX_LINK = 8_000;

let lastId = 0;

export function newBar(bar: Omit<DraftBar, 'id'>): DraftBar {
  return { ...bar, id: `bar-${(lastId += 1)}` };
}

/** Returns undefined if the value isn't a draft. Values that make no sense are left out. */
function parseDraft(value: unknown): Draft | undefined {
  if (!isRecord(value) || !Array.isArray(value['bars'])) return undefined;
  return {
    bars: value['bars'].slice(0, MAX_OVERLAYS).filter(isRecord).map(parseBar),
    fields: parseFields(isRecord(value['fields']) ? value['fields'] : earlierFields(value)),
    captions: textOf(value['captions'], MAX_CAPTIONS_BYTES),
    sample: textOf(value['sample'], MAX_VALUE),
  };
}

/** Links and drafts of version 0.2.0 have other names. */
function earlierFields(draft: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { look, format, colorSpace, maxWords, shape, isOverlayOnly } = draft;
  const style = isRecord(look) ? look : {};
  const overlayOnly = isOverlayOnly === true ? 'on' : '';
  return { ...style, format, color_space: colorSpace, max_words: maxWords, shape, overlay_only: overlayOnly };
}

function parseBar(bar: Readonly<Record<string, unknown>>): DraftBar {
  const numberOf = (name: string, max: number): number | undefined => {
    const value = bar[name];
    return typeof value === 'number' && value >= 0 && value <= max ? value : undefined;
  };
  return newBar({
    text: textOf(bar['text'], MAX_TEXT_BYTES),
    position: numberOf('position', 100),
    start: numberOf('start', Number.MAX_SAFE_INTEGER),
    end: numberOf('end', Number.MAX_SAFE_INTEGER),
  });
}

function parseFields(fields: Readonly<Record<string, unknown>>): DraftFields {
  const entries = FIELD_NAMES.map((name): [string, string] => [name, textOf(fields[name], MAX_VALUE)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? value.slice(0, maxLength) : '';
}

export function draftToJson(draft: Draft): string {
  return JSON.stringify({ ...draft, bars: draft.bars.map(({ id: _id, ...bar }) => bar) });
}

/** Parses text that may be anything. */
export function draftFromJson(read: () => string): Draft | undefined {
  try {
    return parseDraft(JSON.parse(read()));
  } catch {
    return undefined;
  }
}

/** Returns the fragment of a link, which browsers don't send to the server, or undefined if it would be too long. */
export function toFragment(draft: Draft): string | undefined {
  const bytes = new TextEncoder().encode(draftToJson(draft));
  const text = btoa(String.fromCodePoint(...bytes.subarray(0, MAX_LINK)));
  const fragment = `draft=${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  return bytes.length > MAX_LINK || fragment.length > MAX_LINK ? undefined : fragment;
}

/** Returns undefined if the fragment holds no draft. */
export function fromFragment(fragment: string): Draft | undefined {
  const encoded = /^#?draft=(?<text>[\w-]+)$/u.exec(fragment)?.groups?.['text'];
  return encoded === undefined ? undefined : draftFromJson(() => decode(encoded));
}

function decode(encoded: string): string {
  const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.codePointAt(0) ?? 0));
}
