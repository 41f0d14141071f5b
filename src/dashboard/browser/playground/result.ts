// Shows the finished file with its response headers and offers it for download.

import { OUTPUT_FORMATS } from '../../../caption/output-format.ts';
import { find } from '../elements.ts';

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

export class ResultView {
  readonly #root: HTMLElement;
  #url = '';

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** `name` is the name of the file that was sent. */
  async show(response: Response, name: string): Promise<void> {
    const blob = await response.blob();
    if (this.#url !== '') URL.revokeObjectURL(this.#url);
    this.#url = URL.createObjectURL(blob);
    const isVideo = blob.type.startsWith('video/');
    const element = isVideo ? document.createElement('video') : new Image();
    if (element instanceof HTMLVideoElement) Object.assign(element, { controls: true, loop: true, muted: true });
    else element.alt = 'The captioned image';
    element.src = this.#url;
    find(this.#root, '[data-result-media]', HTMLElement).replaceChildren(element);
    const link = find(this.#root, '[data-download]', HTMLAnchorElement);
    link.href = this.#url;
    link.download = `${name.replace(/\.[^.]*$/u, '')}-captioned.${extensionOf(blob)}`;
    find(this.#root, '[data-headers]', HTMLElement).replaceChildren(...headerRows(response.headers, SHOWN_HEADERS));
    this.#root.hidden = false;
    find(this.#root, 'h2', HTMLElement).focus();
  }
}

export function extensionOf({ type }: Blob): string {
  return Object.values(OUTPUT_FORMATS).find(({ mediaType }) => mediaType === type)?.extension ?? 'bin';
}

/** Returns a row for each of the names that the response has. */
export function headerRows(headers: Headers, names: readonly string[]): HTMLTableRowElement[] {
  return names.flatMap((name) => {
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
