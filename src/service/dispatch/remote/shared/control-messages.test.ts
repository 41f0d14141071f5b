import { describe, expect, it } from 'vitest';
import { IMAGE_PROBE, VIDEO_PROBE } from '../../../../../test/dispatch/sample-reports.ts';
import { type AssetLimits, composeRecipe, type Recipe } from '../../../../engine/render/compose.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../../../engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS, type VideoRecipe } from '../../../../engine/render/video-recipe.ts';
import { type ControlMessage, parseControlMessage, type Step } from './control-messages.ts';

const LIMITS: AssetLimits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
const OVERLAYS = [
  { text: 'first', position: null },
  { text: 'second', position: 12.5 },
];
const ASSET = { format: 'mp4', bytes: 1_000 } as const;

const messageOf = (step: Step): ControlMessage => ({ type: 'step', attempt: 1, token: 'token', step });
const render = (recipe: Recipe): Step => ({ type: 'render', asset: ASSET, recipe });

function videoRecipe(): VideoRecipe {
  const recipe = composeRecipe(VIDEO_PROBE, OVERLAYS, LIMITS, { watermark: true });
  if (recipe.kind !== 'video') throw new Error('not a video');
  return recipe;
}

describe('a control message', () => {
  const recipe = videoRecipe();

  it.each<[string, ControlMessage]>([
    ['the end of the stream', { type: 'end' }],
    ['a probe', messageOf({ type: 'probe', asset: ASSET, limits: LIMITS })],
    [
      'a transparent overlay',
      messageOf({ type: 'render', recipe: composeRecipe({ kind: 'canvas', width: 64, height: 48 }, OVERLAYS, LIMITS) }),
    ],
    ['an image', messageOf(render(composeRecipe(IMAGE_PROBE, OVERLAYS, LIMITS)))],
    ['a video with a watermark', messageOf(render(recipe))],
    ['a silent video', messageOf(render({ ...recipe, audio: null }))],
    ['a font', messageOf({ type: 'render', recipe: { kind: 'font' }, attachment: { bytes: 5 } })],
  ])('a control message loses nothing on its way: %s', (_what, message) => {
    expect(parseControlMessage(JSON.stringify(message))).toEqual(message);
  });

  it.each([
    'null',
    '{',
    '{"type":"stop"}',
    JSON.stringify({ type: 'step', attempt: 1, token: 't', step: { type: 'render' } }),
    JSON.stringify({ type: 'step', attempt: 1, token: 't', step: render({ ...recipe, frameRate: -1 }) }),
    JSON.stringify({ ...messageOf({ type: 'probe', asset: ASSET, limits: LIMITS }), attempt: '1' }),
  ])('an invalid control message is ignored: %s', (line) => {
    expect(parseControlMessage(line)).toBeUndefined();
  });
});
