// The bar above the stage: upload, samples, aspect ratios and the overlay-only mode. Files can also be dropped or pasted.

import { find } from '../elements.ts';
import { isSubtitleFile } from './subtitles.ts';

export interface SourcesOptions {
  readonly root: HTMLElement;
  readonly onFile: (file: File) => void;
  readonly onSubtitles: (file: File) => void;
  readonly onSample: (sample: SampleFile) => void;
  /** Called when the aspect ratio or the mode was changed. */
  readonly onShape: () => void;
}

export interface SampleFile {
  readonly name: string;
  readonly url: string;
  readonly alt: string;
}

export class Sources {
  readonly #root: HTMLElement;
  readonly #overlayOnly: HTMLInputElement;

  constructor({ root, onFile, onSubtitles, onSample, onShape }: SourcesOptions) {
    this.#root = root;
    this.#overlayOnly = find(root, '[data-overlay-only]', HTMLInputElement);
    const open = (files: FileList | null | undefined, event: Event): void => {
      const [file] = files ?? [];
      if (file === undefined) return;
      event.preventDefault();
      if (isSubtitleFile(file)) onSubtitles(file);
      else onFile(file);
    };
    const upload = find(root, '[data-file]', HTMLInputElement);
    upload.addEventListener('change', (event) => {
      open(upload.files, event);
      // Choosing the same file again must count as a change.
      upload.value = '';
    });
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => open(event.dataTransfer?.files, event));
    document.addEventListener('paste', (event) => open(event.clipboardData?.files, event));
    for (const button of this.#sampleButtons) {
      button.addEventListener('click', () => onSample(sampleOf(button)));
    }
    for (const input of [...this.#shapes, this.#overlayOnly]) input.addEventListener('change', onShape);
  }

  /** An aspect ratio such as `9:16`. Empty for that of the media. */
  get shape(): string {
    return this.#shapes.find(({ checked }) => checked)?.value ?? '';
  }

  get isOverlayOnly(): boolean {
    return this.#overlayOnly.checked;
  }

  /** Returns the sample of this name, or the first one. */
  sample(name = ''): SampleFile {
    const buttons = this.#sampleButtons;
    const button = buttons.find(({ dataset }) => dataset['name'] === name) ?? buttons[0];
    if (button === undefined) throw new Error('the page has no samples');
    return sampleOf(button);
  }

  /** Doesn't report a change. An unknown aspect ratio counts as that of the media. */
  restore({ shape, isOverlayOnly }: { readonly shape: string; readonly isOverlayOnly: boolean }): void {
    const known = this.#shapes.some(({ value }) => value === shape) ? shape : '';
    for (const input of this.#shapes) input.checked = input.value === known;
    this.#overlayOnly.checked = isOverlayOnly;
  }

  /** Browsers can crop images, but not videos. */
  allowShapes(isAllowed: boolean): void {
    if (!isAllowed) this.restore({ shape: '', isOverlayOnly: this.isOverlayOnly });
    for (const input of this.#shapes) input.disabled = !isAllowed && input.value !== '';
  }

  markSample(name: string): void {
    for (const button of this.#sampleButtons) button.ariaPressed = String(button.dataset['name'] === name);
  }

  get #shapes(): HTMLInputElement[] {
    return [...this.#root.querySelectorAll<HTMLInputElement>('[name="shape"]')];
  }

  get #sampleButtons(): HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>('[data-sample]')];
  }
}

function sampleOf({ dataset }: HTMLElement): SampleFile {
  return { name: dataset['name'] ?? '', url: dataset['sample'] ?? '', alt: dataset['alt'] ?? '' };
}
