// Previews of the playground: the overlay of an image or of one frame of a video, the pages of subtitles, and a still image of a
// file that the browser can't show.

import type { FastifyRequest } from 'fastify';
import { GUEST_MAX_SIDE, UNMARKED_PREVIEWS_PER_HOUR, UNMARKED_SIDE } from '../../account/guest.ts';
import type { PlanLimits } from '../../account/plans.ts';
import type { SavedLogos } from '../../brand/saved-logos.ts';
import type { SavedStyles } from '../../brand/saved-styles.ts';
import { readFields } from '../../../engine/caption/field-reader.ts';
import type { Overlay } from '../../../engine/caption/overlay.ts';
import { LAYOUT_FIELDS } from '../../../engine/caption/request-fields.ts';
import { pageWords } from '../../../engine/caption/words/timed-words.ts';
import { toWebVtt } from '../../../engine/caption/words/webvtt.ts';
import type { Lease } from '../../dispatch/renderer.ts';
import { AppError, type FieldFault } from '../../../shared/errors.ts';
import type { LazyDirectory } from '../../../engine/media/work-area.ts';
import { must } from '../../../shared/must.ts';
import type { PageReport } from '../../../engine/render/bar-report.ts';
import { type BaseLayer, composeRecipe } from '../../../engine/render/compose.ts';
import type { TransparentRecipe } from '../../../engine/render/recipe.ts';
import { FREE, type Payment, type RenderOrder } from '../../renders/perform-render.ts';
import { composePreview } from '../../renders/preview-recipe.ts';
import { acceptUpload } from '../../renders/parse.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import { layoutOf } from '../../renders/strict.ts';
import type { Limits } from '../../store/limits.ts';

const HOUR_MS = 3_600_000;

/** The part of a render order that differs between visitors' requests. */
export type GuestOrder = Pick<RenderOrder<Payment, unknown>, 'source' | 'limits' | 'compose' | 'reserve'>;

/** The account of a visitor who is signed in. */
export interface PreviewMember {
  readonly accountId: string;
  /** True if the account has live credits, so its renders have no watermark. */
  readonly isPaying: boolean;
}

export interface PreviewDependencies {
  readonly limits: PlanLimits;
  readonly styles: Pick<SavedStyles, 'resolve'>;
  readonly logos: Pick<SavedLogos, 'load'>;
  /** Counts previews without a watermark. */
  readonly unmarked: Pick<Limits, 'take'>;
  /** Returns undefined for visitors who aren't signed in. */
  readonly memberOf: (request: FastifyRequest) => Promise<PreviewMember | undefined>;
}

interface PreviewOrder extends GuestOrder {
  readonly isMarked: boolean;
}

export async function previewOrder(
  dependencies: PreviewDependencies,
  request: FastifyRequest,
  upload: ReceivedForm,
): Promise<PreviewOrder> {
  refuseAsset(upload);
  const member = await dependencies.memberOf(request);
  const recipe = await recipeFor(dependencies, member, request, upload);
  const canvas = { kind: 'canvas', ...recipe.canvas } as const;
  assertPreviewSize(canvas);
  const isMarked = !(await mayBeUnmarked(dependencies, member, canvas));
  return {
    source: { asset: undefined, canvas },
    limits: dependencies.limits,
    compose: () => (isMarked ? { ...recipe, watermark: true } : recipe),
    reserve: async () => FREE,
    isMarked,
  };
}

/** An account's own styles and logos are known by name. */
async function recipeFor(
  { styles, logos }: PreviewDependencies,
  member: PreviewMember | undefined,
  { query }: FastifyRequest,
  upload: ReceivedForm,
): Promise<TransparentRecipe> {
  const sent = readFields({ ...upload, allowed: LAYOUT_FIELDS });
  if (member === undefined) return await composePreview(sent, query);
  const { accountId } = member;
  const read = await styles.resolve(accountId, sent);
  return await composePreview(read, query, async (requested) => await logos.load(accountId, requested));
}

/** A preview in full size, or any number of them, would be the result itself. */
async function mayBeUnmarked(
  { unmarked }: PreviewDependencies,
  member: PreviewMember | undefined,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<boolean> {
  if (member?.isPaying !== true || Math.max(width, height) > UNMARKED_SIDE) return false;
  const rate = { burst: UNMARKED_PREVIEWS_PER_HOUR, windowMs: HOUR_MS };
  return (await unmarked.take(`unmarked previews ${member.accountId}`, rate)).allowed;
}

interface WrittenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface WrittenPage extends WrittenWord {
  readonly words: readonly WrittenWord[];
}

interface CaptionPages {
  readonly pages: readonly WrittenPage[];
  readonly captions: string | null;
}

/** The pages of subtitles or a transcript with the times of their words, which only a worker with fonts knows. */
export async function pagesOf(
  dependencies: PreviewDependencies,
  { request, directory }: { readonly request: FastifyRequest; readonly directory: LazyDirectory },
  upload: ReceivedForm,
  lease: Lease,
): Promise<CaptionPages> {
  refuseAsset(upload);
  const member = await dependencies.memberOf(request);
  const recipe = await recipeFor(dependencies, member, request, upload);
  assertPreviewSize(recipe.canvas);
  const { layout = [] } = await layoutOf({ lease, directory }, recipe.canvas, recipe);
  const pages = layout.flatMap(({ page }) => (page ? [asWritten(page, recipe.overlays)] : []));
  return { pages, captions: pages.length === 0 ? null : toWebVtt(pages) };
}

/** With the letters of the request, which the page lets a visitor change. A style may draw them as capitals. */
function asWritten({ start, end, words, source }: PageReport, overlays: readonly Overlay[]): WrittenPage {
  const overlay = must(overlays[source.overlay], 'the overlay of the page');
  const { text, words: own } = pageWords({ words: [], ...overlay }, source.firstWord, words.length);
  return {
    text,
    start,
    end,
    words: words.map((word, index) => {
      const { from, to } = must(own[index], 'the word of the overlay');
      return { text: text.slice(from, to), start: word.start, end: word.end };
    }),
  };
}

/** What the page must know about a file that it can't read. */
interface MediaFacts {
  readonly kind: 'image' | 'video';
  readonly width: number;
  readonly height: number;
  readonly seconds?: number;
}

interface StillOrder extends GuestOrder {
  /** Known once the file was probed. */
  readonly facts: () => MediaFacts | undefined;
}

/** The file itself, without captions: an image scaled down, or the first frame of a video. */
export function stillOrder({ limits }: PreviewDependencies, upload: ReceivedForm): StillOrder {
  const output = { format: 'jpeg' } as const;
  let facts: MediaFacts | undefined;
  return {
    source: { asset: acceptUpload(upload), canvas: undefined },
    limits,
    compose: (base) => {
      facts = factsOf(base);
      const isVideo = base.kind === 'video';
      return composeRecipe(base, [], limits, {
        output: isVideo ? { ...output, at: 0 } : output,
        ...(!isVideo && { maxSide: GUEST_MAX_SIDE }),
      });
    },
    reserve: async () => FREE,
    facts: () => facts,
  };
}

function factsOf(base: BaseLayer): MediaFacts {
  const { width, height } = base;
  if (base.kind !== 'video') return { kind: 'image', width, height };
  return { kind: 'video', width, height, seconds: base.durationSeconds };
}

/** The page scales its previews. An image is scaled down instead. */
export function assertPreviewSize(canvas: { readonly width: number; readonly height: number }): void {
  const faults = (['width', 'height'] as const)
    .filter((side) => canvas[side] > GUEST_MAX_SIDE)
    .map((side): FieldFault => {
      const detail = `Without an API key, ${side} must be at most ${GUEST_MAX_SIDE}; got ${canvas[side]}.`;
      return { pointer: `#/${side}`, code: 'out_of_range', detail };
    });
  const [first] = faults;
  if (first) throw new AppError('invalid_fields', first.detail, { faults });
}

function refuseAsset({ hasAsset }: ReceivedForm): void {
  if (!hasAsset) return;
  const fault = {
    pointer: '#/asset',
    code: 'unknown_field',
    detail: 'A preview takes width and height, not an asset.',
  } as const;
  throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
}
