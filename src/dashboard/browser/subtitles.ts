// The subtitles of a video: a text field that a file can fill. Its text replaces the list of captions.

import { find } from './elements.ts';

export class Subtitles {
  readonly #root: HTMLElement;
  readonly #text: HTMLTextAreaElement;
  #isVideo = false;

  constructor(root: HTMLElement, onChange: () => void) {
    this.#root = root;
    this.#text = find(root, '[data-captions]', HTMLTextAreaElement);
    const file = find(root, '[data-captions-file]', HTMLInputElement);
    this.#text.addEventListener('input', onChange);
    file.addEventListener('change', () => {
      void file.files?.[0]?.text().then((text) => {
        this.#text.value = text;
        onChange();
      });
    });
  }

  /** Undefined for images, and while the field is blank. */
  get captions(): string | undefined {
    const { value } = this.#text;
    return this.#isVideo && value.trim() !== '' ? value : undefined;
  }

  offer(isVideo: boolean): void {
    this.#isVideo = isVideo;
    this.#root.hidden = !isVideo;
  }
}
