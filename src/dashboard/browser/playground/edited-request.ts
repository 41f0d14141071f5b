// The request that the visitor has composed, as a form to send and as code to copy.

import {
  COLOR_SPACES,
  defaultFormat,
  isFormatOf,
  OUTPUT_FORMATS,
  WRITTEN_FORMATS,
} from '../../../caption/output-format.ts';
import { KEY_PLACEHOLDER, type SnippetOverlay, type SnippetRequest } from '../snippets.ts';

export interface EditedRequest {
  readonly file: File;
  readonly isVideo: boolean;
  /** The size of an overlay on a transparent background. If undefined, captions go on the file. */
  readonly canvas: { readonly width: number; readonly height: number } | undefined;
  readonly overlays: readonly SnippetOverlay[];
  /** Subtitles of a video, instead of the overlays. */
  readonly captions: string | undefined;
  /** The style, the safe area and the size of pages. */
  readonly look: Readonly<Record<string, string>>;
  /** One of the image formats. */
  readonly format: string;
  readonly colorSpace: string;
}

/** The format is sent where it is possible. The default isn't sent. */
function outputOf({ isVideo, canvas, format }: EditedRequest): { readonly format?: string; readonly output: string } {
  const source = isVideo ? 'video' : canvas ? 'canvas' : 'image';
  const chosen = WRITTEN_FORMATS.get(format);
  const made = chosen && isFormatOf(source, chosen) ? chosen : defaultFormat(source);
  const output = `${canvas && !isVideo ? 'overlay' : 'captioned'}.${OUTPUT_FORMATS[made].extension}`;
  return made === defaultFormat(source) ? { output } : { format: made, output };
}

/** The look, and the color space of a JPEG unless it is the default. */
function furtherFields({ isVideo, canvas, format, colorSpace, look }: EditedRequest): Readonly<Record<string, string>> {
  const isJpeg = !isVideo && canvas === undefined && WRITTEN_FORMATS.get(format) === 'jpeg';
  const isDefault = colorSpace === '' || colorSpace === COLOR_SPACES[0];
  return isJpeg && !isDefault ? { ...look, color_space: colorSpace } : look;
}

export function snippetOf(request: EditedRequest, baseUrl: string): SnippetRequest {
  const { file, canvas, overlays, captions } = request;
  const look = furtherFields(request);
  const source = canvas ? { size: canvas } : { asset: file.name };
  return { baseUrl, key: KEY_PLACEHOLDER, ...source, overlays, captions, look, ...outputOf(request) };
}

export function formOf(request: EditedRequest): FormData {
  const { file, canvas, overlays, captions } = request;
  const { format } = outputOf(request);
  const fields = {
    ...canvas,
    ...(captions === undefined ? { overlays: JSON.stringify(overlays) } : { captions }),
    ...(format !== undefined && { format }),
    ...furtherFields(request),
  };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  if (canvas === undefined) form.append('asset', file);
  return form;
}
