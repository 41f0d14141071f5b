// A visitor's work: captions and settings, without the file and without the key. It survives a reload, can be undone,
// and fits into a link. Drafts from storage and links are validated, because anyone can create one.

import { MAX_CAPTIONS_BYTES, MAX_OVERLAYS, MAX_TEXT_BYTES } from '../../../caption/overlay.ts';

export interface DraftBar {
  readonly text: string;
  readonly position?: number;
  /** The time in seconds of the video. */
  readonly start?: number;
  readonly end?: number;
}

export interface Draft {
  readonly bars: readonly DraftBar[];
  /** Values of the style fields by name, without defaults. */
  readonly look: Readonly<Record<string, string>>;
  readonly format: string;
  readonly colorSpace: string;
  /** Subtitles of a video, instead of the bars. */
  readonly captions: string;
  /** The most words of a page. Empty for no limit. */
  readonly maxWords: string;
  /** An aspect ratio such as `9:16`. Empty for that of the media. */
  readonly shape: string;
  readonly isOverlayOnly: boolean;
  /** The name of the sample file. Empty for the visitor's own file, which a draft doesn't contain. */
  readonly sample: string;
}

export const EMPTY_DRAFT: Draft = {
  bars: [],
  look: {},
  format: '',
  colorSpace: '',
  captions: '',
  maxWords: '',
  shape: '',
  isOverlayOnly: false,
  sample: '',
};

const MAX_VALUE = 40;
const LOOK_NAMES = [
  'preset',
  'color',
  'background',
  'size',
  'align',
  'weight',
  'highlight',
  'case',
  'safe_area',
] as const;
/** Browsers and chat programs truncate longer links. */
const MAX_LINK = 8_000;

/** Returns undefined if the value isn't a draft. Values that make no sense are left out. */
export function parseDraft(value: unknown): Draft | undefined {
  if (!isRecord(value) || !Array.isArray(value['bars'])) return undefined;
  const { look, isOverlayOnly } = value;
  return {
    bars: value['bars'].slice(0, MAX_OVERLAYS).filter(isRecord).map(parseBar),
    look: isRecord(look) ? parseLook(look) : {},
    format: textOf(value['format'], MAX_VALUE),
    colorSpace: textOf(value['colorSpace'], MAX_VALUE),
    captions: textOf(value['captions'], MAX_CAPTIONS_BYTES),
    maxWords: textOf(value['maxWords'], MAX_VALUE),
    shape: textOf(value['shape'], MAX_VALUE),
    isOverlayOnly: isOverlayOnly === true,
    sample: textOf(value['sample'], MAX_VALUE),
  };
}

function parseBar(bar: Readonly<Record<string, unknown>>): DraftBar {
  return {
    text: textOf(bar['text'], MAX_TEXT_BYTES),
    ...numberOf('position', bar['position'], 100),
    ...numberOf('start', bar['start'], Number.MAX_SAFE_INTEGER),
    ...numberOf('end', bar['end'], Number.MAX_SAFE_INTEGER),
  };
}

function parseLook(look: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = LOOK_NAMES.map((name): [string, string] => [name, textOf(look[name], MAX_VALUE)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? value.slice(0, maxLength) : '';
}

function numberOf<Name extends string>(name: Name, value: unknown, max: number): { readonly [Key in Name]?: number } {
  if (typeof value !== 'number' || !(value >= 0 && value <= max)) return {};
  return { [name]: value } as { readonly [Key in Name]?: number };
}

/** Returns the fragment of a link, which browsers don't send to the server, or undefined if it would be too long. */
export function toFragment(draft: Draft): string | undefined {
  const bytes = new TextEncoder().encode(JSON.stringify(draft));
  const text = btoa(String.fromCodePoint(...bytes.subarray(0, MAX_LINK)));
  const fragment = `draft=${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  return bytes.length > MAX_LINK || fragment.length > MAX_LINK ? undefined : fragment;
}

/** Returns undefined if the fragment holds no draft. */
export function fromFragment(fragment: string): Draft | undefined {
  const encoded = /^#?draft=(?<text>[\w-]+)$/u.exec(fragment)?.groups?.['text'];
  return encoded === undefined ? undefined : parseJson(() => decode(encoded));
}

function decode(encoded: string): string {
  const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.codePointAt(0) ?? 0));
}

/** Parses text that may be anything. */
export function parseJson(read: () => string): Draft | undefined {
  try {
    return parseDraft(JSON.parse(read()));
  } catch {
    return undefined;
  }
}
