// The fields of requests: their names, types, limits and descriptions in the API reference. Rules between fields are
// prose, because generators turn `oneOf` and `anyOf` into types that are hard to use.

import type { Json } from '../../shared/json-schema.ts';
import { orList } from '../../shared/or-list.ts';
import { MAX_URL_LENGTH } from './asset-url.ts';
import { FIT_FIELD, MAX_ENLARGEMENT, MAX_FITTED_VIDEO_SIDE } from './fit.ts';
import {
  COLOR_SPACES,
  defaultFormat,
  FORMAT_NAMES,
  FORMATS_OF,
  isLossy,
  OUTPUT_FORMATS,
  type OutputFormat,
  type OutputSource,
  WRITTEN_FORMATS,
} from './output-format.ts';
import {
  DEFAULT_CUE_POSITION,
  DEFAULT_MAX_LINES,
  MAX_CANVAS_PIXELS,
  MAX_CAPTIONS_BYTES,
  MAX_CUES,
  MAX_LANGUAGE_LENGTH,
  MAX_OVERLAYS,
  MAX_SIDE,
  MAX_TEXT_BYTES,
  MAX_TEXT_GRAPHEMES,
  MIN_SIDE,
} from './overlay.ts';
import { SAFE_AREAS } from './safe-area.ts';
import { NAME_OR_STYLE } from './style.ts';
import { DEFAULT_PRESET, STYLE_PRESETS } from './style-presets.ts';
import { MAX_WORD_GRAPHEMES, MAX_WORDS } from './words/timed-words.ts';

/** The frame rate of a transparent video whose request names none. */
export const DEFAULT_FPS = 30;
/** The lowest `max_bytes`. */
const MIN_MAX_BYTES = 20_000;
/** A day, which is more than any plan allows. */
const MAX_SECONDS = 86_400;

/** The headers that a request may add to the `PUT` of its file. */
const MAX_PUT_HEADERS = 5;
export const MAX_PUT_HEADER_LENGTH = 1_024;

/** The quality of images whose request names none. */
export const DEFAULT_QUALITY = 90;

const NUMBER = new Intl.NumberFormat('en');
const quoted = (name: string): string => `\`${name}\``;
const LOSSY_TITLES = FORMAT_NAMES.filter(isLossy)
  .map((format) => OUTPUT_FORMATS[format].title)
  .join(' and ');

/** A cue of `captions` as JSON. */
export const CUE_SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'Its words decide where they are omitted.' },
    start: { type: 'number', minimum: 0, description: 'In seconds.' },
    end: { type: 'number', exclusiveMinimum: 0, description: 'In seconds.' },
    words: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          text: { type: 'string', maxLength: 1_000 },
          start: { type: 'number', minimum: 0 },
          end: { type: 'number', minimum: 0 },
        },
        required: ['text', 'start', 'end'],
      },
      description: 'When each word is spoken.',
    },
  },
  required: ['start', 'end'],
} as const satisfies Json;

/** The captions of every request, and their positions. */
export const CAPTION_FIELDS = {
  width: side('Width'),
  height: side('Height'),
  text: {
    type: 'string',
    maxLength: MAX_TEXT_BYTES,
    description:
      `One caption, at position 50 unless \`position\` says otherwise. Up to ${MAX_TEXT_GRAPHEMES} characters (grapheme clusters) and ` +
      `${NUMBER.format(MAX_TEXT_BYTES)} bytes of UTF-8. Line breaks are kept.`,
  },
  overlays: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_OVERLAYS,
    items: { $ref: '#/components/schemas/Overlay' },
    description:
      `Array of 1 to ${MAX_OVERLAYS} captions with positions, or a single one. Use it instead of \`text\`. In forms, send ` +
      'JSON text, or repeat the field with one object each.',
  },
  captions: {
    oneOf: [
      { type: 'string', maxLength: MAX_CAPTIONS_BYTES },
      { type: 'array', items: { $ref: '#/components/schemas/Cue' } },
      { type: 'object' },
    ],
    description:
      'Subtitles or a transcript for a video, or `auto` for what is said in it, instead of `text` or `overlays`: the content of an SRT or WebVTT file, an array of ' +
      'cues, or what a speech-to-text service returned (OpenAI, whisper.cpp, Deepgram, AssemblyAI, ElevenLabs). In forms, send ' +
      `JSON as text. Up to ${MAX_CAPTIONS_BYTES / 1024 / 1024} MiB, ${MAX_CUES} cues of ${MAX_TEXT_GRAPHEMES} characters and ` +
      `${NUMBER.format(MAX_WORDS)} words of ${MAX_WORD_GRAPHEMES}. Each cue is a page; words of a transcript become pages.`,
  },
  max_words: {
    type: 'integer',
    minimum: 1,
    maximum: 12,
    description:
      'The most words of a page. With it or with `max_lines`, cues are split into pages like transcripts. Only for `captions`.',
  },
  max_lines: {
    type: 'integer',
    minimum: 1,
    maximum: 4,
    description: `The most lines of a page, at the size of the style. Default: ${DEFAULT_MAX_LINES}, for transcripts. Only for \`captions\`.`,
  },
  position: {
    type: 'number',
    minimum: 0,
    maximum: 100,
    description:
      'Vertical center of the bar of `text` (default 50), or of the bars of ' +
      `\`captions\` (default ${DEFAULT_CUE_POSITION}), in percent of the height. Not allowed with \`overlays\`.`,
  },
  lang: {
    type: 'string',
    maxLength: MAX_LANGUAGE_LENGTH,
    description:
      'Language of the captions as a BCP 47 tag, such as `ja` or `zh-Hant`. It selects the forms of Han characters and of ' +
      'other letters that differ between languages where the text alone is ambiguous, and the syllables between which a word ' +
      'is cut that is too long for a line. An overlay can have its own.',
  },
  strict: {
    type: 'boolean',
    description:
      'With `true`, warnings about the captions are an error: 422 `strict_warnings`, before anything is rendered or charged. ' +
      'Default: `false`.',
  },
} as const satisfies Readonly<Record<string, Json>>;

/** The look of the captions of every request. */
export const LOOK_FIELDS = {
  style: {
    ...NAME_OR_STYLE,
    description:
      `Look of the captions: a preset (${STYLE_PRESETS.map(quoted).join(', ')}), a style that your account saved (\`acme\`, or ` +
      '`acme@3` for one of its versions), or an object such as ' +
      `\`{"preset": "box", "size": 1.5}\`, which forms send as JSON text. An overlay can have its own. Default: ${quoted(DEFAULT_PRESET)}.`,
  },
  safe_area: {
    type: 'string',
    enum: SAFE_AREAS,
    description:
      `${orList(SAFE_AREAS.map(quoted))}: keeps captions clear of an app's own controls, on portrait images and videos of 9:16 ` +
      'within 5 %. `all` fits every app. ' +
      'Default: `none`.',
  },
} as const satisfies Readonly<Record<string, Json>>;

/** The finished file of a render. */
export const FILE_FIELDS = {
  format: {
    type: 'string',
    enum: [...WRITTEN_FORMATS.keys()],
    description:
      `Format of the finished file. Images: ${formatsFor('image')}. Without an asset: ${formatsFor('canvas')}, ` +
      'which is lossless then. Videos: `mp4`, which also turns an animated GIF or WebP into a video. ' +
      'A JPEG stays a JPEG without being compressed again unless ' +
      '`quality` is set; see `x-source-pixels`. Transparent images become white in a JPEG.',
  },
  quality: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description:
      `Quality of ${LOSSY_TITLES} images. Default: ${DEFAULT_QUALITY}. Ignored for other formats and for lossless WebP. ` +
      'JPEGs keep full color resolution from 90 on.',
  },
  color_space: {
    type: 'string',
    enum: COLOR_SPACES,
    description:
      'Color space of a JPEG that stays a JPEG. `source` keeps its color profile and its pixels, and draws the captions in the ' +
      'colors of the profile. `srgb` converts it, which compresses it again. An image that is compressed again is always sRGB, ' +
      `and so is every other format, for which this is ignored. Default: \`${COLOR_SPACES[0]}\`.`,
  },
  max_bytes: {
    type: 'integer',
    minimum: MIN_MAX_BYTES,
    maximum: 10_000_000_000,
    description:
      'The most bytes of the finished file, for `jpeg`, `mp4`, and `webp` with an asset. It has the best quality that fits, which ' +
      '`x-quality` names. A `conflict` with `quality` and with other formats.',
  },
  duration: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: MAX_SECONDS,
    description:
      'Seconds. Without an asset, the finished file is a transparent video of the captions with this length: ' +
      `${formatsFor('clip')}. \`captions\` are allowed then.`,
  },
  fps: {
    type: 'integer',
    minimum: 1,
    maximum: 60,
    description: `Frames per second of a transparent video. Default: ${DEFAULT_FPS}. Only with \`duration\`.`,
  },
  at: {
    type: 'number',
    minimum: 0,
    maximum: MAX_SECONDS,
    description:
      'Seconds from the first frame of a video. Instead of the video, the finished file is an image of the frame at that time, with the ' +
      `captions it shows: ${formatsFor('frame')}.`,
  },
  fit: {
    ...FIT_FIELD,
    description:
      'Gives an image or a video the size of `width` and `height`, which are required then. `blur` shows all of it in front of a ' +
      'blurred, darker copy; `crop` fills the frame and cuts off what is too much on two sides; `pad` shows all of it on black, or on ' +
      'the color of an object such as `{"mode": "pad", "color": "#ffffff"}`, which forms send as JSON text. Captions are laid out on ' +
      `the result. Videos need even sides of up to ${NUMBER.format(MAX_FITTED_VIDEO_SIDE)} pixels. Nothing is enlarged more than ` +
      `${MAX_ENLARGEMENT} times.`,
  },
} as const satisfies Readonly<Record<string, Json>>;

/** The delivery of a render's file. */
export const DELIVERY_FIELDS = {
  async: {
    type: 'boolean',
    description:
      'With `true`, the response is 202 with the render as JSON, and the render runs afterwards. Same as the header ' +
      '`prefer: respond-async`, which a file over the synchronous limits needs. Default: `false`.',
  },
  deliver: {
    type: 'string',
    enum: ['bytes', 'url'],
    description:
      'With `url`, the response is the render as JSON with a link to the file, which works for a limited time. Default: `bytes`.',
  },
  webhook_url: {
    type: 'string',
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    description:
      'Public `http` or `https` URL that gets a webhook when the render ends, signed with the secret of your account. Only with ' +
      '`async`, `prefer: respond-async`, `deliver=url` or `put_url`. Your email address must be confirmed.',
  },
  put_url: {
    type: 'string',
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    description:
      'Public `https` URL that gets the finished file by one `PUT`, such as a presigned URL of a bucket. The response is the ' +
      'render as JSON, and the server keeps no file. Not with `deliver`. Your email address must be confirmed.',
  },
  put_headers: {
    type: 'object',
    maxProperties: MAX_PUT_HEADERS,
    additionalProperties: { type: 'string', maxLength: MAX_PUT_HEADER_LENGTH },
    description:
      `Up to ${MAX_PUT_HEADERS} headers of that \`PUT\`: \`cache-control\`, \`x-amz-*\`, \`x-ms-*\` or \`x-goog-*\`, each with up to ` +
      `${NUMBER.format(MAX_PUT_HEADER_LENGTH)} printable ASCII characters. In forms, send JSON text.`,
  },
} as const satisfies Readonly<Record<string, Json>>;

/** The fields of a render, besides the uploaded file, in the order in which errors list them. */
export const RENDER_FIELDS = {
  asset_url: {
    type: 'string',
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    description:
      'Public `http` or `https` URL of the file, instead of `asset`. The server fetches it with the same limits as an upload, ' +
      'within 120 seconds and at most 3 redirects. The URL must work without cookies or a password.',
  },
  ...CAPTION_FIELDS,
  ...FILE_FIELDS,
  ...DELIVERY_FIELDS,
  ...LOOK_FIELDS,
} as const satisfies Readonly<Record<string, Json>>;

/** The fields of a layout. */
export const LAYOUT_FIELDS = {
  ...CAPTION_FIELDS,
  duration: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: MAX_SECONDS,
    description:
      'Seconds of a video, for its price and the times of overlays. Required with `captions`. Without it, the layout is ' +
      'that of an image, where all bars are shown.',
  },
  at: FILE_FIELDS.at,
  ...LOOK_FIELDS,
} as const satisfies Readonly<Record<string, Json>>;

export type FieldName = keyof typeof RENDER_FIELDS | keyof typeof LAYOUT_FIELDS;

function side(label: 'Width' | 'Height') {
  return {
    type: 'integer',
    minimum: MIN_SIDE,
    maximum: MAX_SIDE,
    description:
      `${label} of the overlay, or of the finished file with \`fit\`, in pixels, ${MIN_SIDE} to ${MAX_SIDE}. Width times height can be at most ` +
      `${MAX_CANVAS_PIXELS / 1_000_000} megapixels. Required without an asset and with \`fit\`, otherwise ignored with an asset.`,
  } as const;
}

/** Lists the formats with their other names, such as "`png` (default), `jpeg` (or `jpg`) or `webp`". */
function formatsFor(source: OutputSource): string {
  const formats: readonly OutputFormat[] = FORMATS_OF[source];
  return orList(
    formats.map((format) => {
      const others = OUTPUT_FORMATS[format].aliases.map(quoted);
      const notes = [...(format === defaultFormat(source) ? ['default'] : []), ...others.map((name) => `or ${name}`)];
      return notes.length === 0 ? quoted(format) : `${quoted(format)} (${notes.join(', ')})`;
    }),
  );
}
