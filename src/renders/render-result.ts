// The stored facts of a finished file, and its transfer into storage.

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { must } from '../primitives/must.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { RenderSuccess } from '../store/renders/render.ts';
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
});

export type RenderResult = z.infer<typeof resultSchema>;

/** The number of random bytes of a link's secret, which can't be guessed. */
const TOKEN_BYTES = 24;
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

export interface ResultToStore {
  readonly renderId: string;
  readonly finished: FinishedRender;
  readonly credits: number;
}

/** The name is new for every attempt, so that two attempts never write the same object. */
export async function putResult(
  storage: ObjectStorage,
  { renderId, finished, credits }: ResultToStore,
  resultHours: number,
  signal: AbortSignal,
): Promise<RenderSuccess> {
  const { file, bytes, recipe, asset, facts, headers, durationMs } = finished;
  const name = `outputs/${renderId}.${randomBytes(8).toString('hex')}`;
  await storage.put(name, file, signal);
  const result: RenderResult = {
    headers: Object.fromEntries(Object.entries(headers).filter(([header]) => !NOT_STORED.has(header))),
    width: facts.width,
    height: facts.height,
    duration: recipe.kind === 'video' ? recipe.durationSeconds : null,
    warnings: [...facts.warnings],
    missingGlyphs: facts.missingGlyphs,
  };
  return {
    output: {
      name,
      bytes,
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      expiresAt: new Date(Date.now() + resultHours * 3_600_000),
    },
    result: JSON.stringify(result),
    sourceType: asset?.kind ?? 'image',
    credits,
    durationMs,
  };
}
