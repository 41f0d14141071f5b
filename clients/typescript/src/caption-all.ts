// Any number of requests, in batches, with a few downloads at a time.

import type { BatchRequest, Storybar } from './client.ts';
import { StorybarError, StorybarRenderError } from './errors.ts';
import type { RenderedFile } from './rendered-file.ts';
import type { SucceededRender } from './renders.ts';
import type { RequestOptions } from './transport.ts';

/** A request whose result is kept, so that it can be downloaded. */
export type CaptionAllRequest = Omit<BatchRequest, 'put_url' | 'put_headers'>;

export interface CaptionAllOptions extends Omit<RequestOptions, 'timeoutMs'> {
  /** The most results that are waited for and downloaded at a time. Default: 4. */
  readonly connections?: number | undefined;
}

/** The result of one request. A render that failed has an `error` in place of a `file`. */
export type BatchResult =
  | {
      readonly index: number;
      readonly render: SucceededRender;
      readonly file: RenderedFile;
      readonly error?: undefined;
    }
  | {
      readonly index: number;
      readonly render?: undefined;
      readonly file?: undefined;
      readonly error: StorybarRenderError;
    };

const LARGEST_BATCH = 100;

export async function captionAll(
  client: Storybar,
  requests: readonly CaptionAllRequest[],
  use: (result: BatchResult) => Promise<void> | void,
  { connections = 4, signal: outer, ...options }: CaptionAllOptions,
): Promise<void> {
  if (!Number.isInteger(connections) || connections < 1) {
    throw new StorybarError(`\`connections\` must be a whole number from 1; got ${connections}.`);
  }
  if (requests.some(({ put_url }: BatchRequest) => put_url !== undefined)) {
    throw new StorybarError('`captionAll` downloads the results, so use `startBatch` for requests with `put_url`.');
  }
  // The first error ends the waiting of all.
  const stop = new AbortController();
  const signal = outer ? AbortSignal.any([outer, stop.signal]) : stop.signal;
  const each = { ...options, signal };
  const accepted = acceptedRenders(client, requests, each);
  const work = async (): Promise<void> => {
    for await (const { index, id } of accepted) await use(await resultOf(client, index, id, each));
  };
  try {
    await Promise.all(Array.from({ length: connections }, work));
  } finally {
    stop.abort();
  }
}

/** Starts a batch when all renders of the one before it are taken. */
async function* acceptedRenders(
  client: Storybar,
  requests: readonly CaptionAllRequest[],
  options: RequestOptions,
): AsyncGenerator<{ index: number; id: string }, void, undefined> {
  for (let first = 0; first < requests.length; first += LARGEST_BATCH) {
    const { renders } = await client.startBatch(requests.slice(first, first + LARGEST_BATCH), options);
    for (const [offset, { id }] of renders.entries()) yield { index: first + offset, id };
  }
}

async function resultOf(client: Storybar, index: number, id: string, options: RequestOptions): Promise<BatchResult> {
  try {
    const render = await client.waitFor(id, { ...options, timeoutMs: Infinity });
    return { index, render, file: await client.download(render, options) };
  } catch (error) {
    if (error instanceof StorybarRenderError) return { index, error };
    throw error;
  }
}
