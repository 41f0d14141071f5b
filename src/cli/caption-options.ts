// The options of `storybar render` and `storybar send` that are request fields, and their conversion to such fields.

import { CAPTION_FIELDS, FILE_FIELDS, LOOK_FIELDS } from '../caption/request-fields.ts';
import { readSubtitles } from './local-files.ts';

const { strict: _strict, ...CAPTIONS } = CAPTION_FIELDS;
const FIELDS = { ...CAPTIONS, ...LOOK_FIELDS, ...FILE_FIELDS };

type OptionOf<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}-${Tail}` : Name;
type CaptionOption = OptionOf<keyof typeof FIELDS>;

/** Every option has a value, which is parsed like that of a field in a form. */
export const CAPTION_OPTIONS = Object.fromEntries(
  Object.keys(FIELDS).map((name) => [name.replace('_', '-'), { type: 'string' }]),
) as { readonly [Option in CaptionOption]: { readonly type: 'string' } };

/**
 * Returns the values of options that were given. `captions` names a file of subtitles, whose text becomes the field.
 */
export async function captionFields(
  values: Readonly<Record<string, string | boolean>>,
): Promise<[name: string, value: string][]> {
  const fields: [string, string][] = [];
  for (const [option, value] of Object.entries(values)) {
    const isFile = option === 'captions';
    fields.push([option.replace('-', '_'), isFile ? await readSubtitles(String(value)) : String(value)]);
  }
  return fields;
}
