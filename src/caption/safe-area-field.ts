// The `safe_area` of a request: which app's own controls the captions avoid.

import type { FieldFault } from '../errors.ts';
import type { Overlay } from './overlay.ts';
import { choice } from './style-field.ts';

export const SAFE_AREAS = ['none', 'tiktok', 'reels', 'shorts', 'stories', 'all'] as const;
export type SafeAreaName = (typeof SAFE_AREAS)[number];

/** In pixels, from each edge of the canvas. */
export interface Margins {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** What apps cover with their own controls, on 1080x1920. docs/api.md has the same table and its sources. */
export const SAFE_AREA_MARGINS: Readonly<Record<Exclude<SafeAreaName, 'none'>, Margins>> = {
  tiktok: { top: 130, bottom: 484, left: 120, right: 140 },
  reels: { top: 269, bottom: 672, left: 65, right: 65 },
  shorts: { top: 288, bottom: 672, left: 48, right: 192 },
  stories: { top: 269, bottom: 384, left: 65, right: 65 },
  all: { top: 288, bottom: 672, left: 120, right: 192 },
};

/** A blank value counts as absent, so a browser form with an empty input works. */
export function parseSafeArea(value: unknown, faults: FieldFault[]): SafeAreaName | undefined {
  const trimmed = typeof value === 'string' ? value.trim() : value;
  if (trimmed === '') return undefined;
  return choice(trimmed, SAFE_AREAS, 'Safe_area', '#/safe_area', faults);
}

export function withSafeArea(overlays: readonly Overlay[], area: SafeAreaName | undefined): readonly Overlay[] {
  return area === undefined || area === 'none' ? overlays : overlays.map((overlay) => ({ ...overlay, safeArea: area }));
}
