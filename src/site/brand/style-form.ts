// The form of a saved style: its fields, and the style that a sent form stands for. Keys of a style that the form doesn't have
// stay as they are.

import { fontToJson } from '../../service/brand/saved-fonts.ts';
import { logoSize } from '../../service/brand/saved-logos.ts';
import { FONT_NAMES } from '../../engine/caption/fonts.ts';
import { LOGO_CORNERS } from '../../engine/caption/logo.ts';
import type { SavedStyle } from '../../engine/caption/saved-style.ts';
import { SAFE_AREAS } from '../../engine/caption/safe-area.ts';
import { STYLE_PRESETS } from '../../engine/caption/style-presets.ts';
import { STYLE_FIELDS } from '../../engine/caption/style.ts';
import type { FieldFault } from '../../shared/errors.ts';
import type { BrandFile } from '../../service/store/brand/brand-files.ts';
import { type Html, html } from '../html.ts';

type Values = Readonly<Record<string, unknown>>;

interface StyleField {
  /** A key of the style, or `logo.` and a key of its logo. */
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly string[];
  /** How a choice is shown, if not as it is. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly placeholder?: string;
  readonly isNumber?: true;
}

const FIELDS: readonly StyleField[] = [
  { name: 'preset', label: 'Preset', choices: STYLE_PRESETS },
  { name: 'font', label: 'Font', choices: FONT_NAMES },
  { name: 'color', label: 'Text color', placeholder: '#ffffff' },
  { name: 'background', label: 'Background', placeholder: '#1d3557' },
  { name: 'size', label: 'Size', placeholder: '1', isNumber: true },
  { name: 'weight', label: 'Weight', choices: STYLE_FIELDS.weight.enum },
  { name: 'align', label: 'Align', choices: STYLE_FIELDS.align.enum },
  { name: 'case', label: 'Letters', choices: STYLE_FIELDS.case.enum },
  { name: 'position', label: 'Position in percent', placeholder: '50', isNumber: true },
  { name: 'safe_area', label: 'Safe area', choices: SAFE_AREAS },
];
const LOGO_FIELDS: readonly StyleField[] = [
  { name: 'logo.corner', label: 'Corner', choices: LOGO_CORNERS },
  { name: 'logo.width', label: 'Width in percent', placeholder: '15', isNumber: true },
  { name: 'logo.margin', label: 'Margin in percent', placeholder: '4', isNumber: true },
  { name: 'logo.opacity', label: 'Opacity', placeholder: '1', isNumber: true },
];
const ALL_FIELDS = [...FIELDS, { name: 'logo.id', label: 'Logo' }, ...LOGO_FIELDS];

/** The text of every field, as a form shows it. */
export type TypedStyle = Readonly<Record<string, string>>;

export function typedStyleOf(style: SavedStyle): TypedStyle {
  const { logo, ...rest } = style;
  const values: Values = { ...rest, ...prefixed(logo ?? {}) };
  return Object.fromEntries(ALL_FIELDS.map(({ name }) => [name, textOf(values[name])]));
}

export function readTypedStyle(text: (name: string) => string): TypedStyle {
  return Object.fromEntries(ALL_FIELDS.map(({ name }) => [name, text(name).trim()]));
}

/** Returns the style to check and save. `before` has the keys that the form doesn't have. */
export function styleOf(typed: TypedStyle, before: SavedStyle = {}): Values {
  const kept = Object.entries(before).filter(
    ([name]) => name !== 'logo' && !FIELDS.some((field) => field.name === name),
  );
  const given = (fields: readonly StyleField[]): [string, unknown][] =>
    fields.flatMap(({ name, isNumber }) => {
      const text = typed[name] ?? '';
      return text === '' ? [] : [[name.replace(/^logo\./u, ''), isNumber ? numberOr(text) : text]];
    });
  const id = typed['logo.id'] ?? '';
  const logo = id === '' ? {} : { logo: { id, ...Object.fromEntries(given(LOGO_FIELDS)) } };
  return { ...Object.fromEntries(kept), ...Object.fromEntries(given(FIELDS)), ...logo };
}

/** The files of the account that a style can use. */
export interface OwnFiles {
  readonly logos: readonly BrandFile[];
  readonly fonts: readonly BrandFile[];
}

export function styleFields(typed: TypedStyle, faults: readonly FieldFault[], { logos, fonts }: OwnFiles): Html {
  const faultOf = (name: string): string | undefined =>
    faults.find(({ pointer }) => pointer === `#/${name.replace('.', '/')}`)?.detail;
  const show = (one: StyleField): Html => fieldOf(one, typed[one.name] ?? '', faultOf(one.name));
  const logo = withFiles({ name: 'logo.id', label: 'Logo' }, typed, logos, logoLabel);
  const fields = FIELDS.map((one) => (one.name === 'font' ? withFiles(one, typed, fonts, fontLabelOf) : one));
  return html`<div class="style-fields">${fields.map(show)}</div>
<fieldset class="style-fields"><legend>Logo</legend>
${show(logo)}${LOGO_FIELDS.map(show)}
</fieldset>`;
}

/** A file that was deleted stays a choice of the style that uses it, so that saving reports it. */
function withFiles(
  field: StyleField,
  typed: TypedStyle,
  files: readonly BrandFile[],
  label: (file: BrandFile) => string,
): StyleField {
  const choices = [...files.map(({ id }) => id), ...(field.choices ?? [])];
  const chosen = typed[field.name] ?? '';
  const labels = Object.fromEntries(files.map((file) => [file.id, label(file)]));
  return { ...field, labels, choices: chosen === '' || choices.includes(chosen) ? choices : [chosen, ...choices] };
}

function fieldOf(
  { name, label, choices, labels, placeholder, isNumber }: StyleField,
  value: string,
  fault?: string,
): Html {
  const id = `style-${name.replace('.', '-')}`;
  const described = html`${fault !== undefined && html` aria-invalid="true" aria-describedby="${id}-fault"`}`;
  const option = (choice: string): Html =>
    html`<option value="${choice}"${choice === value && html` selected`}>${labels?.[choice] ?? choice}</option>`;
  const empty = name === 'logo.id' ? 'None' : 'Default';
  const input = choices
    ? html`<select id="${id}" name="${name}"${described}><option value="">${empty}</option>${choices.map(option)}</select>`
    : html`<input id="${id}" name="${name}" type="text" value="${value}" placeholder="${placeholder}" autocomplete="off" spellcheck="false"${isNumber === true && html` inputmode="decimal"`}${described}>`;
  return html`<div class="field"><label for="${id}">${label}</label>
${input}
${fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>`}
</div>`;
}

/** Logos have no names, so their size and the end of their id tell them apart. */
export function logoLabel(logo: BrandFile): string {
  const { width, height } = logoSize(logo);
  return `${width} × ${height}, …${logo.id.slice(-6)}`;
}

function fontLabelOf(font: BrandFile): string {
  const { family, style } = fontToJson(font);
  return `${family} ${style}`;
}

function prefixed(logo: object): Values {
  return Object.fromEntries(Object.entries(logo).map(([name, value]) => [`logo.${name}`, value]));
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Text that isn't a number stays text, which the check of the style reports. */
function numberOr(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}
