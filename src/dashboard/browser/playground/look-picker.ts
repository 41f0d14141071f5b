// The fields for the style of all captions and for the safe area, whose edges are drawn over the media.

import { type Margins, SAFE_AREAS } from '../../../caption/safe-area.ts';
import { STYLE_FIELDS } from '../../../caption/style.ts';
import { presetOf, STYLE_PRESETS } from '../../../caption/style-presets.ts';
import type { Size } from '../../../layout/geometry.ts';
import { marginsFor, NO_MARGINS } from '../../../layout/safe-area.ts';
import { find } from '../elements.ts';

/** The color that the disabled field shows. */
const NO_BACKGROUND = '#000000';
const STYLE_NAMES = Object.keys(STYLE_FIELDS);

export class LookPicker {
  readonly #root: HTMLElement;
  readonly #guide: HTMLElement;
  #size: Size = { width: 1, height: 1 };

  constructor(root: HTMLElement, guide: HTMLElement, onChange: (key: string) => void) {
    this.#root = root;
    this.#guide = guide;
    root.addEventListener('input', ({ target }) => {
      if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
      // A color input always has a value, so only one that was changed counts.
      if (target.type === 'color') target.dataset['changed'] = 'true';
      this.#update();
      onChange(`look ${target.name}`);
    });
    this.#update();
  }

  /** Returns the fields to send, without defaults. */
  get fields(): Readonly<Record<string, string>> {
    const style = Object.fromEntries(
      STYLE_NAMES.map((name): [string, string | number] => [name, this.#value(name)]).filter(
        ([, value]) => value !== '',
      ),
    );
    const area = this.#value('safe_area');
    return {
      ...(Object.keys(style).length > 0 && { style: JSON.stringify(style) }),
      ...(area !== '' && { safe_area: String(area) }),
    };
  }

  /** Returns the values by the names of their fields, without defaults. */
  get values(): Readonly<Record<string, string>> {
    const names = [...STYLE_NAMES, 'safe_area'];
    return Object.fromEntries(
      names.map((name): [string, string] => [name, String(this.#value(name))]).filter(([, value]) => value !== ''),
    );
  }

  /** Fields without a value get their default. Doesn't report a change. */
  restore(values: Readonly<Record<string, string>>): void {
    for (const field of this.#root.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[name]')) {
      const value = values[field.name] ?? '';
      if (field instanceof HTMLInputElement && field.type === 'radio') field.checked = field.value === value;
      else if (field.type === 'color') {
        // A link may contain anything.
        const isColor = /^#[\da-f]{6}$/iu.test(value);
        if (isColor) field.value = value;
        field.dataset['changed'] = String(isColor);
      } else field.value = value;
      // A select rejects a name that isn't among its options.
      if (field instanceof HTMLSelectElement && field.selectedIndex === -1) field.value = '';
    }
    if (this.#root.querySelector('[name="preset"]:checked') === null) {
      find(this.#root, '[name="preset"][value=""]', HTMLInputElement).checked = true;
    }
    this.#update();
  }

  /** Only words of subtitles and transcripts can stand out. */
  allowHighlight(isAllowed: boolean): void {
    find(this.#root, '[name="highlight"]', HTMLSelectElement).disabled = !isAllowed;
  }

  /** Returns a multiple of the default font size. */
  get size(): number {
    return Number(this.#value('size')) || (this.#preset.size ?? 1);
  }

  /** Returns the margins that the chosen safe area keeps free on an image of this size. */
  marginsOn(size: Size): Margins {
    const area = this.#value('safe_area');
    return marginsFor(
      size,
      SAFE_AREAS.find((name) => name === area),
    );
  }

  /** Called with the size of new media. */
  showFor(size: Size): void {
    this.#size = size;
    this.#update();
  }

  #value(name: string): string | number {
    const field = this.#root.querySelector<HTMLInputElement | HTMLSelectElement>(
      `[name="${name}"]:not([type="radio"]), [name="${name}"]:checked`,
    );
    if (field === null || field.disabled) return '';
    if (field.type === 'color') return field.dataset['changed'] === 'true' ? field.value : '';
    if (field.type !== 'number') return field.value;
    return field.value === '' || !field.checkValidity() ? '' : Number(field.value);
  }

  get #preset(): ReturnType<typeof presetOf> {
    const name = this.#value('preset');
    return presetOf(STYLE_PRESETS.find((known) => known === name));
  }

  #update(): void {
    const preset = this.#preset;
    find(this.#root, '[name="size"]', HTMLInputElement).placeholder = String(preset.size ?? 1);
    const background = find(this.#root, '[name="background"]', HTMLInputElement);
    background.disabled = preset.background === undefined;
    // A color that the visitor hasn't chosen is that of the preset.
    showDefault(find(this.#root, '[name="color"]', HTMLInputElement), preset.color);
    showDefault(background, preset.background ?? NO_BACKGROUND);
    const { width, height } = this.#size;
    const margins = this.marginsOn(this.#size);
    this.#guide.hidden = margins === NO_MARGINS;
    const percent = (pixels: number, of: number): string => `${(100 * pixels) / of}%`;
    this.#guide.style.top = percent(margins.top, height);
    this.#guide.style.bottom = percent(margins.bottom, height);
    this.#guide.style.left = percent(margins.left, width);
    this.#guide.style.right = percent(margins.right, width);
  }
}

/** A color input has no transparency. */
function showDefault(field: HTMLInputElement, color: string): void {
  if (field.dataset['changed'] !== 'true') field.value = color.slice(0, '#rrggbb'.length);
}
