// The trust boundary between workers and the server. Workers decode files of strangers, so a worker may be compromised:
// it can spoil its own render, but must not break the server. Every message of a worker, on this machine or on another
// one, is validated by a schema here before it is used, and values are rebuilt from the checked fields.

import { z } from 'zod';
import { MAX_CUES, MAX_TEXT_BYTES } from '../../engine/caption/overlay.ts';
import { MAX_WORDS } from '../../engine/caption/words/timed-words.ts';
import { AppError } from '../../shared/errors.ts';
import type { ErrorCode } from '../../shared/error-table.ts';
import {
  cleanFontName,
  FONT_SCRIPTS,
  MAX_CHARACTERS,
  MAX_FONT_NAME,
} from '../../engine/media/font/font-description.ts';
import { OUT_OF_MEMORY_RETRY_SECONDS } from '../../engine/media/memory-shortage.ts';
import { type AssetFormat, isHeifFormat, KIND_OF_FORMAT } from '../../engine/media/sniff.ts';
import { windowsIn } from '../../engine/media/video/sound/wav-format.ts';
import { must } from '../../shared/must.ts';
import type { AssetProbe, Recipe } from '../../engine/render/compose.ts';
import { NOTHING_DRAWN } from '../../engine/render/recipe.ts';
import type { RenderFacts } from '../../engine/render/render.ts';
import { SOURCE_PIXELS } from '../../engine/render/source-pixels.ts';
import { LAYOUT_WARNINGS, MEDIA_WARNINGS } from '../../engine/render/warnings.ts';
import { imageProbeSchema, sizeSchema, videoProbeSchema } from '../../engine/media/probe-schema.ts';
import { versionFields } from './remote/shared/protocol.ts';
import { TASK_FAILURE_CODES, type TaskOf, type TaskResults, type TaskType, type WorkerTask } from './tasks.ts';

/** A message from a worker doesn't pass its schema or doesn't fit its task. The error names the field. */
export class InvalidReport extends Error {
  constructor(field: string, problem: string) {
    super(`invalid ${field}: ${problem}`.slice(0, MAX_PROBLEM_CHARACTERS));
    this.name = 'InvalidReport';
  }
}

const MAX_PROBLEM_CHARACTERS = 300;
const MAX_BAR_EDGE = 1_000_000;
const MAX_MISSING_GLYPHS = 100_000;
const MAX_TIMINGS = 32;
const MAX_WARNINGS = 16;
/** Each line of a caption has at least one byte. */
const MAX_LINES = MAX_TEXT_BYTES;
const MAX_FONTS = 128;
const MAX_MILLISECONDS = 7 * 86_400_000;
const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_CODECS = 256;
const MAX_SLOTS = 1_024;
/** The windows of a sound of a day, far beyond any plan. The recipe has the exact number. */
const MAX_WINDOWS = 864_000;
/** A cue becomes at most as many pages as it has words. */
const MAX_BARS = MAX_CUES + MAX_WORDS;

const taskId = z.int().min(1);
const codecsSchema = z.object({
  ffmpeg: z.string().max(100),
  available: boundedRecord(z.string().max(64), z.boolean(), MAX_CODECS),
});

const length = z.number().min(-MAX_BAR_EDGE).max(MAX_BAR_EDGE);
const pageReportSchema = z.object({
  text: z.string().max(MAX_TEXT_BYTES),
  start: z.number(),
  end: z.number(),
  words: z
    .array(
      z.object({
        text: z.string().max(MAX_MESSAGE_CHARACTERS),
        start: z.number(),
        end: z.number(),
        left: length,
        top: length,
        width: length,
        height: length,
      }),
    )
    .max(MAX_WORDS),
  source: z.object({ overlay: z.int().min(0).max(MAX_CUES), firstWord: z.int().min(0).max(MAX_WORDS) }),
});
const barReportSchema = z.object({
  top: length,
  height: length,
  left: length,
  width: length,
  fontSize: length,
  direction: z.enum(['ltr', 'rtl']),
  lines: z
    .array(z.object({ text: z.string().max(MAX_MESSAGE_CHARACTERS), x: length, width: length, baseline: length }))
    .max(MAX_LINES),
  fonts: z.array(z.string().max(64)).max(MAX_FONTS),
  missingCharacters: z.array(z.string().max(MAX_MESSAGE_CHARACTERS)).max(MAX_LINES),
  warnings: z.array(z.enum(LAYOUT_WARNINGS)).max(MAX_WARNINGS),
  page: pageReportSchema.exactOptional(),
});

/** Names of a font reach pages and logs. */
const fontName = z
  .string()
  .min(1)
  .max(2 * MAX_FONT_NAME)
  .refine((name) => cleanFontName(name) === name, { error: "isn't clean" });
const fontSchema = z.object({
  family: fontName,
  style: fontName,
  weights: z.array(z.int().min(1).max(1_000)).min(1).max(2),
  characters: z.int().min(1).max(MAX_CHARACTERS),
  scripts: z.array(z.enum(FONT_SCRIPTS)).max(FONT_SCRIPTS.length),
});

const factsSchema = sizeSchema.extend({
  // A bar that is taller than its canvas starts above it.
  bars: z
    .array(
      z.object({
        top: z.number().min(-MAX_BAR_EDGE).max(MAX_BAR_EDGE),
        height: z.number().min(0).max(MAX_BAR_EDGE),
      }),
    )
    .max(MAX_BARS),
  missingGlyphs: z.int().min(0).max(MAX_MISSING_GLYPHS),
  warnings: z.array(z.enum([...LAYOUT_WARNINGS, ...MEDIA_WARNINGS])).max(MAX_WARNINGS),
  layout: z.array(barReportSchema).max(MAX_BARS).exactOptional(),
  logo: z.object({ left: length, top: length, width: length, height: length }).exactOptional(),
  sourcePixels: z.enum(SOURCE_PIXELS).exactOptional(),
  quality: z.int().min(0).max(100).exactOptional(),
  font: fontSchema.exactOptional(),
  audible: z
    .string()
    .max(MAX_WINDOWS)
    .regex(/^[01]*$/u)
    .exactOptional(),
  // Timings become a response header.
  timings: boundedRecord(z.string().regex(/^\w{1,32}$/u), z.number().min(0).max(MAX_MILLISECONDS), MAX_TIMINGS),
});

/** A worker on another machine also has a queue of its own, which may refuse a task, and ends what used up its processor time. */
const STEP_FAILURE_CODES = [
  ...TASK_FAILURE_CODES,
  'deadline_exceeded',
  'renderer_unavailable',
  'overloaded',
  'shutting_down',
] as const satisfies readonly ErrorCode[];

const failureFields = {
  // Messages are truncated, not rejected, because a stack trace may be longer.
  message: z.string().transform((message) => message.slice(0, MAX_MESSAGE_CHARACTERS)),
  limit: z.object({ limit: z.number().min(0), actual: z.number().min(0) }).exactOptional(),
};
/** Without a code, the failure is a bug in the worker. */
const taskFailureSchema = z.object({ code: z.enum(TASK_FAILURE_CODES).exactOptional(), ...failureFields });
const stepFailureSchema = z.object({
  code: z.enum(STEP_FAILURE_CODES).exactOptional(),
  ...failureFields,
  isRetryable: z.boolean(),
});

const progressSchema = z.object({ fraction: z.number().min(0).max(1) });

const workerMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), codecs: codecsSchema.exactOptional() }),
  // The part of the task that is done.
  z.object({ type: z.literal('progress'), id: taskId, fraction: z.number().min(0).max(1) }),
  z.object({ type: z.literal('done'), id: taskId, result: z.unknown() }),
  z.object({ type: z.literal('failed'), id: taskId, failure: taskFailureSchema }),
]);

export const workerNameSchema = z.string().regex(/^[\w-]{1,64}$/u);

const slotCount = z.object({ image: z.int().min(0).max(MAX_SLOTS), video: z.int().min(0).max(MAX_SLOTS) });
const presenceSchema = z.object({
  worker: workerNameSchema,
  slots: slotCount,
  /** The number of slots whose process is warm. */
  ready: slotCount,
  busy: slotCount,
  isDraining: z.boolean(),
  codecs: codecsSchema.exactOptional(),
  ...versionFields,
});

/** One message from a worker process to the server. `parseResult` checks the result of a task. */
export type WorkerMessage = z.infer<typeof workerMessageSchema>;
/** The reason why a worker process has no result. */
export type TaskFailure = z.infer<typeof taskFailureSchema>;
/**
 * The reason why a worker on another machine has no result. With `isRetryable`, the asset isn't the cause, so another
 * worker may succeed.
 */
export type StepFailure = z.infer<typeof stepFailureSchema>;
/** The announcement that a worker on another machine sends every second. */
export type Presence = z.infer<typeof presenceSchema>;

export function parseWorkerMessage(value: unknown): WorkerMessage {
  return parse(workerMessageSchema, value, 'message');
}

/** Checks a result against the task it belongs to. */
export function parseResult<Type extends TaskType>(task: TaskOf<Type>, value: unknown): TaskResults[Type];
export function parseResult(task: WorkerTask, value: unknown): TaskResults[TaskType] {
  return task.type === 'probe' ? parseProbe(value, task.asset.format) : parseFacts(value, task.job.recipe);
}

export function parseProbe(value: unknown, format: AssetFormat): AssetProbe {
  if (KIND_OF_FORMAT[format] === 'image') {
    const image = parse(imageProbeSchema, value, 'probe');
    // The decoder determines which workers get the render.
    if (isHeifFormat(format) !== (image.decoder === 'heif'))
      throw new InvalidReport('probe.decoder', `isn't for ${format}`);
    return image;
  }
  const probe = parse(videoProbeSchema, value, 'probe');
  if (probe.format !== format) throw new InvalidReport('probe.format', `is ${probe.format}, asked for ${format}`);
  return probe;
}

/** Checks the facts of a render against its recipe. */
export function parseFacts(value: unknown, recipe: Recipe): RenderFacts {
  const facts = parse(factsSchema, value, 'facts');
  const { width, height, bars } = facts;
  if (!isSizeOf(recipe, width, height)) throw new InvalidReport('facts.width', `${width}x${height} isn't the canvas`);
  if ((recipe.kind === 'font') !== (facts.font !== undefined))
    throw new InvalidReport('facts.font', "doesn't fit the recipe");
  if (facts.audible?.length !== (recipe.kind === 'sound' ? windowsIn(recipe.seconds) : undefined))
    throw new InvalidReport('facts.audible', "doesn't fit the recipe");
  const { least, most } = barCounts(recipe);
  if ((recipe.kind === 'layout') !== (facts.layout?.length === bars.length)) {
    throw new InvalidReport('facts.layout', "doesn't fit the recipe");
  }
  if (bars.length < least || bars.length > most) {
    throw new InvalidReport(
      'facts.bars',
      `${bars.length} instead of ${least === most ? least : `${least} to ${most}`}`,
    );
  }
  return facts;
}

/** One bar per overlay, or per page of one. */
function barCounts(recipe: Recipe): { readonly least: number; readonly most: number } {
  const overlays = 'overlays' in recipe ? recipe.overlays : [];
  const pages = overlays.map(({ paging, words }) => (paging ? (words?.length ?? 1) : 1));
  return { least: overlays.length, most: pages.reduce((sum, count) => sum + count, 0) };
}

/** The size in an image's header may differ from that of its pixels. Then the pixels count. */
function isSizeOf(recipe: Recipe, width: number, height: number): boolean {
  if (recipe.kind === 'image') return width * height <= recipe.decode.maxPixels;
  const canvas = 'canvas' in recipe ? recipe.canvas : NOTHING_DRAWN;
  return width === canvas.width && height === canvas.height;
}

export function isStepFailureCode(code: ErrorCode): code is (typeof STEP_FAILURE_CODES)[number] {
  return STEP_FAILURE_CODES.some((known) => known === code);
}

export function parseStepFailure(value: unknown): StepFailure {
  return parse(stepFailureSchema, value, 'failure');
}

/** Parses the part of a step that is done, 0 to 1. */
export function parseProgress(value: unknown): number {
  return parse(progressSchema, value, 'progress').fraction;
}

export function parsePresence(bytes: Uint8Array): Presence {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new InvalidReport('presence', "isn't JSON");
  }
  return parse(presenceSchema, value, 'presence');
}

/** Returns the same error as if the work had been done in this process. */
export function toError({ code, message, limit }: TaskFailure | StepFailure): Error {
  if (code === undefined) return new Error(`render worker failed: ${message}`);
  const retry = code === 'out_of_memory' ? { retryAfterSeconds: OUT_OF_MEMORY_RETRY_SECONDS } : {};
  const usedUpTime = code === 'deadline_exceeded';
  return new AppError(code, message, { ...(limit && { limit }), ...retry, usedUpTime });
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = must(result.error.issues[0], 'the issue');
  throw new InvalidReport([what, ...path].join('.'), message);
}

/** Counts the entries first, because checking a hundred thousand of them would block the event loop for seconds. */
function boundedRecord<Value extends z.ZodType>(key: z.ZodString, value: Value, maxEntries: number) {
  return z
    .custom<Record<string, unknown>>(
      (record) => typeof record === 'object' && record !== null && Object.keys(record).length <= maxEntries,
      { error: `isn't an object of at most ${maxEntries} entries` },
    )
    .pipe(z.record(key, value));
}
