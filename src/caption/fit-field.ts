// Parses `fit`, which makes `width` and `height` the size of the finished file.

import { AppError, type FieldFault } from '../errors.ts';
import type { FieldReader } from './field-reader.ts';
import {
  DEFAULT_PAD_COLOR,
  FIT_COLOR,
  FIT_FIELD,
  FIT_MODES,
  type Fit,
  type FitMode,
  MAX_FITTED_VIDEO_SIDE,
} from './fit.ts';
import { must } from '../primitives/must.ts';
import { MAX_CANVAS_PIXELS, MAX_SIDE, MIN_SIDE } from './overlay.ts';
import { pointerTo, quoteJson, typeName } from './quote.ts';
import { choice } from './style-field.ts';

const POINTER = '#/fit';
const [, { properties: FIT_KEYS }] = FIT_FIELD.oneOf;

/** Returns true if the field was sent with a value. A blank field counts as absent. */
export function hasFit(fields: FieldReader): boolean {
  const [value] = fields.all('fit');
  return value !== undefined && (typeof value !== 'string' || value.trim() !== '');
}

/** Returns undefined for an absent field, and for an invalid one, which is reported. */
export function parseFit(fields: FieldReader): Pick<Fit, 'mode' | 'color'> | undefined {
  if (!hasFit(fields)) return undefined;
  const [value] = fields.all('fit');
  return typeof value === 'string' && !fields.isJson
    ? parseText(value.trim(), fields.faults)
    : checkFit(value, fields.faults);
}

/** Forms send an object as JSON text. */
function parseText(text: string, faults: FieldFault[]): Pick<Fit, 'mode' | 'color'> | undefined {
  if (!/^[{"]/u.test(text)) return checkFit(text, faults);
  try {
    return checkFit(JSON.parse(text), faults);
  } catch {
    const detail = 'The fit isn\'t valid JSON. Send blur, crop, pad, or an object such as {"mode": "pad"}.';
    faults.push({ pointer: POINTER, code: 'invalid_json', detail });
    return undefined;
  }
}

function checkFit(value: unknown, faults: FieldFault[]): Pick<Fit, 'mode' | 'color'> | undefined {
  if (typeof value === 'string') {
    const mode = choice(value, FIT_MODES, 'Fit', POINTER, faults);
    return mode && { mode, color: DEFAULT_PAD_COLOR };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const detail = `Fit must be blur, crop or pad, or an object with a mode; got ${typeName(value)}.`;
    faults.push({ pointer: POINTER, code: 'wrong_type', detail });
    return undefined;
  }
  const keys = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(keys)) {
    if (key in FIT_KEYS) continue;
    const detail = `Unknown key ${quoteJson(key)} in fit. Valid keys are ${Object.keys(FIT_KEYS).join(', ')}.`;
    faults.push({ pointer: `${POINTER}${pointerTo(key).slice(1)}`, code: 'unknown_field', detail });
  }
  const mode = choice(keys['mode'], FIT_MODES, 'Mode', `${POINTER}/mode`, faults);
  if ((keys['mode'] ?? null) === null) {
    faults.push({ pointer: `${POINTER}/mode`, code: 'required', detail: 'A fit needs a mode: blur, crop or pad.' });
  }
  const color = parseColor(keys['color'] ?? undefined, mode, faults);
  return mode && { mode, color };
}

function parseColor(value: unknown, mode: FitMode | undefined, faults: FieldFault[]): string {
  if (value === undefined) return DEFAULT_PAD_COLOR;
  const pointer = `${POINTER}/color`;
  if (mode !== undefined && mode !== 'pad') {
    faults.push({ pointer, code: 'conflict', detail: `Color is for pad; ${mode} has none.` });
  }
  const isText = typeof value === 'string';
  if (isText && new RegExp(FIT_COLOR.pattern, 'u').test(value)) return value.toLowerCase();
  const got = isText ? quoteJson(value) : typeName(value);
  const detail = `Color must be an opaque color such as "#ffcc00"; got ${got}.`;
  faults.push({ pointer, code: isText ? 'invalid_color' : 'wrong_type', detail });
  return DEFAULT_PAD_COLOR;
}

/** Returns what is wrong with a side of a fitted video. */
export function videoSideFaults(name: 'width' | 'height', side: number): FieldFault[] {
  const pointer = `#/${name}`;
  const label = name === 'width' ? 'Width' : 'Height';
  if (side > MAX_FITTED_VIDEO_SIDE) {
    const detail = `${label} of a video must be at most ${MAX_FITTED_VIDEO_SIDE} pixels; got ${side}.`;
    return [{ pointer, code: 'out_of_range', detail }];
  }
  if (side % 2 === 0) return [];
  return [{ pointer, code: 'out_of_range', detail: `${label} of a video must be even; got ${side}.` }];
}

/** A fit as the library takes it. */
export interface RequestedFit {
  readonly mode: FitMode;
  readonly color?: string;
  readonly width: number;
  readonly height: number;
}

/** For values that don't come from a form. */
export function checkRequestedFit({ mode, color, width, height }: RequestedFit): Fit {
  const faults: FieldFault[] = [];
  const fit = checkFit({ mode, color }, faults);
  for (const [name, side] of Object.entries({ width, height })) {
    if (Number.isInteger(side) && side >= MIN_SIDE && side <= MAX_SIDE) continue;
    const detail = `${name} must be a whole number from ${MIN_SIDE} to ${MAX_SIDE}; got ${side}.`;
    faults.push({ pointer: `#/${name}`, code: 'out_of_range', detail });
  }
  if (width * height > MAX_CANVAS_PIXELS) {
    const detail = `Width times height must be at most ${MAX_CANVAS_PIXELS} pixels; got ${width * height}.`;
    faults.push({ pointer: '#/width', code: 'out_of_range', detail });
  }
  const [first] = faults;
  if (first || !fit) throw new AppError('invalid_fields', must(first, 'the fault of a fit').detail, { faults });
  return { ...fit, width, height };
}

/** For an asset that turns out to be a video only after the fields were parsed. */
export function assertVideoSize(fit: Fit): void {
  const faults = [...videoSideFaults('width', fit.width), ...videoSideFaults('height', fit.height)];
  const [first] = faults;
  if (first) throw new AppError('invalid_fields', first.detail, { faults });
}
