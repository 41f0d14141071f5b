// Renders the finished file, shows it with its response headers and offers it for download.

import { find } from './elements.ts';
import type { Media } from './media.ts';
import { errorMessage } from './problem.ts';
import type { SnippetOverlay } from './snippets.ts';

const SHOWN_HEADERS = [
  'content-type',
  'content-length',
  'x-source-type',
  'x-source-pixels',
  'x-render-duration-ms',
  'server-timing',
  'x-missing-glyphs',
  'x-warnings',
  'x-credits-charged',
  'x-credits-remaining',
  'x-render-id',
] as const;

export interface RenderInput {
  readonly media: Media;
  readonly overlays: readonly SnippetOverlay[];
  /** Subtitles of a video, instead of the overlays. */
  readonly captions: string | undefined;
  /** The default format if undefined. */
  readonly format: string | undefined;
  /** Further form fields: the style and the safe area. */
  readonly look: Readonly<Record<string, string>>;
  /** Empty for guests, who can only render images. */
  readonly key: string;
  /** The message for a guest who tries to render a video. */
  readonly keyNeeded: string;
}

/** Errors have messages for the visitor. */
export async function renderFile(input: RenderInput): Promise<Response> {
  const { media, overlays, captions, look, format, key, keyNeeded } = input;
  if (media.kind === 'video' && key === '') throw new Error(keyNeeded);
  const form = new FormData();
  form.append('asset', media.file);
  if (captions === undefined) form.append('overlays', JSON.stringify(overlays));
  else form.append('captions', captions);
  if (format !== undefined) form.append('format', format);
  for (const [name, value] of Object.entries(look)) form.append(name, value);
  const [path, headers] = key === '' ? ['/playground/render', {}] : ['/v1/overlay', { 'x-api-key': key }];
  const response = await fetch(path, { method: 'POST', body: form, headers }).catch(() => {
    throw new Error("Couldn't reach the server. Check your connection and try again.");
  });
  if (!response.ok) throw new Error(await errorMessage(response));
  return response;
}

export class ResultView {
  readonly #root: HTMLElement;
  #url = '';

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  async show(response: Response, media: Media): Promise<void> {
    const blob = await response.blob();
    if (this.#url !== '') URL.revokeObjectURL(this.#url);
    this.#url = URL.createObjectURL(blob);
    const isVideo = blob.type === 'video/mp4';
    const element = isVideo ? document.createElement('video') : new Image();
    if (element instanceof HTMLVideoElement) Object.assign(element, { controls: true, loop: true, muted: true });
    else element.alt = 'The captioned image';
    element.src = this.#url;
    find(this.#root, '[data-result-media]', HTMLElement).replaceChildren(element);
    const link = find(this.#root, '[data-download]', HTMLAnchorElement);
    link.href = this.#url;
    link.download = `${media.file.name.replace(/\.[^.]*$/u, '')}-captioned.${extensionOf(blob.type.replace(/^.*\//u, ''))}`;
    find(this.#root, '[data-headers]', HTMLElement).replaceChildren(...headerRows(response.headers));
    this.#root.hidden = false;
    find(this.#root, 'h2', HTMLElement).focus();
  }
}

/** `format` is a format of the API or the second half of a content type. */
export function extensionOf(format: string): string {
  return format === 'jpeg' ? 'jpg' : format;
}

function headerRows(headers: Headers): HTMLTableRowElement[] {
  return SHOWN_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    if (value === null) return [];
    const row = document.createElement('tr');
    const head = document.createElement('th');
    head.scope = 'row';
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = value;
    return [row];
  });
}
