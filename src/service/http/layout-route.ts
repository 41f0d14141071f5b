// POST /v1/layout: returns where the bars of a render would go, what they would look like and what it would cost. Free.

import { randomUUID } from 'node:crypto';
import type { ResponseOf } from '../api/response-schemas.ts';
import { ref } from '../api/schema-parts.ts';
import { quoteFor } from '../account/pricing.ts';
import type { SavedLogos } from '../brand/saved-logos.ts';
import type { SavedStyles } from '../brand/saved-styles.ts';
import { wordCount } from '../../engine/caption/captions-field.ts';
import { readFields } from '../../engine/caption/field-reader.ts';
import { parseFields } from '../../engine/caption/form.ts';
import { CAPTION_FIELDS, LAYOUT_FIELDS, LOOK_FIELDS } from '../../engine/caption/request-fields.ts';
import { assertWithin } from '../../engine/render/cover-recipe.ts';
import { type Renderer, withLease } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { FailedDecodes } from '../limits/failed-decodes.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import type { Json } from '../../shared/json-schema.ts';
import { must } from '../../shared/must.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { WorkArea } from '../../engine/media/work-area.ts';
import type { BarReport, PageReport } from '../../engine/render/bar-report.ts';
import type { RenderFacts } from '../../engine/render/render.ts';
import { receiveSmall } from './overlay/receive.ts';
import { MAX_BODY_BYTES } from './overlay/small-body.ts';
import { assertNoWarnings, layoutOf, webVttOf } from '../renders/strict.ts';
import type { Admission } from './access/admission.ts';
import type { Call, KeyRoutes } from './key-routes.ts';
import { describeOperations, json } from './operation.ts';
import { JSON_FIELDS } from './reference/openapi-form.ts';
import type { RouteGroup } from './route-group.ts';
import { createRequestSignal } from './transport/request-signal.ts';

export interface LayoutDependencies {
  readonly admission: Admission;
  readonly failedDecodes: FailedDecodes;
  readonly renderer: Renderer;
  readonly styles: Pick<SavedStyles, 'resolve'>;
  readonly logos: Pick<SavedLogos, 'measure'>;
  readonly workArea: WorkArea;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
  readonly shutdown: AbortSignal;
}

/** The maximum number of open layouts per account. They are free and need no render slot. */
const MAX_OPEN_PER_ACCOUNT = 8;
/** A layout takes as long as its captions, so every further 100 cues or words count as another request. */
const CAPTIONS_PER_REQUEST = 100;

const { strict: strictField, ...captionFields } = CAPTION_FIELDS;

export const LAYOUT_REQUEST: Json = {
  type: 'object',
  description: 'Send either `text`, `overlays` or `captions`.',
  required: ['width', 'height'],
  properties: { ...captionFields, ...LOOK_FIELDS, strict: strictField, duration: LAYOUT_FIELDS.duration },
  additionalProperties: false,
};

export const LAYOUT_OPERATIONS = describeOperations(
  { tag: 'Rendering' },
  {
    layoutOverlay: {
      route: 'POST /v1/layout',
      summary: 'Show where captions would go, without rendering them',
      description: 'Returns the bars of a render with this size and these captions, and its price. Free.',
      body: {
        required: true,
        content: {
          'application/json': { schema: ref('LayoutRequest') },
          'application/x-www-form-urlencoded': { schema: ref('LayoutRequest'), encoding: JSON_FIELDS },
        },
      },
      success: { 200: json('The layout.', 'Layout') },
      errors: [
        'strict_warnings',
        'too_many_renders',
        'too_many_failures',
        'overloaded',
        'renderer_unavailable',
        'out_of_memory',
        'deadline_exceeded',
      ],
    },
  },
);

export function layoutRoutes(keyRoutes: KeyRoutes, dependencies: LayoutDependencies): RouteGroup {
  const { failedDecodes } = dependencies;
  const open = new LocalLimits();
  return keyRoutes(LAYOUT_OPERATIONS, {
    layoutOverlay: async (call) => {
      const { caller } = call;
      failedDecodes.assertFew(caller);
      const leave = await open.enter(caller.accountId, MAX_OPEN_PER_ACCOUNT);
      if (leave === undefined) {
        const detail = `At most ${MAX_OPEN_PER_ACCOUNT} layouts run at a time. Wait for one to finish.`;
        throw new AppError('too_many_renders', detail, { retryAfterSeconds: 1 });
      }
      try {
        return await handle(dependencies, call);
      } catch (error) {
        await failedDecodes.count(caller, error);
        throw error;
      } finally {
        leave();
      }
    },
  });
}

async function handle(
  { admission, renderer, styles, logos, workArea, deadlineMs, shutdown }: LayoutDependencies,
  { caller, request, reply }: Call,
): Promise<ResponseOf<'Layout'>> {
  const lifetime = createRequestSignal(reply.raw, shutdown);
  const directory = workArea.lazyDirectory(randomUUID());
  try {
    const received = await receiveSmall(request, reply, { shutdown, maxBytes: MAX_BODY_BYTES });
    const read = await styles.resolve(caller.accountId, readFields({ ...received, allowed: LAYOUT_FIELDS }));
    const { overlays, canvas, strict, duration, output, logo: requested } = await parseFields(read);
    if (duration !== undefined && output.at !== undefined) assertWithin(output.at, duration);
    const size = must(canvas, 'the size of the canvas');
    const further = Math.ceil(Math.max(overlays.length, wordCount(overlays)) / CAPTIONS_PER_REQUEST) - 1;
    if (further > 0) await admission.countFreeRequest(caller, (headers) => void reply.headers(headers), further);
    const logo = await logos.measure(caller.accountId, requested);
    lifetime.startDeadline(deadlineMs.image);
    const lastFrame = duration === undefined ? undefined : lastMillisecondBefore(duration);
    const lease = {
      account: caller.accountId,
      class: 'layout',
      budgetMs: deadlineMs,
      signal: lifetime.signal,
      renderId: request.id,
    } as const;
    const facts = await withLease(
      renderer,
      lease,
      async (opened) => await layoutOf({ lease: opened, directory }, size, { overlays, lastFrame, logo }),
    );
    if (strict) assertNoWarnings(facts);
    return { ...toJson(facts), credits: quoteFor(output.at === undefined ? duration : undefined, caller.mode) };
  } finally {
    lifetime.release();
    await directory.remove();
  }
}

/** Returns the latest time that a frame of the video can have. */
function lastMillisecondBefore(duration: number): number {
  return Math.max(0, Math.ceil(duration * 1_000) - 1) / 1_000;
}

function toJson({ width, height, layout, logo, warnings }: RenderFacts): Omit<ResponseOf<'Layout'>, 'credits'> {
  const bars = must(layout, 'the layout');
  const captions = webVttOf({ layout: bars });
  const box = logo ? { x: logo.left, y: logo.top, width: logo.width, height: logo.height } : null;
  return { width, height, bars: bars.map(barToJson), captions, logo: box, warnings };
}

function barToJson({ top, height, fontSize, direction, lines, fonts, ...bar }: BarReport): ResponseOf<'LayoutBar'> {
  return {
    x: bar.left,
    y: top,
    width: bar.width,
    height,
    font_size: fontSize,
    direction,
    lines,
    fonts,
    missing_characters: bar.missingCharacters,
    warnings: bar.warnings,
    page: bar.page ? pageToJson(bar.page) : null,
  };
}

function pageToJson({ words, source: _source, ...page }: PageReport): ResponseOf<'LayoutPage'> {
  return { ...page, words: words.map(({ left, top, ...word }) => ({ ...word, x: left, y: top })) };
}
