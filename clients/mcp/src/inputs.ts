// What the tools take. Unknown arguments are refused, so that an assistant notices a misspelled one.

import * as z from 'zod';
import {
  CANVAS_FORMATS,
  CASES,
  CLIP_FORMATS,
  FIT_MODES,
  FONTS,
  HIGHLIGHTS,
  IMAGE_FORMATS,
  LIMITS,
  SAFE_AREAS,
  STYLE_PRESETS,
} from './lists.generated.ts';

const PLACED = {
  text: z.string().describe(`Caption, up to ${LIMITS.MAX_TEXT_GRAPHEMES} characters.`),
  position: z.number().min(0).max(100).optional().describe('Center of the bar in percent of the height; 0 is the top.'),
};

const TIMED = {
  start: z.number().min(0).optional().describe('Second of the video at which the caption appears.'),
  end: z.number().min(0).optional().describe('Second of the video at which the caption disappears.'),
};

const LOOK = {
  lang: z.string().optional().describe('Language of the captions as a BCP 47 tag, such as ja or zh-Hant.'),
  style: z
    .string()
    .max(50)
    .optional()
    .describe(`Look: ${STYLE_PRESETS.join(', ')}, or a style that list_styles returns. Default: bar.`),
  font: z
    .string()
    .max(50)
    .optional()
    .describe(`Font: ${FONTS.join(', ')}, or the id of a font that list_styles returns. Default: that of the style.`),
  logo: z
    .string()
    .max(50)
    .optional()
    .describe('The id of a logo that list_styles returns. It is put into a corner. Default: that of the style.'),
  safe_area: z
    .enum(SAFE_AREAS)
    .optional()
    .describe("Keeps captions clear of an app's own controls, on portrait files of 9:16."),
};

const TEXT = {
  text: z.string().optional().describe('One caption in the middle. Use this or `overlays`.'),
  overlays: overlaysOf(PLACED),
};

const SOURCE = {
  file: z.string().optional().describe('Path of the file inside the allowed folder. Use this or `url`.'),
  url: z
    .url({ protocol: /^https?$/u })
    .optional()
    .describe('Public http or https URL of the file. Use this or `file`.'),
};

const SPOKEN = {
  captions: z
    .string()
    .max(LIMITS.MAX_CAPTIONS_BYTES)
    .optional()
    .describe(
      'Content of an SRT or WebVTT file, or the JSON that a speech-to-text service returned. `auto` transcribes what is said, which sends the sound to the transcription service of the server and costs extra. Use this, `text` or `overlays`.',
    ),
  case: z.enum(CASES).optional().describe('With `upper`, all captions are in capitals.'),
  highlight: z.enum(HIGHLIGHTS).optional().describe('How the word of `captions` that is being spoken stands out.'),
  max_words: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.MAX_PAGE_WORDS)
    .optional()
    .describe('The most words of `captions` that are shown at a time.'),
  max_lines: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.MAX_PAGE_LINES)
    .optional()
    .describe('The most lines of `captions` that are shown at a time.'),
};

const SIDE = z.number().int().min(LIMITS.MIN_SIDE).max(LIMITS.MAX_SIDE);

const FILE = {
  fit: z
    .enum(FIT_MODES)
    .optional()
    .describe(
      'Brings the file to `width` x `height`: `blur` shows all of it in front of a blurred copy, `crop` fills the frame, `pad` adds black.',
    ),
  width: SIDE.optional().describe('Width of the result in pixels. Only with `fit`.'),
  height: SIDE.optional().describe('Height of the result in pixels. Only with `fit`.'),
  max_bytes: z
    .number()
    .int()
    .min(LIMITS.MIN_BYTES)
    .optional()
    .describe('The most bytes of the result, for JPEG, WebP and MP4. It has the best quality that fits.'),
};

const SENT = {
  put_url: z
    .url({ protocol: /^https?$/u })
    .optional()
    .describe('Presigned URL of a bucket that gets the result by PUT. It is not saved in the folder then.'),
};

const ONE_SOURCE = 'Send `file`, a path in the allowed folder, or `url`, and not both.';

export const IMAGE_INPUT = known({
  ...SOURCE,
  ...TEXT,
  ...LOOK,
  format: z.enum(IMAGE_FORMATS).optional().describe('Format of the result. Default: png.'),
  quality: z.number().int().min(1).max(100).optional().describe('Quality of a JPEG or WebP, from 1 to 100.'),
  ...FILE,
  ...SENT,
})
  .refine(({ file, url }) => (file === undefined) !== (url === undefined), ONE_SOURCE)
  .refine(({ text, overlays }) => [text, overlays].filter(isGiven).length === 1, 'Send either `text` or `overlays`.');

export const VIDEO_INPUT = known({
  ...SOURCE,
  ...TEXT,
  overlays: overlaysOf({ ...PLACED, ...TIMED }),
  ...SPOKEN,
  ...LOOK,
  at: z
    .number()
    .min(0)
    .optional()
    .describe('Second of the video. The result is an image of that frame, with the captions it shows.'),
  format: z.enum(IMAGE_FORMATS).optional().describe('Format of the image, with `at`. Default: png.'),
  ...FILE,
  ...SENT,
})
  .refine(({ file, url }) => (file === undefined) !== (url === undefined), ONE_SOURCE)
  .refine(
    ({ text, overlays, captions }) => [text, overlays, captions].filter(isGiven).length === 1,
    'Send one of `text`, `overlays` and `captions`.',
  );

export const CAPTIONS_INPUT = known({
  width: SIDE,
  height: SIDE,
  ...TEXT,
  overlays: overlaysOf({ ...PLACED, ...TIMED }),
  ...SPOKEN,
  ...LOOK,
  duration: z
    .number()
    .positive()
    .optional()
    .describe('Seconds of a transparent video. Without it, the result is a transparent image.'),
  fps: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.MAX_FPS)
    .optional()
    .describe('Frames per second, with `duration`. Default: 30.'),
  format: z
    .enum([...CANVAS_FORMATS, ...CLIP_FORMATS])
    .optional()
    .describe(
      `${CANVAS_FORMATS.join(' or ')} for an image; ${CLIP_FORMATS.join(', ')} for a video. Default: ${CANVAS_FORMATS[0]} or ${CLIP_FORMATS[0]}.`,
    ),
  ...SENT,
}).refine(
  ({ text, overlays, captions }) => [text, overlays, captions].filter(isGiven).length === 1,
  'Send one of `text`, `overlays` and `captions`.',
);

export const LAYOUT_INPUT = known({
  width: SIDE,
  height: SIDE,
  ...TEXT,
  ...LOOK,
  duration: z.number().positive().optional().describe('Seconds of a video, for its price.'),
});

export const RENDER_INPUT = known({
  id: z.uuid().describe('The `render_id` that a tool returned.'),
});

/** A tool without arguments. */
export const NO_INPUT = known({});

export const USAGE_INPUT = known({
  from: z.iso.date().optional().describe('First day, such as 2026-03-01. Default: start of the billing period.'),
  to: z.iso.date().optional().describe('Last day. Default: today.'),
});

export type ImageInput = z.infer<typeof IMAGE_INPUT>;
export type VideoInput = z.infer<typeof VIDEO_INPUT>;
export type CaptionsInput = z.infer<typeof CAPTIONS_INPUT>;

function overlaysOf<Fields extends z.core.$ZodShape>(fields: Fields) {
  return z
    .array(known(fields))
    .min(1)
    .max(LIMITS.MAX_OVERLAYS)
    .optional()
    .describe('Several captions, or captions with positions. Use this or `text`.');
}

/** An error about an argument that the tool doesn't have lists those that it has. */
function known<Fields extends z.core.$ZodShape>(fields: Fields) {
  const names = Object.keys(fields).join(', ');
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no argument ${issue.keys.join(', ')}. The arguments are: ${names}.`
        : undefined,
  });
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}
