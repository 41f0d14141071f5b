// The areas that apps cover with their own controls.

/** Distances in pixels from each edge of the canvas. */
export interface Margins {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** The areas that apps cover with their own controls, on 1080x1920. docs/api.md has the same table and its sources. */
export const SAFE_AREA_MARGINS = {
  tiktok: { top: 130, bottom: 484, left: 120, right: 140 },
  reels: { top: 269, bottom: 672, left: 65, right: 65 },
  shorts: { top: 288, bottom: 672, left: 48, right: 192 },
  stories: { top: 269, bottom: 384, left: 65, right: 65 },
  all: { top: 288, bottom: 672, left: 120, right: 192 },
} as const satisfies Readonly<Record<string, Margins>>;

export type SafeAreaName = 'none' | keyof typeof SAFE_AREA_MARGINS;
export const SAFE_AREAS = ['none', ...Object.keys(SAFE_AREA_MARGINS)] as SafeAreaName[];
