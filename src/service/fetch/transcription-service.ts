// Speech recognition by the operator's service: a POST with the sound as a file, as OpenAI's `audio/transcriptions` takes it.
// The operator chooses the URL, so it may be private. The response is untrusted: it has one deadline, limits of sizes and
// a schema. Redirects aren't followed, because the request has a secret key. A service that keeps failing is left alone for a while.

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { type Heard, UnusableTranscript } from '../../engine/caption/words/spoken.ts';
import { AppError } from '../../shared/errors.ts';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';
import { Semaphore } from '../../shared/semaphore.ts';
import { limitBeforeResponse } from './checked-request.ts';
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
  readonly breaker: Breaker;
  /** Called when the service failed, before the error is thrown. */
  readonly onFailed: (error: AppError) => void;
}

/** Refuses requests while the service keeps failing; see `limits/transcription-breaker.ts`. */
interface Breaker {
  assertClosed(): void;
  enter(): Promise<void>;
  countFailure(): Promise<void>;
  close(): Promise<void>;
}

/** The sound to transcribe. */
export interface Sound {
  /** A WAV file. */
  readonly file: string;
  /** The language as a BCP 47 tag, where the caller names it. */
  readonly language: string | undefined;
  /** Called right before the sound is sent. From here on, the operator pays. */
  readonly onSend: () => void;
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** All words and segments together. Some services return spaces and punctuation as words. */
const MAX_ENTRIES = 10_000;
const MAX_WORD_CHARACTERS = 1_000;
const MAX_SEGMENT_CHARACTERS = 20_000;

/**
 * These statuses are about the file that was sent, so they don't count as failures of the service. Otherwise the videos of one
 * account could make it unavailable to all.
 */
const FILE_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);
/** A busy service can be tried again, after the seconds that it names or the default. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const BUSY_SECONDS = 5;
const MAX_BUSY_SECONDS = 60;

const number = z.number().nullish().catch(undefined);
const wordText = z.string().max(MAX_WORD_CHARACTERS).nullish();
const wordSchema = z
  .object({
    word: wordText,
    text: wordText,
    punctuated_word: wordText,
    start: number,
    end: number,
  })
  .transform(({ word, text, punctuated_word: punctuated, start, end }) => ({
    text: punctuated ?? word ?? text ?? '',
    start: start ?? undefined,
    end: end ?? undefined,
  }));
const wordsSchema = z
  .array(wordSchema)
  .nullish()
  .transform((words) => words ?? []);
const segmentSchema = z
  .object({
    text: z.string().max(MAX_SEGMENT_CHARACTERS).nullish(),
    start: number,
    end: number,
    words: wordsSchema,
    no_speech_prob: number,
    avg_logprob: number,
    compression_ratio: number,
  })
  .transform(({ text, start, end, words, ...about }) => ({
    text: text ?? '',
    start: start ?? undefined,
    end: end ?? undefined,
    words,
    noSpeechProbability: about.no_speech_prob ?? undefined,
    logProbability: about.avg_logprob ?? undefined,
    compressionRatio: about.compression_ratio ?? undefined,
  }));

/** Of the response, only these parts are used. */
const responseSchema = z
  .object({
    language: z.string().max(100).nullish().catch(undefined),
    text: z.string().nullish(),
    words: wordsSchema,
    segments: z.array(segmentSchema).nullish(),
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

export class TranscriptionService {
  readonly #options: TranscriptionOptions;
  readonly #turns: Semaphore;

  constructor(options: TranscriptionOptions) {
    this.#options = options;
    this.#turns = new Semaphore({ permits: options.concurrency });
  }

  /** Throws `transcription_failed` while the service keeps failing. */
  assertAvailable(): void {
    this.#options.breaker.assertClosed();
  }

  /**
   * Returns what `read` makes of the response. If it throws `UnusableTranscript`, the response is of no use for this video, but
   * the service works. Throws `transcription_failed`, or the reason of the signal.
   */
  async transcribe<Result>(
    sound: Sound,
    read: (heard: Heard) => Result | Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return await this.#turns.run(async () => await this.#guarded(sound, read, signal), signal);
  }

  async #guarded<Result>(
    sound: Sound,
    read: (heard: Heard) => Result | Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { breaker, onFailed } = this.#options;
    await breaker.enter();
    try {
      const result = await read(await this.#withDeadline(sound, signal));
      await breaker.close();
      return result;
    } catch (error) {
      const isUnusable = error instanceof UnusableTranscript;
      const failure = isUnusable ? failed(error.message) : error;
      if (isTranscriptionFailure(failure)) {
        onFailed(failure);
        const works = isUnusable || FILE_STATUSES.has(failure.upstreamStatus ?? 0);
        await (works ? breaker.close() : breaker.countFailure());
      }
      throw failure;
    }
  }

  async #withDeadline(sound: Sound, signal: AbortSignal): Promise<Heard> {
    const { seconds } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(failed(`didn't respond within ${seconds} seconds`)), seconds * 1_000);
    try {
      return await this.#request(sound, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      signal.throwIfAborted();
      late.signal.throwIfAborted();
      if (error instanceof AppError || error instanceof UnusableTranscript) throw error;
      throw failed(`can't be reached: ${failureReason(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #request(sound: Sound, signal: AbortSignal): Promise<Heard> {
    const response = await this.#post(sound, signal);
    try {
      const { statusCode: status = 0, headers } = response;
      if (status < 200 || status >= 300) throw refused(status, headers['retry-after']);
      if (!['', 'identity'].includes(headers['content-encoding'] ?? '')) throw failed('responded with compressed data');
      return parseResponse(await readAll(response));
    } finally {
      response.destroy();
    }
  }

  async #post({ file, language, onSend }: Sound, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, key, model, userAgent } = this.#options;
    const boundary = `storybar-${randomUUID()}`;
    const { head, tail } = formAround(boundary, { model, ...(language !== undefined && { language }) });
    const { size } = await stat(file).catch(rethrowAsStorageError);
    onSend();
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
      limitBeforeResponse(outgoing, reject);
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
    if (bytes > MAX_RESPONSE_BYTES)
      throw new UnusableTranscript(`responded with more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseResponse(text: string): Heard {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The cause has a part of the transcript, which doesn't belong in logs.
    throw failed("responded with something that isn't JSON");
  }
  if (entryCount(value) > MAX_ENTRIES) {
    throw new UnusableTranscript(`returned more than ${MAX_ENTRIES} words and segments`);
  }
  const parsed = responseSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  if (parsed.error.issues.every(({ code }) => code === 'too_big')) {
    throw new UnusableTranscript('returned a word or segment that is too long');
  }
  throw failed("responded with JSON that isn't a transcript", { cause: parsed.error });
}

/** Counted first, because checking a million entries would block the event loop. */
function entryCount(value: unknown): number {
  const { words, segments } = (value ?? {}) as { readonly words?: unknown; readonly segments?: unknown };
  const count = Array.isArray(words) ? words.length : 0;
  if (!Array.isArray(segments)) return count;
  return segments.reduce<number>(
    (sum, segment) => sum + 1 + entryCount({ words: (segment as Heard | null)?.words }),
    count,
  );
}

export function isTranscriptionFailure(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'transcription_failed';
}

function refused(status: number, retryAfter: string | undefined): AppError {
  const named = Number(retryAfter);
  const seconds = named >= 1 ? Math.min(MAX_BUSY_SECONDS, Math.ceil(named)) : BUSY_SECONDS;
  return failed(`responded with status ${status}`, {
    upstreamStatus: status,
    ...(BUSY_STATUSES.has(status) && { retryAfterSeconds: seconds }),
  });
}

interface FailureOptions {
  readonly upstreamStatus?: number;
  /** Set if the same request may succeed later. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The URL isn't named, because it may be private. */
function failed(what: string, options: FailureOptions = {}): AppError {
  return new AppError('transcription_failed', `The transcription service ${what}. Nothing was charged.`, options);
}
