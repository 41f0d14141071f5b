// The steps of `storybar send`: upload, wait, download.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../errors.ts';
import { CommandFailure, EXIT_CODES, UsageError } from '../exit-codes.ts';
import type { Print } from '../print.ts';
import { outputNextTo } from '../local-files.ts';
import type { Reporter } from './reporter.ts';
import { saveResult } from './save-result.ts';
import { failureOf, type SentRender, type Service, type ServiceRequest } from './service.ts';
import { encodeForm, type UploadFile } from './upload-form.ts';

export interface SendingOptions {
  readonly service: Service;
  readonly reporter: Reporter;
  readonly print: Print;
  readonly signal: AbortSignal;
  readonly output: string | undefined;
  /** Ends after the upload. */
  readonly isDetached: boolean;
}

type Fields = readonly (readonly [string, string])[];

/** Before the render is accepted, the user waits for a server that may not even exist. */
const UPLOAD_RETRIES = 3;
/** Enough for a restart of the server, about five minutes. */
const WAIT_RETRIES = 40;
/** Servers write the progress of a render every three seconds. */
const POLL_SECONDS = 3;
const POLL_TIMEOUT_MS = 60_000;
const SHORTEST_POLL_MS = 1_000;

export class Sending {
  readonly #options: SendingOptions;

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  async send(asset: string | undefined, fields: Fields, idempotencyKey: string): Promise<void> {
    const { reporter, print, isDetached } = this.#options;
    const render = await this.#upload(asset, fields, idempotencyKey).catch((error: unknown) => {
      const hint = `Repeat the command with --idempotency-key ${idempotencyKey} to make sure that it is charged once.`;
      throw mayPass(error) ? withHint(error, hint) : error;
    });
    reporter.note(`Accepted as ${render.id}`);
    if (isDetached) {
      reporter.clear();
      print(render, `${render.id}\n`, 2);
    } else await this.finish(render.id, asset);
  }

  /** Waits for an accepted render and downloads its result. */
  async finish(id: string, asset: string | undefined): Promise<void> {
    const { reporter } = this.#options;
    let render: SentRender | undefined;
    try {
      render = await this.#waitForEnd(id);
      if (render.status === 'succeeded') await this.#download(render, asset);
    } catch (error) {
      const isGone = error instanceof CommandFailure && error.code === 'render_not_found';
      throw isGone ? error : withHint(error, `Continue with: storybar send --resume ${id}`);
    } finally {
      reporter.clear();
    }
    if (render.status !== 'succeeded') throw endOf(render);
  }

  async cancel(id: string): Promise<void> {
    const { service, print } = this.#options;
    const render = await service.render({ method: 'GET', address: addressOf(id), maxRetries: UPLOAD_RETRIES });
    if (hasEnded(render)) {
      print(render, `${id} has already ended with the status ${render.status}. Nothing was changed.\n`, 2);
      return;
    }
    const after = await service.cancel({ method: 'DELETE', address: addressOf(id), maxRetries: UPLOAD_RETRIES });
    if (after === undefined)
      print({ id, status: 'deleted' }, `${id} had just ended, and was deleted with its result.\n`, 2);
    else print(after, `${id} has the status ${after.status}.\n`, 2);
  }

  async #upload(asset: string | undefined, fields: Fields, idempotencyKey: string): Promise<SentRender> {
    const { service, reporter } = this.#options;
    const headers = { prefer: 'respond-async', 'idempotency-key': idempotencyKey };
    const request = { method: 'POST', address: '/v1/overlay', headers, maxRetries: UPLOAD_RETRIES } as const;
    if (asset === undefined || isUrl(asset)) {
      const form = new URLSearchParams();
      for (const [name, value] of fields) form.append(name, value);
      if (asset !== undefined) form.append('asset_url', asset);
      const body = form.toString();
      return await service.render({ ...request, body: () => ({ headers: FORM, body }) });
    }
    const file = await fileOf(asset);
    const stage = `Uploading ${path.basename(asset)}`;
    return await service.render({
      ...request,
      body: () => encodeForm(fields, file, (sent) => reporter.progress(stage, sent / file.bytes)),
    });
  }

  async #waitForEnd(id: string): Promise<SentRender> {
    const { service, reporter, signal } = this.#options;
    const request: ServiceRequest = {
      method: 'GET',
      address: `${addressOf(id)}?wait=${POLL_SECONDS}`,
      maxRetries: WAIT_RETRIES,
      timeoutMs: POLL_TIMEOUT_MS,
    };
    for (;;) {
      const asked = performance.now();
      const render = await service.render(request);
      if (hasEnded(render)) return render;
      reporter.progress(render.status === 'queued' ? 'Waiting in the queue' : 'Rendering', render.progress);
      // A server that doesn't hold the request open must not be asked in a tight loop.
      const pauseMs = Math.max(0, SHORTEST_POLL_MS - (performance.now() - asked));
      await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async #download(render: SentRender, asset: string | undefined): Promise<void> {
    const { service, reporter, print, signal } = this.#options;
    const { id, output, credits, warnings } = render;
    if (output === null) throw new CommandFailure(`Render ${id} has no output.`, UNEXPECTED);
    const file = this.#options.output ?? nameOf(render, asset, output.url);
    const onProgress = (loaded: number): void => reporter.progress('Downloading', loaded / output.bytes);
    await saveResult({ service, url: output.url, bytes: output.bytes, output: file, signal, onProgress });
    reporter.clear();
    const price = credits === 1 ? '1 credit' : `${credits ?? 0} credits`;
    const facts = [`${output.width}x${output.height}`, `${output.bytes} bytes`, price, ...warnings];
    if (file === '-') return;
    reporter.note(`${file}: ${facts.join(', ')}`);
    print({ ...render, file }, '', 2);
  }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const UNEXPECTED = { code: 'unexpected_response', exit: EXIT_CODES.overloaded };

function addressOf(id: string): string {
  return `/v1/renders/${encodeURIComponent(id)}`;
}

function hasEnded({ status }: SentRender): boolean {
  return status !== 'queued' && status !== 'rendering';
}

function isUrl(asset: string): boolean {
  return /^https?:\/\//iu.test(asset);
}

async function fileOf(asset: string): Promise<UploadFile> {
  const facts = await stat(asset).catch((error: unknown) => {
    throw new AppError('not_found', `File ${asset} not found.`, { cause: error });
  });
  if (!facts.isFile()) throw new UsageError(`${asset} isn't a file`);
  return { path: asset, bytes: facts.size };
}

/** The extension comes from the link, because only the server knows the format. */
function nameOf({ id }: SentRender, asset: string | undefined, url: string): string {
  const extension = /\.(?<extension>\w+)$/u.exec(new URL(url).pathname)?.groups?.['extension'] ?? 'bin';
  if (asset === undefined) return `${id}.${extension}`;
  return outputNextTo(isUrl(asset) ? path.posix.basename(new URL(asset).pathname) || 'asset' : asset, extension);
}

function endOf({ id, status, error }: SentRender): CommandFailure {
  if (error) return failureOf(error);
  return new CommandFailure(`Render ${id} was ${status}.`, { code: status, exit: EXIT_CODES.overloaded });
}

/** Whether the same command may succeed later, or has been successful without our knowledge. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof CommandFailure)) return false;
  const { code, status = 0 } = error;
  return code === 'unreachable' || code === 'interrupted' || status >= 500 || status === 408 || status === 409;
}

function withHint(error: unknown, hint: string): unknown {
  if (error instanceof UsageError) return new UsageError(`${error.message}. ${hint}`);
  if (!(error instanceof CommandFailure)) return error;
  const { message, code, exit, faults, status } = error;
  return new CommandFailure(`${message} ${hint}`, { code, exit, faults, status });
}
