// The steps of `storybar send`: upload, wait, download.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
  type AsyncCaptionRequest,
  type OnProgress,
  type Render,
  Storybar,
  StorybarApiError,
  StorybarConnectionError,
  StorybarRenderError,
  type SucceededRender,
} from '#client';
import { WRITTEN_FORMATS } from '../../engine/caption/output-format.ts';
import { AppError } from '../../shared/errors.ts';
import { formatOfName } from '../caption-options.ts';
import { ERRORS } from '../../shared/error-table.ts';
import { CommandFailure, UsageError } from '../exit-codes.ts';
import type { Print } from '../print.ts';
import { outputNextTo } from '../local-files.ts';
import { failureOf, isTransient, printable, withHint } from './failures.ts';
import type { Reporter } from './reporter.ts';
import { saveResult } from './save-result.ts';

export interface SendingOptions {
  readonly url: string;
  readonly key: string;
  readonly reporter: Reporter;
  readonly print: Print;
  readonly signal: AbortSignal;
  readonly output: string | undefined;
  /** If true, the command ends after the upload. */
  readonly isDetached: boolean;
}

type Fields = readonly (readonly [string, string])[];

/**
 * Enough for a restart of the server, about five minutes. Before the render is accepted, the server may not even exist,
 * so only the few retries of the client apply.
 */
const RETRIES_ONCE_ACCEPTED = 40;
const RESPONSE_TIMEOUT_MS = 60_000;

export class Sending {
  readonly #options: SendingOptions;
  readonly #client: Storybar;

  constructor(options: SendingOptions) {
    const { url, key, reporter } = options;
    this.#options = options;
    this.#client = new Storybar({
      baseUrl: url,
      apiKey: key,
      timeoutMs: RESPONSE_TIMEOUT_MS,
      onRetry: ({ message }, delayMs) =>
        reporter.note(`${printable(message)} Trying again in ${Math.round(delayMs / 100) / 10} s.`),
    });
  }

  async send(asset: string | undefined, fields: Fields, idempotencyKey: string): Promise<void> {
    const { reporter, print, isDetached } = this.#options;
    const render = await this.#upload(asset, fields, idempotencyKey).catch((error: unknown) => {
      const failure = this.#failureOf(error);
      const hint = `Repeat the command with --idempotency-key ${idempotencyKey} to make sure that it is charged once.`;
      throw isTransient(failure) ? withHint(failure, hint) : failure;
    });
    reporter.note(`Accepted as ${render.id}`);
    if (isDetached) {
      reporter.clear();
      print(render, `${render.id}\n`, 2);
    } else await this.finish(render.id, asset);
  }

  /** Waits for an accepted render and downloads its result. */
  async finish(id: string, asset: string | undefined): Promise<void> {
    const { reporter, signal } = this.#options;
    const onProgress = ({ status, progress }: Render): void => {
      if (status === 'queued') reporter.progress('Waiting in the queue', progress);
      if (status === 'rendering') reporter.progress('Rendering', progress);
    };
    try {
      const options = { maxRetries: RETRIES_ONCE_ACCEPTED, timeoutMs: Infinity, signal, onProgress };
      await this.#download(await this.#client.waitFor(id, options), asset);
    } catch (error) {
      const hint = `Continue with: storybar send --resume ${id}`;
      throw hasEnded(error) ? this.#failureOf(error) : withHint(this.#failureOf(error), hint);
    } finally {
      reporter.clear();
    }
  }

  async cancel(id: string): Promise<void> {
    const { print, signal } = this.#options;
    try {
      const render = await this.#client.getRender(id, { signal });
      if (render.status !== 'queued' && render.status !== 'rendering') {
        print(render, `${id} has already ended with the status ${render.status}. Nothing was changed.\n`, 2);
        return;
      }
      const after = await this.#client.cancelRender(id, { signal });
      if (after === undefined)
        print({ id, status: 'deleted' }, `${id} had just ended, and was deleted with its result.\n`, 2);
      else print(after, `${id} has the status ${after.status}.\n`, 2);
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  async #upload(asset: string | undefined, texts: Fields, idempotencyKey: string): Promise<Render> {
    const { reporter, signal } = this.#options;
    // The values of options are text, and so are the fields of the form that the client sends.
    const fields = Object.fromEntries(texts) as AsyncCaptionRequest;
    const options = { idempotencyKey, signal, timeoutMs: Infinity };
    if (asset === undefined) return await this.#client.startRender(fields, options);
    if (isUrl(asset)) return await this.#client.startRender({ ...fields, asset_url: asset }, options);
    await assertFile(asset);
    const stage = `Uploading ${path.basename(asset)}`;
    const onUploadProgress: OnProgress = ({ loaded, total = loaded }) => reporter.progress(stage, loaded / total);
    return await this.#client.startRender({ ...fields, asset }, { ...options, onUploadProgress });
  }

  async #download(render: SucceededRender, asset: string | undefined): Promise<void> {
    const { reporter, print, signal } = this.#options;
    const { output, credits, warnings } = render;
    const price = credits === 1 ? '1 credit' : `${credits ?? 0} credits`;
    const facts = [`${output.width}x${output.height}`, `${output.bytes} bytes`, price, ...warnings];
    if (output.url === null) {
      reporter.clear();
      reporter.note(`delivered: ${facts.join(', ')}`);
      print(render, '', 2);
      return;
    }
    const file = this.#options.output ?? nameOf(render, asset, output.url);
    assertName(file, output.url);
    let hasBegun = false;
    const onDownloadProgress: OnProgress = ({ loaded }) => {
      hasBegun = true;
      reporter.progress('Downloading', loaded / output.bytes);
    };
    const options = { maxRetries: RETRIES_ONCE_ACCEPTED, signal, onDownloadProgress };
    const download = async () => (await this.#client.download(render, options)).stream;
    await saveResult(file, download, signal).catch((error: unknown) => {
      if (!hasBegun || !(error instanceof StorybarConnectionError)) throw error;
      throw new CommandFailure(error.message, { code: 'download_broken', exit: ERRORS.overloaded.exit });
    });
    reporter.clear();
    if (file === '-') return;
    reporter.note(`${file}: ${facts.join(', ')}`);
    print({ ...render, file }, '', 2);
  }

  #failureOf(error: unknown): unknown {
    return failureOf(error, this.#options.url);
  }
}

/** Returns true after errors that leave nothing to wait for. */
function hasEnded(error: unknown): boolean {
  if (error instanceof StorybarRenderError) return true;
  return error instanceof StorybarApiError && error.code === 'render_not_found';
}

function isUrl(asset: string): boolean {
  return /^https?:\/\//iu.test(asset);
}

async function assertFile(asset: string): Promise<void> {
  const facts = await stat(asset).catch((error: unknown) => {
    throw new AppError('not_found', `File ${asset} not found.`, { cause: error });
  });
  if (!facts.isFile()) throw new UsageError(`${asset} isn't a file`);
}

/** A render that was sent before can have another format than the name that its result gets now. */
function assertName(file: string, url: string): void {
  const promised = formatOfName(file);
  const extension = extensionOf(url);
  if (promised === undefined || WRITTEN_FORMATS.get(extension) === promised) return;
  throw new UsageError(`the result is a .${extension} file; give -o a name that ends so`);
}

function extensionOf(url: string): string {
  return /\.(?<extension>\w+)$/u.exec(new URL(url).pathname)?.groups?.['extension'] ?? 'bin';
}

/** The extension comes from the link, because only the server knows the format. */
function nameOf({ id }: Render, asset: string | undefined, url: string): string {
  const extension = extensionOf(url);
  if (asset === undefined) return `${id}.${extension}`;
  return outputNextTo(isUrl(asset) ? path.posix.basename(new URL(asset).pathname) || 'asset' : asset, extension);
}
