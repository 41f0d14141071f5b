// The recipe of a preview: the overlay of an image, or that of one frame of a video. The video itself isn't uploaded, so the
// page sends its duration.

import type { ReadFields } from '../../engine/caption/field-reader.ts';
import { wordCount } from '../../engine/caption/captions-field.ts';
import { parseFields, refuseBrandFiles } from '../../engine/caption/form.ts';
import type { Overlay } from '../../engine/caption/overlay.ts';
import type { RequestedLogo } from '../../engine/caption/logo.ts';
import { AppError } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { RecipeLogo } from '../../engine/render/logo.ts';
import { composeMomentRecipe, composeTransparentRecipe, type TransparentRecipe } from '../../engine/render/recipe.ts';

const MAX_PREVIEWED_CUES = 100;
const MAX_PREVIEWED_WORDS = 1_000;

/** Loads the logo of an account. */
type LoadLogo = (requested: RequestedLogo | undefined) => Promise<RecipeLogo | undefined>;

/** `query.at` is the time of the frame in milliseconds. The default is the first frame. Visitors without an account have no logos and fonts. */
export async function composePreview(
  read: ReadFields,
  query: unknown,
  loadLogo?: LoadLogo,
): Promise<TransparentRecipe> {
  const parsed = await parseFields(read);
  const { overlays, canvas, duration } = parsed;
  if (loadLogo === undefined) refuseBrandFiles(parsed);
  assertFewCues(overlays);
  const size = must(canvas, 'the size of the canvas');
  const logo = await loadLogo?.(parsed.logo);
  const recipe =
    duration === undefined
      ? composeTransparentRecipe(size, overlays)
      : composeMomentRecipe(size, overlays, { lastFrame: duration, milliseconds: timeIn(query) });
  return logo ? { ...recipe, logo } : recipe;
}

/** Every cue is laid out, which would occupy a worker too long for a free request. */
function assertFewCues(overlays: readonly Overlay[]): void {
  const [cues, words] = [overlays.length, wordCount(overlays)];
  if (cues <= MAX_PREVIEWED_CUES && words <= MAX_PREVIEWED_WORDS) return;
  const detail =
    `A preview shows captions of at most ${MAX_PREVIEWED_CUES} cues or sentences and ${MAX_PREVIEWED_WORDS} words; ` +
    `got ${cues} and ${words}. They can be rendered all the same.`;
  throw new AppError('invalid_fields', detail, {
    faults: [{ pointer: '#/captions', code: 'out_of_range', detail }],
  });
}

function timeIn(query: unknown): number {
  const { at } = query as { readonly at?: unknown };
  const milliseconds = typeof at === 'string' ? Number(at) : 0;
  return Number.isFinite(milliseconds) ? Math.max(0, Math.round(milliseconds)) : 0;
}
