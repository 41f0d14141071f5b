// The options of `storybar render` and `storybar send` that are fields of a request, and how they become such fields.

import { readSubtitles } from './local-files.ts';

export const CAPTION_OPTIONS = {
  text: { type: 'string' },
  overlays: { type: 'string' },
  captions: { type: 'string' },
  position: { type: 'string' },
  lang: { type: 'string' },
  style: { type: 'string' },
  'safe-area': { type: 'string' },
  width: { type: 'string' },
  height: { type: 'string' },
  format: { type: 'string' },
  quality: { type: 'string' },
} as const;

/** The values of options that were given. `captions` names a file of subtitles, whose text becomes the field. */
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
