// A stored render as the API shows it.

import type { ResponseOf } from '../api/response-schemas.ts';
import { must } from '../../shared/must.ts';
import type { RenderRecord, RenderStatus, StoredOutput } from '../store/renders/render.ts';
import { extensionOf, parseResult, type RenderResult } from './render-result.ts';

export const RESULTS_PATH = '/v1/results';
/** No result has this extension. */
export const CAPTIONS_EXTENSION = '.vtt';
export const RENDERS_PATH = '/v1/renders';
export const BATCHES_PATH = '/v1/batches';

/** Returns the path of a link, on any server with this database. */
export function resultPath({ token }: Pick<StoredOutput, 'token'>, result: RenderResult): string {
  return `${RESULTS_PATH}/${token}.${extensionOf(result)}`;
}

/** Returns the path of the captions of a result. */
function captionsPath({ token }: Pick<StoredOutput, 'token'>): string {
  return `${RESULTS_PATH}/${token}${CAPTIONS_EXTENSION}`;
}

/** `baseUrl` is the URL at which clients reach this server. */
export function renderToJson(render: RenderRecord, baseUrl: string): ResponseOf<'Render'> {
  const { id, status, progress, mode, batchId, createdAt, startedAt, finishedAt, output } = render;
  const result = render.result === undefined ? undefined : parseResult(render.result);
  const isSent = render.target !== undefined;
  return {
    id,
    status,
    progress,
    source_type: render.sourceType ?? null,
    credits: render.credits ?? null,
    test: mode === 'test',
    warnings: result?.warnings ?? [],
    missing_glyphs: result?.missingGlyphs ?? 0,
    uncertain_words: Number(result?.headers['x-uncertain-words'] ?? 0),
    source_pixels: result?.headers['x-source-pixels'] ?? null,
    language: result?.captions?.language ?? null,
    captions_url: output && result?.captions?.webVtt ? `${baseUrl}${captionsPath(output)}` : null,
    batch_id: batchId ?? null,
    created_at: createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt?.toISOString() ?? null,
    expires_at: (isSent ? undefined : output?.expiresAt.toISOString()) ?? null,
    output:
      // A file that is sent is an output only when its receiver has it.
      output && result && status === 'succeeded'
        ? {
            url: isSent ? null : `${baseUrl}${resultPath(output, result)}`,
            put_status: result.put?.status ?? null,
            content_type: must(result.headers['content-type'], 'the type of the result'),
            bytes: output.bytes,
            width: result.width,
            height: result.height,
            duration: result.duration,
          }
        : null,
    error: render.error === undefined ? null : (JSON.parse(render.error) as ResponseOf<'Problem'>),
  };
}

export const MAX_BATCH = 100;

/** Returns a batch as the API shows it. `renders` are all of its renders. */
export function batchToJson(batchId: string, renders: readonly RenderRecord[], baseUrl: string): ResponseOf<'Batch'> {
  const count = (status: RenderStatus): number => renders.filter((render) => render.status === status).length;
  return {
    id: batchId,
    status: renders.every(({ finishedAt }) => finishedAt !== undefined) ? 'completed' : 'running',
    queued: count('queued'),
    rendering: count('rendering'),
    succeeded: count('succeeded'),
    failed: count('failed'),
    canceled: count('canceled'),
    credits: renders.reduce((sum, { credits = 0 }) => sum + credits, 0),
    renders: renders.map((render) => renderToJson(render, baseUrl)),
  };
}
