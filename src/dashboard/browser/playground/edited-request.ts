// The request that the visitor has put together, as a form to send and as code to copy.

import { KEY_PLACEHOLDER, type SnippetOverlay, type SnippetRequest } from '../snippets.ts';
import { extensionOf } from './result.ts';

export interface EditedRequest {
  readonly file: File;
  readonly isVideo: boolean;
  /** Only the captions on a transparent background of this size; undefined: on the file. */
  readonly canvas: { readonly width: number; readonly height: number } | undefined;
  readonly overlays: readonly SnippetOverlay[];
  /** Subtitles of a video, instead of the overlays. */
  readonly captions: string | undefined;
  readonly look: Readonly<Record<string, string>>;
  /** `png`, `jpeg` or `webp`. */
  readonly format: string;
}

/** The format applies to images only, and a transparent overlay can't be a JPEG. */
function outputOf({ isVideo, canvas, format }: EditedRequest): { readonly format?: string; readonly output: string } {
  if (isVideo) return { output: 'captioned.mp4' };
  const name = canvas ? 'overlay' : 'captioned';
  if (format === 'png' || (format === 'jpeg' && canvas)) return { output: `${name}.png` };
  return { format, output: `${name}.${extensionOf(format)}` };
}

export function snippetOf(request: EditedRequest, baseUrl: string): SnippetRequest {
  const { file, canvas, overlays, captions, look } = request;
  const source = canvas ? { size: canvas } : { asset: file.name };
  return { baseUrl, key: KEY_PLACEHOLDER, ...source, overlays, captions, look, ...outputOf(request) };
}

export function formOf(request: EditedRequest): FormData {
  const { file, canvas, overlays, captions, look } = request;
  const { format } = outputOf(request);
  const fields = {
    ...canvas,
    ...(captions === undefined ? { overlays: JSON.stringify(overlays) } : { captions }),
    ...(format !== undefined && { format }),
    ...look,
  };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  if (canvas === undefined) form.append('asset', file);
  return form;
}
