// The subtitles or the transcript of a video: a text field that a file can fill. Its text replaces the list of captions. The
// service knows which pages it becomes.

import type { Size } from '../../../layout/geometry.ts';
import { find } from '../elements.ts';
import type { PreviewMoment } from '../preview.ts';

interface SpokenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface CaptionPage extends SpokenWord {
  readonly words: readonly SpokenWord[];
}

/** A look for spoken words, from the page. */
interface WordLook {
  readonly look: Readonly<Record<string, string>>;
  readonly maxWords: number;
}

export interface SubtitlesOptions {
  readonly root: HTMLElement;
  readonly onChange: (key?: string) => void;
  readonly onLook: (look: Readonly<Record<string, string>>) => void;
  /** Called when the pages of the latest request are known. */
  readonly onPages: () => void;
}

const DEBOUNCE_MS = 200;

export class Subtitles {
  readonly #options: SubtitlesOptions;
  readonly #text: HTMLTextAreaElement;
  readonly #maxWords: HTMLInputElement;
  readonly #edit: HTMLButtonElement;
  #isVideo = false;
  #pages: readonly CaptionPage[] = [];
  #webVtt: string | undefined;
  #requested = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SubtitlesOptions) {
    const { root, onChange } = options;
    this.#options = options;
    this.#text = find(root, '[data-captions]', HTMLTextAreaElement);
    this.#maxWords = find(root, '[data-max-words]', HTMLInputElement);
    this.#edit = find(root, '[data-edit-words]', HTMLButtonElement);
    const file = find(root, '[data-captions-file]', HTMLInputElement);
    this.#text.addEventListener('input', () => onChange('subtitles'));
    this.#maxWords.addEventListener('input', () => onChange('max words'));
    this.#edit.addEventListener('click', () => this.#editWords());
    file.addEventListener('change', () => {
      const [chosen] = file.files ?? [];
      if (chosen) void this.read(chosen);
    });
    for (const button of root.querySelectorAll<HTMLElement>('[data-word-look]')) {
      button.addEventListener('click', () => {
        const { look, maxWords } = JSON.parse(button.dataset['wordLook'] ?? '{}') as WordLook;
        this.#maxWords.value = String(maxWords);
        options.onLook(look);
      });
    }
  }

  /** Returns undefined for images, and while the field is blank. */
  get captions(): string | undefined {
    const { value } = this.#text;
    return this.#isVideo && value.trim() !== '' ? value : undefined;
  }

  get text(): string {
    return this.#text.value;
  }

  get maxWords(): string {
    return this.#maxWords.value;
  }

  /** The fields to send beside the captions. */
  get fields(): Readonly<Record<string, string>> {
    const { value } = this.#maxWords;
    return this.captions === undefined || value === '' || !this.#maxWords.checkValidity() ? {} : { max_words: value };
  }

  /** The pages of the latest response. Empty until there is one. */
  get pages(): readonly CaptionPage[] {
    return this.captions === undefined ? [] : this.#pages;
  }

  async read(file: File): Promise<void> {
    this.restore({ captions: await file.text(), maxWords: this.maxWords });
    this.#options.onChange();
  }

  /** Doesn't report a change. */
  restore({ captions, maxWords }: { readonly captions: string; readonly maxWords: string }): void {
    this.#text.value = captions;
    this.#maxWords.value = maxWords;
    if (captions !== '') find(this.#options.root, 'details', HTMLDetailsElement).open = true;
  }

  offer(isVideo: boolean): void {
    this.#isVideo = isVideo;
    this.#options.root.hidden = !isVideo;
  }

  /** Asks for the pages, unless they are known. They depend on the size and the look, but not on the frame. */
  requestPages(size: Size, moment: PreviewMoment, look: Readonly<Record<string, string>>): void {
    const { captions, duration } = moment;
    if (captions === undefined) return;
    const [width, height] = [String(size.width), String(size.height)];
    const fields = { width, height, duration: String(duration), captions, ...look };
    const requested = JSON.stringify(fields);
    if (requested === this.#requested) return;
    this.#requested = requested;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#fetchPages(fields, requested), DEBOUNCE_MS);
  }

  /** The preview reports faults of the captions, so a failure here only leaves the pages unknown. */
  async #fetchPages(fields: Readonly<Record<string, string>>, requested: string): Promise<void> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const response = await fetch('/playground/pages', { method: 'POST', body }).catch(() => undefined);
    const known = response?.ok
      ? ((await response.json()) as { pages: CaptionPage[]; captions: string | null })
      : undefined;
    if (requested !== this.#requested) return;
    if (known === undefined) this.#requested = '';
    this.#pages = known?.pages ?? [];
    this.#webVtt = known?.captions ?? undefined;
    this.#edit.disabled = this.#webVtt === undefined;
    this.#options.onPages();
  }

  /** As WebVTT, every page is a cue whose words can be changed, and every word has its time. */
  #editWords(): void {
    if (this.#webVtt === undefined) return;
    this.restore({ captions: this.#webVtt, maxWords: '' });
    this.#text.focus();
    this.#options.onChange();
  }
}

export function isSubtitleFile({ name, type }: File): boolean {
  const types = ['text/vtt', 'application/x-subrip', 'application/json'];
  return /\.(?:srt|vtt|json)$/iu.test(name) || types.includes(type);
}
