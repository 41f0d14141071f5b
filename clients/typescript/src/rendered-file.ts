// The result of a render: its facts from the response headers, and its bytes as a stream, a Blob or a file.

import { saveFile } from '#platform';
import { chunksOf, streamOf } from './asset.ts';
import { StorybarConnectionError, StorybarError } from './errors.ts';
import type { OnProgress } from './platform.ts';
import type { SucceededRender } from './renders.ts';

/** Returns the rest of a file whose download broke, or throws `failure` if it isn't available. */
export type ContinueDownload = (loaded: number, failure: StorybarError) => Promise<ReadableStream<Uint8Array>>;

interface Source {
  readonly response: Response;
  readonly onProgress: OnProgress | undefined;
  readonly idempotencyKey?: string;
  /** The render that the file is the result of. Without it, the response has the facts. */
  readonly render?: SucceededRender;
  readonly continueDownload?: ContinueDownload;
}

export class RenderedFile {
  /** The id under which the operator of the server finds the request that returned this file. */
  readonly requestId: string | undefined;
  readonly renderId: string | undefined;
  readonly contentType: string;
  readonly filename: string;
  /** The number of bytes, if the server sent it. */
  readonly size: number | undefined;
  readonly sourceType: 'image' | 'video' | undefined;
  /** Codes such as `missing_glyphs` or `audio_dropped`: the render succeeded, but may not look as intended. */
  readonly warnings: readonly string[];
  readonly missingGlyphs: number;
  readonly creditsCharged: number | undefined;
  readonly creditsRemaining: number | undefined;
  /** True if the server repeated an earlier render with the same idempotency key, free of charge. */
  readonly isReplay: boolean;
  /** Send this key again to get the same result without paying twice, for example after a broken download. */
  readonly idempotencyKey: string | undefined;
  readonly headers: Headers;
  readonly #response: Response;
  readonly #onProgress: OnProgress | undefined;
  readonly #continue: ContinueDownload | undefined;

  constructor({ response, render, idempotencyKey, onProgress, continueDownload }: Source) {
    const { headers } = response;
    const number = (name: string): number | undefined => {
      const value = headers.get(name);
      return value === null ? undefined : Number(value);
    };
    const source = render?.source_type ?? headers.get('x-source-type');
    this.requestId = headers.get('x-request-id') ?? undefined;
    this.renderId = render?.id ?? headers.get('x-render-id') ?? undefined;
    this.contentType = headers.get('content-type') ?? 'application/octet-stream';
    this.filename = /filename="([^"]+)"/u.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'render';
    this.size = number('content-length');
    this.sourceType = source === 'image' || source === 'video' ? source : undefined;
    this.warnings =
      render?.warnings ?? (headers.get('x-warnings') ?? '').split(',').flatMap((code) => code.trim() || []);
    this.missingGlyphs = render?.missing_glyphs ?? number('x-missing-glyphs') ?? 0;
    this.creditsCharged = render?.credits ?? number('x-credits-charged');
    this.creditsRemaining = number('x-credits-remaining');
    this.isReplay = headers.get('idempotency-replayed') === 'true';
    this.idempotencyKey = idempotencyKey;
    this.headers = headers;
    this.#response = response;
    this.#onProgress = onProgress;
    this.#continue = continueDownload;
  }

  /** Returns the bytes as they arrive. They can be read once, by this or by one of the methods below. */
  get stream(): ReadableStream<Uint8Array> {
    const { body, bodyUsed } = this.#response;
    if (body === null || bodyUsed || body.locked)
      throw new StorybarError('The bytes of this render were already read.');
    return streamOf(this.#observed(body));
  }

  async blob(): Promise<Blob> {
    const blob = await new Response(this.stream).blob();
    return new Blob([blob], { type: this.contentType });
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  /** Writes the bytes to a file as they arrive. Node.js only. */
  async save(path: string): Promise<void> {
    await saveFile(path, this.stream);
  }

  async *#observed(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    let loaded = 0;
    for (let rest: ReadableStream<Uint8Array> | undefined = body; rest !== undefined; ) {
      try {
        for await (const chunk of chunksOf(rest)) {
          loaded += chunk.byteLength;
          this.#onProgress?.({ loaded, total: this.size });
          yield chunk;
        }
        rest = undefined;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        const message = `The download broke off after ${loaded} bytes.`;
        const failure = new StorybarConnectionError(message, { cause: error });
        if (this.#continue === undefined) throw failure;
        rest = await this.#continue(loaded, failure);
      }
    }
  }
}
