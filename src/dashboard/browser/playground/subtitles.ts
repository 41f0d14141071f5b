// The subtitles of a video: a text field that a file can fill. Its text replaces the list of captions.

import { parseSubtitles } from '../../../caption/subtitles.ts';
import { find } from '../elements.ts';

export class Subtitles {
  readonly #root: HTMLElement;
  readonly #text: HTMLTextAreaElement;
  readonly #onChange: (key?: string) => void;
  #isVideo = false;

  constructor(root: HTMLElement, onChange: (key?: string) => void) {
    this.#root = root;
    this.#onChange = onChange;
    this.#text = find(root, '[data-captions]', HTMLTextAreaElement);
    const file = find(root, '[data-captions-file]', HTMLInputElement);
    this.#text.addEventListener('input', () => onChange('subtitles'));
    file.addEventListener('change', () => {
      const [chosen] = file.files ?? [];
      if (chosen) void this.read(chosen);
    });
  }

  /** Returns undefined for images, and while the field is blank. */
  get captions(): string | undefined {
    const { value } = this.#text;
    return this.#isVideo && value.trim() !== '' ? value : undefined;
  }

  get text(): string {
    return this.#text.value;
  }

  async read(file: File): Promise<void> {
    this.restore(await file.text());
    this.#onChange();
  }

  /** Doesn't report a change. */
  restore(text: string): void {
    this.#text.value = text;
    if (text !== '') find(this.#root, 'details', HTMLDetailsElement).open = true;
  }

  offer(isVideo: boolean): void {
    this.#isVideo = isVideo;
    this.#root.hidden = !isVideo;
  }
}

/** Returns the times of the cues, without those that the service would refuse. */
export function cueTimes(subtitles: string): { readonly start: number; readonly end: number }[] {
  return parseSubtitles(subtitles).flatMap((cue) => ('problem' in cue ? [] : [{ start: cue.start, end: cue.end }]));
}

export function isSubtitleFile({ name, type }: File): boolean {
  return /\.(?:srt|vtt)$/iu.test(name) || type === 'text/vtt' || type === 'application/x-subrip';
}
