// The `fit` of a request: how an asset gets the size of `width` and `height`. Pure numbers, shared by the API, the workers
// and the library.

import { type FieldFault, invalidFields } from '../../shared/errors.ts';
import type { Json } from '../../shared/json-schema.ts';
import { capitalize } from './quote.ts';

/** The size, and what happens to an asset with another aspect ratio. */
export const FIT_MODES = ['blur', 'crop', 'pad'] as const;
export type FitMode = (typeof FIT_MODES)[number];

export const FIT_COLOR = { type: 'string', pattern: '^#[0-9a-fA-F]{6}$' } as const;
export const DEFAULT_PAD_COLOR = '#000000';

export const FIT_FIELD = {
  oneOf: [
    { type: 'string', enum: FIT_MODES },
    {
      type: 'object',
      properties: { mode: { type: 'string', enum: FIT_MODES }, color: FIT_COLOR },
      required: ['mode'],
      additionalProperties: false,
    },
  ],
} as const satisfies Json;

export interface Fit {
  readonly mode: FitMode;
  /** The color beside a padded asset, as `#rrggbb`. */
  readonly color: string;
  readonly width: number;
  readonly height: number;
}

/** The limits of a video that is fitted. H.264 stores colors at half the resolution, so sides are even. */
export const MAX_FITTED_VIDEO_SIDE = 4_096;

/** An asset that is enlarged by more than this looks soft, which is a warning. */
export const SOFT_ENLARGEMENT = 2;
/** An asset that would be enlarged by more than this is refused. */
export const MAX_ENLARGEMENT = 4;

/** Returns what is wrong with the sides of a fitted video. */
export function videoSideFaults({ width, height }: VideoSides): FieldFault[] {
  return Object.entries({ width, height }).flatMap(([name, side = 0]): FieldFault[] => {
    const isLong = side > MAX_FITTED_VIDEO_SIDE;
    if (!isLong && side % 2 === 0) return [];
    const rule = isLong ? `at most ${MAX_FITTED_VIDEO_SIDE} pixels` : 'even';
    const detail = `${capitalize(name)} of a video must be ${rule}; got ${side}.`;
    return [{ pointer: `#/${name}`, code: 'out_of_range', detail }];
  });
}

interface VideoSides {
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** For an asset that turns out to be a video only after the fields were parsed. */
export function assertVideoSize(fit: Fit): void {
  const faults = videoSideFaults(fit);
  if (faults.length > 0) throw invalidFields(faults);
}
