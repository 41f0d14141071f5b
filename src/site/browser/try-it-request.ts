// The request of the form in the documentation, as code. The server and the browser both use this module.

import { defaultFormat, OUTPUT_FORMATS, WRITTEN_FORMATS } from '../../engine/caption/output-format.ts';
import { KEY_PLACEHOLDER, type Snippet, snippetsFor } from './snippets.ts';

/** The fields as they are sent. Empty fields aren't sent. */
export interface TryItFields {
  /** `sample`, `file` or, for an overlay without an asset, empty. */
  readonly source: string;
  readonly fileName: string;
  readonly text: string;
  readonly position: string;
  readonly style: string;
  readonly format: string;
  readonly width: string;
  readonly height: string;
}

export const SAMPLE_NAME = 'photo.jpg';

export const TRY_IT_DEFAULTS: TryItFields = {
  source: 'sample',
  fileName: SAMPLE_NAME,
  text: 'No signal, great connection 🏔️',
  position: '66',
  style: '',
  format: '',
  width: '720',
  height: '1280',
};

/** `sampleUrl` is where the sample photo can be downloaded. */
export function trySnippets(fields: TryItFields, baseUrl: string, sampleUrl: string): Snippet[] {
  const download = fields.source === 'sample' ? `curl -so ${SAMPLE_NAME} ${sampleUrl}\n` : '';
  return snippetsOf(fields, baseUrl).map((snippet) =>
    snippet.id === 'curl' ? { ...snippet, code: `${download}${snippet.code}` } : snippet,
  );
}

function snippetsOf(fields: TryItFields, baseUrl: string): Snippet[] {
  const { source, fileName, text, position, style, format, width, height } = fields;
  const size = { ...(width !== '' && { width }), ...(height !== '' && { height }) };
  return snippetsFor({
    baseUrl,
    key: KEY_PLACEHOLDER,
    asset: source === '' ? undefined : fileName,
    overlays: [{ text }],
    look: {
      ...(source === '' && size),
      ...(position !== '' && { position }),
      ...(style !== '' && { style }),
    },
    format: format === '' ? undefined : format,
    output: `${source === '' ? 'overlay' : 'captioned'}.${extensionOf(format)}`,
  });
}

function extensionOf(format: string): string {
  return OUTPUT_FORMATS[WRITTEN_FORMATS.get(format) ?? defaultFormat('image')].extension;
}
