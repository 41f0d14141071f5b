// The client, with one method per operation of the API.

import { encodeUpload, environment } from '#platform';
import { type Asset, openable } from './asset.ts';
import { type BatchResult, type CaptionAllOptions, type CaptionAllRequest, captionAll } from './caption-all.ts';
import type { Send } from './collection.ts';
import { StorybarError, StorybarTimeoutError } from './errors.ts';
import { entriesOf, LARGEST_PAGE } from './pages.ts';
import { Fonts } from './fonts.ts';
import type { OnProgress } from './platform.ts';
import type { Input } from './input.ts';
import { type ContinueDownload, RenderedFile } from './rendered-file.ts';
import {
  type Batch,
  isFinished,
  type Render,
  type RenderList,
  requireSuccess,
  type SucceededRender,
} from './renders.ts';
import type { components } from './schema.generated.ts';
import {
  type HttpRequest,
  readJson,
  type ReadResponse,
  type RequestOptions,
  request,
  sleep,
  type TransportSettings,
} from './transport.ts';
import { Styles } from './styles.ts';
import { Logos } from './logos.ts';
import { WebhookDeliveries } from './webhook-deliveries.ts';
import { WebhookEndpoints, WebhookSecret } from './webhook-endpoints.ts';

type Schemas = components['schemas'];
export type Overlay = Input<Schemas['Overlay']>;
export type LayoutRequest = Input<Schemas['LayoutRequest']>;
export type Layout = Schemas['Layout'];
export type Usage = Schemas['Usage'];

/** The fields of the API reference, with `asset` for a file to upload. */
export type CaptionRequest = Omit<Input<Schemas['OverlayRequest']>, 'async' | 'deliver' | keyof StoredFields> & {
  readonly asset?: Asset | undefined;
};

export type AsyncCaptionRequest = CaptionRequest & StoredFields;

/** Fields of renders that are stored. */
interface StoredFields {
  /** The URL that gets a signed webhook when the render ends. */
  readonly webhook_url?: string | undefined;
  /** The presigned URL that gets the file. There is nothing to download then. */
  readonly put_url?: string | undefined;
  /** Headers of the request to `put_url`. */
  readonly put_headers?: Readonly<Record<string, string>> | undefined;
}

/** A request of a batch: JSON, so files are sent as `asset_url`. */
export type BatchRequest = Omit<AsyncCaptionRequest, 'asset'>;

export interface StorybarOptions extends Partial<TransportSettings> {
  /** The server, such as `https://captions.example.com`. Default in Node.js: `STORYBAR_URL`. */
  readonly baseUrl?: string | undefined;
  /** Default in Node.js: `STORYBAR_API_KEY`. */
  readonly apiKey?: string | undefined;
}

export interface UploadOptions extends RequestOptions {
  /** Default: a new UUID per request, so that retries are rendered and charged once. */
  readonly idempotencyKey?: string | undefined;
  readonly onUploadProgress?: OnProgress | undefined;
}

export interface CaptionOptions extends UploadOptions {
  readonly onDownloadProgress?: OnProgress | undefined;
}

export interface WaitOptions extends Omit<RequestOptions, 'timeoutMs'> {
  /** Milliseconds until `waitFor` gives up, or `Infinity`. The render goes on. Default: one hour. */
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((render: Render) => void) | undefined;
}

export interface BatchWaitOptions extends Omit<WaitOptions, 'onProgress'> {
  readonly onProgress?: ((batch: Batch) => void) | undefined;
}

const LONG_POLL_SECONDS = 20;
/** The polling interval for callers that show the progress of a render or batch. */
const PROGRESS_POLL_SECONDS = 2;
/** Prevents a tight loop with a server that doesn't hold the request open. */
const SHORTEST_POLL_MS = 1_000;

export class Storybar {
  /** Fonts that the account uploaded. */
  readonly fonts: Fonts;
  /** Styles that the account saved. */
  readonly styles: Styles;
  /** Logos that the account uploaded. */
  readonly logos: Logos;
  /** URLs that get a signed webhook whenever a render ends or a batch is completed. */
  readonly webhookEndpoints: WebhookEndpoints;
  /** What was sent to these URLs, and to the `webhook_url` of requests. */
  readonly webhookDeliveries: WebhookDeliveries;
  /** The secret that signs webhooks to the `webhook_url` of a request. */
  readonly webhookSecret: WebhookSecret;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #settings: TransportSettings;

  constructor(options: StorybarOptions = {}) {
    const { timeoutMs = 300_000, maxRetries = 3, maxRetryDelayMs = 60_000, onRetry } = options;
    const baseUrl = options.baseUrl ?? environment('STORYBAR_URL');
    const apiKey = options.apiKey ?? environment('STORYBAR_API_KEY');
    if (baseUrl === undefined || !URL.canParse(baseUrl)) {
      throw new StorybarError(`\`baseUrl\` must be the URL of a Storybar server; got ${JSON.stringify(baseUrl)}.`);
    }
    if (apiKey === undefined || apiKey === '') throw new StorybarError('`apiKey` is required.');
    this.#baseUrl = baseUrl.replace(/\/+$/u, '');
    this.#apiKey = apiKey;
    this.#settings = {
      fetch: options.fetch,
      headers: options.headers,
      timeoutMs,
      maxRetries,
      maxRetryDelayMs,
      onRetry,
    };
    const send: Send = async (...args) => await this.#request(...args);
    this.fonts = new Fonts(send);
    this.styles = new Styles(send);
    this.logos = new Logos(send);
    this.webhookEndpoints = new WebhookEndpoints(send);
    this.webhookDeliveries = new WebhookDeliveries(send);
    this.webhookSecret = new WebhookSecret(send);
  }

  /** Renders captions and returns the finished file as soon as it begins to arrive. */
  async caption(fields: CaptionRequest, options: CaptionOptions = {}): Promise<RenderedFile> {
    const idempotencyKey = options.idempotencyKey ?? newKey();
    const response = await this.#overlay(fields, { ...options, idempotencyKey }, {}, whole);
    return new RenderedFile({ response, idempotencyKey, onProgress: options.onDownloadProgress });
  }

  /**
   * Renders captions and keeps the result, instead of sending it: `output.url` is its link. Use `download` for the bytes.
   */
  async captionToUrl(fields: CaptionRequest, options: UploadOptions = {}): Promise<SucceededRender> {
    return await this.#overlay({ ...fields, deliver: 'url' }, options, {}, async (response) =>
      requireSuccess(await readJson<Render>(response)),
    );
  }

  /** Accepts a render and returns at once. Use `waitFor` or a webhook to learn when it ends. */
  async startRender(fields: AsyncCaptionRequest, options: UploadOptions = {}): Promise<Render> {
    return await this.#overlay(fields, options, { prefer: 'respond-async' }, async (response) => {
      if (response.status === 202) return await readJson<Render>(response);
      await response.body?.cancel();
      throw new StorybarError('The server rendered at once, so it is too old for asynchronous renders. Use `caption`.');
    });
  }

  /** With `waitSeconds`, the server holds the request until the render ends, at most 60 seconds. */
  async getRender(id: string, options: RequestOptions & { waitSeconds?: number | undefined } = {}): Promise<Render> {
    const query = options.waitSeconds === undefined ? '' : `?wait=${options.waitSeconds}`;
    return await this.#request('GET', `/v1/renders/${encodeURIComponent(id)}${query}`, options);
  }

  /** Waits until the render has succeeded. Throws a `StorybarRenderError` if it failed or was canceled. */
  async waitFor(render: Render | string, options: WaitOptions = {}): Promise<SucceededRender> {
    const { timeoutMs = 3_600_000, onProgress, ...rest } = options;
    const id = typeof render === 'string' ? render : render.id;
    const deadline = Date.now() + timeoutMs;
    const longest = onProgress ? PROGRESS_POLL_SECONDS : LONG_POLL_SECONDS;
    for (;;) {
      const asked = Date.now();
      const seconds = Math.max(0, Math.min(longest, Math.ceil((deadline - asked) / 1_000)));
      const current = await this.getRender(id, { ...rest, waitSeconds: seconds });
      onProgress?.(current);
      if (isFinished(current)) return requireSuccess(current);
      if (Date.now() >= deadline)
        throw new StorybarTimeoutError(`The render ${id} did not end within ${timeoutMs} ms.`);
      await sleep(Math.max(0, SHORTEST_POLL_MS - (Date.now() - asked)), options.signal);
    }
  }

  /** Downloads the result of a render that has succeeded. A download that breaks off is continued, up to `maxRetries` times. */
  async download(
    render: SucceededRender,
    options: RequestOptions & { onDownloadProgress?: OnProgress | undefined } = {},
  ): Promise<RenderedFile> {
    if (render.output.url === null) throw new StorybarError('The file was sent to its `put_url`. No copy is kept.');
    const url = new URL(render.output.url, this.#baseUrl).href;
    const get = async (headers: Record<string, string>) =>
      await request(this.#settings, { method: 'GET', url, headers, isRepeatable: true }, options, whole);
    const response = await get({});
    // Ranges count the bytes as they are sent, so they are useless for a file that a proxy compresses.
    let retries = response.headers.has('content-encoding') ? 0 : (options.maxRetries ?? this.#settings.maxRetries);
    const continueDownload: ContinueDownload = async (loaded, failure) => {
      if (retries === 0) throw failure;
      retries -= 1;
      const { status, body } = await get({ range: `bytes=${loaded}-` });
      if (status === 206 && body !== null) return body;
      await body?.cancel();
      throw failure;
    };
    return new RenderedFile({ response, render, onProgress: options.onDownloadProgress, continueDownload });
  }

  /** Cancels a render that hasn't ended and returns it. One that has ended is deleted, with its result. */
  async cancelRender(id: string, options: RequestOptions = {}): Promise<Render | undefined> {
    return await this.#request('DELETE', `/v1/renders/${encodeURIComponent(id)}`, options);
  }

  /**
   * Lists asynchronous renders and results with a link, newest first. `cursor` is `next_cursor` of the previous page.
   */
  async listRenders(
    options: RequestOptions & { limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<RenderList> {
    return await this.#request('GET', `/v1/renders${queryOf(options, 'limit', 'cursor')}`, options);
  }

  /** Iterates over all renders, newest first. Pages are read as they are needed. */
  async *renders(options: RequestOptions = {}): AsyncGenerator<Render, void, undefined> {
    yield* entriesOf(async (cursor) => {
      const page = await this.listRenders({ ...options, limit: LARGEST_PAGE, cursor });
      return [page.renders, page.next_cursor];
    });
  }

  /**
   * Renders any number of requests in batches and passes each result to `use` as soon as it is finished, some of them at the
   * same time. A render that fails has no file and doesn't stop the others; an error that `use` throws does.
   */
  async captionAll(
    requests: readonly CaptionAllRequest[],
    use: (result: BatchResult) => Promise<void> | void,
    options: CaptionAllOptions = {},
  ): Promise<void> {
    await captionAll(this, requests, use, options);
  }

  /** Accepts up to 100 requests at once. A fault in one refuses all. One that fails later doesn't stop the others. */
  async startBatch(
    requests: readonly BatchRequest[],
    options: Omit<UploadOptions, 'onUploadProgress'> = {},
  ): Promise<Batch> {
    const headers = { 'idempotency-key': options.idempotencyKey ?? newKey() };
    return await this.#request('POST', '/v1/batches', options, { requests }, { headers });
  }

  async getBatch(id: string, options: RequestOptions = {}): Promise<Batch> {
    return await this.#request('GET', `/v1/batches/${encodeURIComponent(id)}`, options);
  }

  /** Waits until all renders of the batch have ended. Check the status of each, because some may have failed. */
  async waitForBatch(batch: Batch | string, options: BatchWaitOptions = {}): Promise<Batch> {
    const { timeoutMs = 3_600_000, onProgress, ...rest } = options;
    const id = typeof batch === 'string' ? batch : batch.id;
    const deadline = Date.now() + timeoutMs;
    const longest = onProgress ? PROGRESS_POLL_SECONDS : LONG_POLL_SECONDS;
    for (;;) {
      const asked = Date.now();
      const current = await this.getBatch(id, rest);
      onProgress?.(current);
      const open = current.renders.find((render) => !isFinished(render));
      if (open === undefined) return current;
      if (asked >= deadline) throw new StorybarTimeoutError(`The batch ${id} did not end within ${timeoutMs} ms.`);
      const waitSeconds = Math.min(longest, Math.ceil((deadline - asked) / 1_000));
      await this.getRender(open.id, { ...rest, waitSeconds });
      await sleep(Math.max(0, SHORTEST_POLL_MS - (Date.now() - asked)), options.signal);
    }
  }

  /** Cancels renders that haven't ended and returns the batch. A completed batch is deleted, with its results. */
  async cancelBatch(id: string, options: RequestOptions = {}): Promise<Batch | undefined> {
    return await this.#request('DELETE', `/v1/batches/${encodeURIComponent(id)}`, options);
  }

  /** Returns where the bars of these captions would go and their price. Free. */
  async layout(fields: LayoutRequest, options: RequestOptions = {}): Promise<Layout> {
    return await this.#request('POST', '/v1/layout', options, fields);
  }

  /**
   * Returns the plan, credits, and renders from one day to another, such as `2026-03-01`. Default: the current billing
   * period.
   */
  async usage(options: RequestOptions & { from?: string | undefined; to?: string | undefined } = {}): Promise<Usage> {
    return await this.#request('GET', `/v1/usage${queryOf(options, 'from', 'to')}`, options);
  }

  async #overlay<Result>(
    { asset, ...fields }: AsyncCaptionRequest & { readonly deliver?: 'url' },
    options: UploadOptions,
    headers: Readonly<Record<string, string>>,
    read: ReadResponse<Result>,
  ): Promise<Result> {
    const { idempotencyKey = newKey(), onUploadProgress } = options;
    const form = formFields(fields);
    const file = asset === undefined ? undefined : await openable(asset);
    const encode = async () =>
      file ? await encodeUpload(form, file, onUploadProgress) : { body: new URLSearchParams(form), headers: {} };
    const http = {
      headers: { ...headers, 'idempotency-key': idempotencyKey },
      encode,
      isRepeatable: file?.isRepeatable ?? true,
      onUploadProgress,
    };
    return await this.#request('POST', '/v1/overlay', options, undefined, http, read);
  }

  async #request<Result>(
    method: HttpRequest['method'],
    path: string,
    options: RequestOptions,
    json?: unknown,
    http: Partial<HttpRequest> = {},
    read: ReadResponse<Result> = readJson,
  ): Promise<Result> {
    const encodeJson = async () => ({ body: JSON.stringify(json), headers: { 'content-type': 'application/json' } });
    const headers = { 'x-api-key': this.#apiKey, ...http.headers };
    const encode = json === undefined ? {} : { encode: encodeJson };
    const all = { isRepeatable: true, ...encode, ...http, method, url: `${this.#baseUrl}${path}`, headers };
    return await request(this.#settings, all, options, read);
  }
}

/** Wraps a response whose body is read later, as it arrives. */
async function whole(response: Response): Promise<Response> {
  return response;
}

function queryOf<Options extends object>(options: Options, ...names: (keyof Options & string)[]): string {
  const given = names.filter((name) => options[name] !== undefined).map((name) => [name, String(options[name])]);
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Forms contain text, so lists and objects become JSON, and omitted fields are left out. */
function formFields(fields: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

/** `crypto.randomUUID` exists only on secure pages, so pages on a plain `http` address create their own. */
function newKey(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
