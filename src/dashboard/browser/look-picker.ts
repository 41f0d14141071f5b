// The fields for the style of all captions and for the safe area, whose edges are drawn over the media.

import { find } from './elements.ts';

interface GuideMargins {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

const REFERENCE = { width: 1080, height: 1920 };
/** The same tolerance as the renderer has. */
const SHAPE_TOLERANCE = 0.05;

export class LookPicker {
  readonly #root: HTMLElement;
  readonly #guide: HTMLElement;
  readonly #margins: Readonly<Record<string, GuideMargins>>;
  #size: { readonly width: number; readonly height: number } | undefined;

  constructor(root: HTMLElement, guide: HTMLElement, onChange: () => void) {
    this.#root = root;
    this.#guide = guide;
    this.#margins = JSON.parse(root.dataset['margins'] ?? '{}') as Readonly<Record<string, GuideMargins>>;
    root.addEventListener('input', ({ target }) => {
      // A color input always has a value, so only one that was changed counts.
      if (target instanceof HTMLInputElement && target.type === 'color') target.dataset['changed'] = 'true';
      this.#update();
      onChange();
    });
    this.#update();
  }

  /** The fields to send, without those that have their default. */
  get fields(): Readonly<Record<string, string>> {
    const style = Object.fromEntries(
      ['preset', 'color', 'background', 'size', 'align', 'weight']
        .map((name): [string, string | number] => [name, this.#value(name)])
        .filter(([, value]) => value !== ''),
    );
    const area = this.#value('safe_area');
    return {
      ...(Object.keys(style).length > 0 && { style: JSON.stringify(style) }),
      ...(area !== '' && { safe_area: String(area) }),
    };
  }

  /** Call with the size of new media. */
  showFor(size: { readonly width: number; readonly height: number }): void {
    this.#size = size;
    this.#update();
  }

  #value(name: string): string | number {
    const field = this.#root.querySelector<HTMLInputElement | HTMLSelectElement>(`[name="${name}"]`);
    if (field === null || field.disabled) return '';
    if (field.type === 'color') return field.dataset['changed'] === 'true' ? field.value : '';
    if (field.type !== 'number') return field.value;
    return field.value === '' || !field.checkValidity() ? '' : Number(field.value);
  }

  #update(): void {
    const preset = this.#value('preset');
    find(this.#root, '[name="background"]', HTMLInputElement).disabled = preset === 'outline' || preset === 'plain';
    const margins = this.#margins[String(this.#value('safe_area'))];
    const { width, height } = this.#size ?? { width: 1, height: 1 };
    const shape = (width * REFERENCE.height) / (height * REFERENCE.width);
    this.#guide.hidden = margins === undefined || Math.abs(shape - 1) > SHAPE_TOLERANCE;
    if (margins === undefined) return;
    const percent = (pixels: number, of: number): string => `${(100 * pixels) / of}%`;
    this.#guide.style.top = percent(margins.top, REFERENCE.height);
    this.#guide.style.bottom = percent(margins.bottom, REFERENCE.height);
    this.#guide.style.left = percent(margins.left, REFERENCE.width);
    this.#guide.style.right = percent(margins.right, REFERENCE.width);
  }
}
