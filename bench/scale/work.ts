import type { AssetLimits } from '../../src/engine/render/compose.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../src/engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';

export const LIMITS: AssetLimits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
export const OVERLAYS = [
  { text: 'Golden hour, no filter needed', position: 30 },
  { text: 'Day 12', position: 60 },
];
