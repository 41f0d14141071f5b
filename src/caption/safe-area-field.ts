// The `safe_area` of a request: the app whose controls the captions avoid.

import type { FieldFault } from '../errors.ts';
import type { Overlay } from './overlay.ts';
import { SAFE_AREAS, type SafeAreaName } from './safe-area.ts';
import { choice } from './style-field.ts';

/** A blank value counts as absent, so a browser form with an empty input works. */
export function parseSafeArea(value: unknown, faults: FieldFault[]): SafeAreaName | undefined {
  const trimmed = typeof value === 'string' ? value.trim() : value;
  if (trimmed === '') return undefined;
  return choice(trimmed, SAFE_AREAS, 'Safe_area', '#/safe_area', faults);
}

export function withSafeArea(overlays: readonly Overlay[], area: SafeAreaName | undefined): readonly Overlay[] {
  return area === undefined || area === 'none' ? overlays : overlays.map((overlay) => ({ ...overlay, safeArea: area }));
}
