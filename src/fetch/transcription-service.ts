// Speech recognition by the operator's service: a POST with the sound as a file, as OpenAI's `audio/transcriptions` takes it.
// The operator chooses the URL, so it may be private. The response is untrusted: it has one deadline, a maximum size and
// a schema. Redirects aren't followed, because the request has a secret key.

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Heard } from '../caption/words/spoken.ts';
import { AppError } from '../errors.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import { Semaphore } from '../primitives/semaphore.ts';
import { failureReason } from './fetch-failure.ts';

export interface TranscriptionOptions {
  readonly url: URL;
  /** Empty if the service needs none. */
  readonly key: string;
  readonly model: string;
  /** The time for one transcription, without the wait for its turn. */
  readonly seconds: number;
  /** How many files are transcribed at once. */
  readonly concurrency: number;
  readonly userAgent: string;
  /** A shorter pause for tests. */
  readonly pauseMs?: number;
}

/** The sound to transcribe. */
export interface Sound {
  /** A WAV file. */
  readonly file: string;
  /** The language as a BCP 47 tag, where the caller names it. */
  readonly language: string | undefined;
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 20_000;
const MAX_TRIES = 3;
const PAUSE_MS = 1_000;

const time = z.number().nullish().catch(undefined);
const wordSchema = z
  .object({
    word: z.string().nullish(),
    text: z.string().nullish(),
    punctuated_word: z.string().nullish(),
    start: time,
    end: time,
  })
  .transform(({ word, text, punctuated_word: punctuated, start, end }) => ({
    text: punctuated ?? word ?? text ?? '',
    start: start ?? undefined,
    end: end ?? undefined,
  }));
const wordsSchema = z
  .array(wordSchema)
  .max(MAX_ENTRIES)
  .nullish()
  .transform((words) => words ?? []);
const segmentSchema = z
  .object({ text: z.string().nullish(), start: time, end: time, words: wordsSchema })
  .transform(({ text, start, end, words }) => ({
    text: text ?? '',
    start: start ?? undefined,
    end: end ?? undefined,
    words,
  }));

/** Of the response, only these parts are used. */
const responseSchema = z
  .object({
    language: z.string().max(100).nullish().catch(undefined),
    text: z.string().nullish(),
    words: wordsSchema,
    segments: z.array(segmentSchema).max(MAX_ENTRIES).nullish(),
  })
  .refine(({ text, words, segments }) => typeof text === 'string' || words.length > 0 || Array.isArray(segments), {
    error: 'has neither text nor words nor segments',
  })
  .transform(
    ({ language, text, words, segments }): Heard => ({
      language: language ?? undefined,
      text: text ?? '',
      words,
      segments: segments ?? [],
    }),
  );

/** A failure that another try may not have. */
class TemporaryFailure extends Error {
  readonly failure: AppError;

  constructor(failure: AppError) {
    super(failure.message, { cause: failure });
    this.failure = failure;
  }
}

export class TranscriptionService {
  readonly #options: TranscriptionOptions;
  readonly #turns: Semaphore;

  constructor(options: TranscriptionOptions) {
    this.#options = options;
    this.#turns = new Semaphore({ permits: options.concurrency });
  }

  /** Throws `transcription_failed`, or the reason of the signal. */
  async transcribe(sound: Sound, signal: AbortSignal): Promise<Heard> {
    return await this.#turns.run(async () => await this.#withDeadline(sound, signal), signal);
  }

  async #withDeadline(sound: Sound, signal: AbortSignal): Promise<Heard> {
    const { seconds } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(failed(`didn't respond within ${seconds} seconds`)), seconds * 1_000);
    try {
      return await this.#tryRepeatedly(sound, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      signal.throwIfAborted();
      late.signal.throwIfAborted();
      if (error instanceof TemporaryFailure) throw error.failure;
      throw error instanceof AppError ? error : failed(`can't be reached: ${failureReason(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** A service that is busy or restarting gets more tries. */
  async #tryRepeatedly(sound: Sound, signal: AbortSignal): Promise<Heard> {
    const { pauseMs = PAUSE_MS } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#try(sound, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError || attempt === MAX_TRIES) throw error;
        await wait(pauseMs * attempt, undefined, { signal });
      }
    }
  }

  async #try(sound: Sound, signal: AbortSignal): Promise<Heard> {
    const response = await this.#post(sound, signal);
    try {
      const { statusCode: status = 0, headers } = response;
      if (status < 200 || status >= 300) throw statusFailure(status);
      if (!['', 'identity'].includes(headers['content-encoding'] ?? '')) throw failed('responded with compressed data');
      return parseResponse(await readAll(response));
    } finally {
      response.destroy();
    }
  }

  async #post({ file, language }: Sound, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, key, model, userAgent } = this.#options;
    const boundary = `storybar-${randomUUID()}`;
    const { head, tail } = formAround(boundary, { model, ...(language !== undefined && { language }) });
    const { size } = await stat(file).catch(rethrowAsStorageError);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = send(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': head.length + size + tail.length,
        'user-agent': userAgent,
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(key !== '' && { authorization: `Bearer ${key}` }),
      },
    });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
      outgoing.once('close', () => reject(new Error('the connection was closed')));
    });
    // A service may respond before it has read everything, so only the response decides.
    pipeline(Readable.from(around(head, file, tail)), outgoing).catch(() => undefined);
    return await response;
  }
}

/** The parts of the form before and after the content of the file. */
function formAround(
  boundary: string,
  { model, language }: { readonly model: string; readonly language?: string },
): { readonly head: Buffer; readonly tail: Buffer } {
  const fields: readonly (readonly [string, string])[] = [
    ...(model === '' ? [] : [['model', model] as const]),
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
    // Services know languages by the first part of the tag.
    ...(language === undefined ? [] : [['language', language.split('-', 1)[0]?.toLowerCase() ?? ''] as const]),
  ];
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="sound.wav"\r\ncontent-type: audio/wav\r\n\r\n`;
  return { head: Buffer.from(parts.join('') + file), tail: Buffer.from(`\r\n--${boundary}--\r\n`) };
}

async function* around(head: Buffer, file: string, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  yield* createReadStream(file) as AsyncIterable<Buffer>;
  yield tail;
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw failed(`responded with more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseResponse(text: string): Heard {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw failed("responded with something that isn't JSON", { cause: error });
  }
  const parsed = responseSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw failed("responded with JSON that isn't a transcript", { cause: parsed.error });
}

function statusFailure(status: number): Error {
  const failure = failed(`responded with status ${status}`, { upstreamStatus: status });
  return status === 429 || status >= 500 ? new TemporaryFailure(failure) : failure;
}

/** The URL isn't named, because it may be private. */
function failed(what: string, options: { readonly upstreamStatus?: number; readonly cause?: unknown } = {}): AppError {
  return new AppError('transcription_failed', `The transcription service ${what}. Nothing was charged.`, options);
}
