// What the tools take. Unknown arguments are refused, so that an assistant notices a misspelled one.

import * as z from 'zod';
import { CASES, HIGHLIGHTS, IMAGE_FORMATS, LIMITS, SAFE_AREAS, STYLE_PRESETS } from './lists.generated.ts';

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
  style: z.enum(STYLE_PRESETS).optional().describe('Look. Default: bar.'),
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

const ONE_SOURCE = 'Send `file`, a path in the allowed folder, or `url`, and not both.';

export const IMAGE_INPUT = known({
  ...SOURCE,
  ...TEXT,
  ...LOOK,
  format: z.enum(IMAGE_FORMATS).optional().describe('Format of the result. Default: png.'),
  quality: z.number().int().min(1).max(100).optional().describe('Quality of a JPEG or WebP, from 1 to 100.'),
})
  .refine(({ file, url }) => (file === undefined) !== (url === undefined), ONE_SOURCE)
  .refine(({ text, overlays }) => [text, overlays].filter(isGiven).length === 1, 'Send either `text` or `overlays`.');

export const VIDEO_INPUT = known({
  ...SOURCE,
  ...TEXT,
  overlays: overlaysOf({ ...PLACED, ...TIMED }),
  ...SPOKEN,
  ...LOOK,
})
  .refine(({ file, url }) => (file === undefined) !== (url === undefined), ONE_SOURCE)
  .refine(
    ({ text, overlays, captions }) => [text, overlays, captions].filter(isGiven).length === 1,
    'Send one of `text`, `overlays` and `captions`.',
  );

export const LAYOUT_INPUT = known({
  width: z.number().int().min(LIMITS.MIN_SIDE).max(LIMITS.MAX_SIDE),
  height: z.number().int().min(LIMITS.MIN_SIDE).max(LIMITS.MAX_SIDE),
  ...TEXT,
  ...LOOK,
  duration: z.number().positive().optional().describe('Seconds of a video, for its price.'),
});

export const RENDER_INPUT = known({
  id: z.uuid().describe('The `render_id` that `caption_video` returned.'),
});

export const USAGE_INPUT = known({
  from: z.iso.date().optional().describe('First day, such as 2026-03-01. Default: start of the billing period.'),
  to: z.iso.date().optional().describe('Last day. Default: today.'),
});

export type ImageInput = z.infer<typeof IMAGE_INPUT>;
export type VideoInput = z.infer<typeof VIDEO_INPUT>;

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
