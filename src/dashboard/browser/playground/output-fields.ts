// The fields about the finished file: its format and, of a JPEG, its color space.

import { find } from '../elements.ts';
import type { Draft } from './draft.ts';

type OutputValues = Pick<Draft, 'format' | 'colorSpace'>;

export class OutputFields {
  readonly #format: HTMLSelectElement;
  readonly #colorSpace: HTMLSelectElement;
  readonly #formatRow: HTMLElement;
  readonly #colorRow: HTMLElement;

  constructor(root: HTMLElement, onChange: () => void) {
    this.#format = find(root, '[data-format]', HTMLSelectElement);
    this.#colorSpace = find(root, '[data-color-space]', HTMLSelectElement);
    this.#formatRow = find(root, '[data-format-row]', HTMLElement);
    this.#colorRow = find(root, '[data-color-row]', HTMLElement);
    for (const field of [this.#format, this.#colorSpace]) {
      field.addEventListener('change', () => {
        this.#showColors();
        onChange();
      });
    }
  }

  get values(): OutputValues {
    return { format: this.#format.value, colorSpace: this.#colorSpace.value };
  }

  restore({ format, colorSpace }: OutputValues): void {
    select(this.#format, format);
    select(this.#colorSpace, colorSpace);
    this.#showColors();
  }

  /** The format of a video can't be chosen. */
  offer(isOffered: boolean): void {
    this.#formatRow.hidden = !isOffered;
    this.#showColors();
  }

  #showColors(): void {
    this.#colorRow.hidden = this.#formatRow.hidden || this.#format.value !== 'jpeg';
  }
}

/** Selects the first option if there is none with this value. */
function select(field: HTMLSelectElement, value: string): void {
  field.value = value;
  if (field.selectedIndex === -1) field.selectedIndex = 0;
}
