// The `style` of a request or an overlay: the name of a preset, or an object that changes one.

import type { FieldFault } from '../errors.ts';
import { pointerTo, quoteJson, typeName } from './field-reader.ts';
import type { Overlay } from './overlay.ts';

export const STYLE_PRESETS = ['bar', 'bar-light', 'box', 'box-light', 'outline', 'plain'] as const;
export const ALIGNMENTS = ['left', 'center', 'right'] as const;
export const WEIGHTS = ['regular', 'bold'] as const;
export const MIN_STYLE_SIZE = 0.5;
export const MAX_STYLE_SIZE = 3;

export type StylePreset = (typeof STYLE_PRESETS)[number];
export type Alignment = (typeof ALIGNMENTS)[number];
export type Weight = (typeof WEIGHTS)[number];

/** What the client wants changed; the preset `bar` and its values apply to everything else. */
export interface CaptionStyle {
  readonly preset?: StylePreset;
  /** `#rrggbb` or `#rrggbbaa`, in lowercase. */
  readonly color?: string;
  readonly background?: string;
  /** Multiplies the default font size. */
  readonly size?: number;
  /** Physical, also for right-to-left text. */
  readonly align?: Alignment;
  readonly weight?: Weight;
}

const STYLE_KEYS = ['preset', 'color', 'background', 'size', 'align', 'weight'] as const;
/** Their text lies directly on the photo. */
const WITHOUT_BACKGROUND: ReadonlySet<StylePreset> = new Set(['outline', 'plain']);
const COLOR = /^#(?:[\da-f]{6}|[\da-f]{8})$/iu;

/** The field as a form sends it: the name of a preset, or an object as JSON text. A blank one counts as absent. */
export function parseStyle(text: string, pointer: string, faults: FieldFault[]): CaptionStyle | undefined {
  const trimmed = text.trim();
  // Clients that send the field as JSON put quotes around the name of a preset.
  if (!/^[{"]/u.test(trimmed)) return checkStyle(trimmed === '' ? undefined : trimmed, pointer, faults);
  try {
    return checkStyle(JSON.parse(trimmed), pointer, faults);
  } catch {
    const detail = 'The style isn\'t valid JSON. Send the name of a preset or an object such as {"preset": "box"}.';
    faults.push({ pointer, code: 'invalid_json', detail });
    return undefined;
  }
}

/** The field as a value. Undefined when it is omitted or invalid. */
export function checkStyle(value: unknown, pointer: string, faults: FieldFault[]): CaptionStyle | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return compact({ preset: choice(value, STYLE_PRESETS, 'Style', pointer, faults) });
  if (typeof value !== 'object' || Array.isArray(value)) {
    const detail = `Style must be the name of a preset or an object; got ${typeName(value)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return undefined;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields)) {
    if (STYLE_KEYS.some((known) => known === key)) continue;
    const detail = `Unknown key ${quoteJson(key)} in style. Valid keys are ${STYLE_KEYS.join(', ')}.`;
    faults.push({ pointer: `${pointer}${pointerTo(key).slice(1)}`, code: 'unknown_field', detail });
  }
  return compact({
    preset: choice(fields['preset'], STYLE_PRESETS, 'Preset', `${pointer}/preset`, faults),
    color: color(fields['color'], 'Color', `${pointer}/color`, faults),
    background: color(fields['background'], 'Background', `${pointer}/background`, faults),
    size: size(fields['size'], `${pointer}/size`, faults),
    align: choice(fields['align'], ALIGNMENTS, 'Align', `${pointer}/align`, faults),
    weight: choice(fields['weight'], WEIGHTS, 'Weight', `${pointer}/weight`, faults),
  });
}

/**
 * Gives the style of the request to the overlays. A style of an overlay that names a preset replaces it; without a preset,
 * it changes only the keys it has.
 */
export function withStyle(
  overlays: readonly Overlay[],
  requested: CaptionStyle | undefined,
  faults: FieldFault[],
): readonly Overlay[] {
  const isConflict = conflicts(requested, '#/style', faults);
  return overlays.map((overlay, index) => {
    const own = overlay.style;
    const isReplaced = own?.preset !== undefined;
    const style = isReplaced ? own : compact({ ...requested, ...own });
    // A conflict within the style of the request has been reported there.
    const isInherited = isConflict && own?.background === undefined;
    if (isReplaced || !isInherited) conflicts(style, `#/overlays/${index}/style`, faults);
    return style === undefined ? overlay : { ...overlay, style };
  });
}

function conflicts(style: CaptionStyle | undefined, pointer: string, faults: FieldFault[]): boolean {
  const { preset = 'bar', background } = style ?? {};
  if (background === undefined || !WITHOUT_BACKGROUND.has(preset)) return false;
  const detail = `The preset ${preset} has no background. Leave background out, or use bar or box.`;
  faults.push({ pointer: `${pointer}/background`, code: 'conflict', detail });
  return true;
}

/** One of the allowed names; undefined for an omitted value, and for anything else, which is reported. */
export function choice<Name extends string>(
  value: unknown,
  names: readonly Name[],
  label: string,
  pointer: string,
  faults: FieldFault[],
): Name | undefined {
  if (value === undefined || value === null) return undefined;
  const known = names.find((name) => name === value);
  if (known !== undefined) return known;
  const isText = typeof value === 'string';
  const detail = `${label} must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}; got ${isText ? quoteJson(value) : typeName(value)}.`;
  faults.push({ pointer, code: isText ? 'invalid_choice' : 'wrong_type', detail });
  return undefined;
}

function color(value: unknown, label: string, pointer: string, faults: FieldFault[]): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && COLOR.test(value)) return value.toLowerCase();
  const isText = typeof value === 'string';
  const got = isText ? quoteJson(value) : typeName(value);
  const detail = `${label} must be a color such as "#ffcc00", or "#ffcc0080" with transparency; got ${got}.`;
  faults.push({ pointer, code: isText ? 'invalid_color' : 'wrong_type', detail });
  return undefined;
}

function size(value: unknown, pointer: string, faults: FieldFault[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value >= MIN_STYLE_SIZE && value <= MAX_STYLE_SIZE) return value;
  const isNumber = typeof value === 'number';
  const got = isNumber ? value : typeName(value);
  const detail = `Size must be a number from ${MIN_STYLE_SIZE} to ${MAX_STYLE_SIZE}; got ${got}.`;
  faults.push({ pointer, code: isNumber ? 'out_of_range' : 'wrong_type', detail });
  return undefined;
}

type WithUndefined<Type> = { readonly [Key in keyof Type]?: Type[Key] | undefined };

/** Without omitted keys, so that a recipe stays plain JSON. Undefined when nothing is left. */
function compact(style: WithUndefined<CaptionStyle>): CaptionStyle | undefined {
  const entries = Object.entries(style).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
