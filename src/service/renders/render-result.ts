// The stored facts of a finished file.

import { z } from 'zod';
import { must } from '../../shared/must.ts';
import type { FinishedRender } from './perform-render.ts';

const resultSchema = z.object({
  /** The headers as they would have been sent with the file. */
  headers: z.record(z.string(), z.string()),
  width: z.number(),
  height: z.number(),
  /** The duration in seconds. Null for images. */
  duration: z.number().nullable(),
  warnings: z.array(z.string()),
  missingGlyphs: z.number(),
  /** How the file is being sent, for a render with `put_url`. */
  put: z
    .object({
      /** The tries that have failed. */
      failures: z.number(),
      /** The status of the latest response. */
      status: z.number().nullable(),
      /** True if a request waits for the delivery, so that its tries are few. */
      isAwaited: z.boolean(),
      /** The time that the render took, for the account's history. */
      renderMs: z.number(),
      /** When the file was ready to be sent. */
      readyAt: z.iso.datetime(),
    })
    .optional(),
  /** Captions from speech: their language, and their pages as WebVTT. */
  captions: z.object({ language: z.string().nullable(), webVtt: z.string().nullable() }).optional(),
});

export type RenderResult = z.infer<typeof resultSchema>;

/** Headers about this one response, not about the file. */
const NOT_STORED: ReadonlySet<string> = new Set(['server-timing', 'x-render-duration-ms']);

export function parseResult(json: string): RenderResult {
  return resultSchema.parse(JSON.parse(json));
}

/** Returns the extension of the file that a client would save. */
export function extensionOf({ headers }: Pick<RenderResult, 'headers'>): string {
  const name = /\.(?<extension>\w+)"$/u.exec(headers['content-disposition'] ?? '');
  return must(name?.groups?.['extension'], 'the extension of a result');
}

/** The file is sent to a URL of the caller. */
export interface PutOfResult {
  /** True if a request waits for that. */
  readonly isAwaited: boolean;
}

export function resultOf(
  { recipe, facts, headers, durationMs, captions }: FinishedRender,
  put: PutOfResult | undefined,
): RenderResult {
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([header]) => !NOT_STORED.has(header))),
    width: facts.width,
    height: facts.height,
    duration: recipe.kind === 'video' || recipe.kind === 'clip' ? recipe.durationSeconds : null,
    warnings: [...facts.warnings],
    missingGlyphs: facts.missingGlyphs,
    ...(put && { put: newDelivery(durationMs, put) }),
    ...(captions && { captions }),
  };
}

function newDelivery(renderMs: number, { isAwaited }: PutOfResult): RenderResult['put'] {
  return { failures: 0, status: null, isAwaited, renderMs, readyAt: new Date().toISOString() };
}
