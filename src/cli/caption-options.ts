// The options of `storybar render` and `storybar send` that are request fields, and their conversion to such fields.

import path from 'node:path';
import { OUTPUT_FORMATS, type OutputFormat, WRITTEN_FORMATS } from '../engine/caption/output-format.ts';
import { CAPTION_FIELDS, FILE_FIELDS, LOOK_FIELDS } from '../engine/caption/request-fields.ts';
import { STYLE_FIELDS } from '../engine/caption/style.ts';
import { UsageError } from './exit-codes.ts';
import { readSubtitles } from './local-files.ts';

const { strict: _strict, ...CAPTIONS } = CAPTION_FIELDS;
const FIELDS = { ...CAPTIONS, ...LOOK_FIELDS, ...FILE_FIELDS };

type OptionOf<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}-${Tail}` : Name;
/** Keys of the style with an option of their own. */
const STYLE_OPTIONS = ['font', 'highlight', 'case'] as const satisfies readonly (keyof typeof STYLE_FIELDS)[];
type CaptionOption = OptionOf<keyof typeof FIELDS> | (typeof STYLE_OPTIONS)[number];

/** Options that take something else than their fields. */
const OWN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  overlays: 'Captions with positions as JSON, instead of `text`, such as `[{"text": "Hello", "position": 25}]`.',
  captions:
    'A file for a video, instead of `text`: SRT or WebVTT subtitles, or a transcript as OpenAI, whisper.cpp, Deepgram, ' +
    'AssemblyAI or ElevenLabs write it. Words of a transcript become pages.',
};

/** Every option has a value, which is parsed like that of a field in a form. */
export const CAPTION_OPTIONS = Object.fromEntries(
  [...Object.entries(FIELDS), ...STYLE_OPTIONS.map((key) => [key, STYLE_FIELDS[key]] as const)].map(
    ([name, { description }]) => [name.replace('_', '-'), fieldOption(OWN_DESCRIPTIONS[name] ?? description)],
  ),
) as { readonly [Option in CaptionOption]: ReturnType<typeof fieldOption> };

/** An option for a field, in the words of the command line: a field is the option that sets it. */
export function fieldOption(description: string): { readonly type: 'string'; readonly description: string } {
  const asOption = (_quoted: string, name: string): string =>
    Object.hasOwn(FIELDS, name) ? `--${name.replace('_', '-')}` : name;
  return { type: 'string', description: description.replaceAll(/`([^`]*)`/gu, asOption) };
}

export const OUTPUT_OPTION = {
  type: 'string',
  short: 'o',
  placeholder: '<file>',
  description: 'The finished file. Its name decides the format. "-o -" writes an image to standard output.',
} as const;

/** The format that the name of a file promises; undefined without an extension, and for standard output. */
export function formatOfName(output: string): OutputFormat | undefined {
  const extension = path.extname(output).slice(1).toLowerCase();
  if (extension === '') return undefined;
  const format = WRITTEN_FORMATS.get(extension);
  if (format !== undefined) return format;
  const names = Object.values(OUTPUT_FORMATS).map((each) => `.${each.extension}`);
  throw new UsageError(`-o ${output}: results are ${names.join(', ')} files; use one of these names, or give --format`);
}

/** The format follows the name of the output, so that a file never has another content than its name says. */
function withFormat(
  values: Readonly<Record<string, string | boolean>>,
  output: string | undefined,
): Readonly<Record<string, string | boolean>> {
  const given = typeof values['format'] === 'string' ? WRITTEN_FORMATS.get(values['format'].toLowerCase()) : undefined;
  if (output === undefined || ('format' in values && given === undefined)) return values;
  const extension = path.extname(output).slice(1).toLowerCase();
  if (given === undefined) {
    const format = formatOfName(output);
    return format === undefined ? values : { ...values, format };
  }
  const named = WRITTEN_FORMATS.get(extension);
  if (named === undefined || named === given) return values;
  throw new UsageError(`--format ${given} and -o ${output} disagree; change one of them`);
}

/**
 * The values of options that were given, and the format that the name of the output asks for. `captions` names a file of
 * subtitles or a transcript, whose text becomes the field.
 */
export async function captionFields(
  given: Readonly<Record<string, string | boolean>>,
  output?: string,
): Promise<[name: string, value: string][]> {
  const values = withFormat(given, output);
  const fields: [string, string][] = [];
  for (const [option, value] of Object.entries(withStyleOptions(values))) {
    const isFile = option === 'captions';
    fields.push([option.replace('-', '_'), isFile ? await readSubtitles(String(value)) : String(value)]);
  }
  return fields;
}

/** Options for keys of the style become part of it. The style itself is checked with the other fields. */
function withStyleOptions(
  values: Readonly<Record<string, string | boolean>>,
): Readonly<Record<string, string | boolean>> {
  const own = STYLE_OPTIONS.flatMap((key) =>
    values[key] === undefined ? [] : [[key, styleValue(values[key])] as const],
  );
  if (own.length === 0) return values;
  const rest = Object.entries(values).filter(([option]) => !STYLE_OPTIONS.some((key) => key === option));
  const style = styleObject(String(values['style'] ?? ''));
  return { ...Object.fromEntries(rest), style: JSON.stringify({ ...style, ...Object.fromEntries(own) }) };
}

function styleObject(style: string): object {
  const trimmed = style.trim();
  if (trimmed === '') return {};
  const value = styleValue(trimmed);
  return typeof value === 'object' && value !== null ? value : { preset: value };
}

/** A name, or an object as JSON. */
function styleValue(value: string | boolean): unknown {
  if (typeof value !== 'string' || !/^\s*[{"]/u.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new UsageError(`${value} isn't valid JSON`);
  }
}
