// Sends images and videos to the service. Videos are rendered asynchronously, because many assistants wait a minute at most for a
// tool, even for one that reports its progress.

import path from 'node:path';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import {
  type AsyncCaptionRequest,
  type OnProgress,
  type Render,
  type Storybar,
  StorybarTimeoutError,
} from '@storybar/client';
import { allowedFile } from './files.ts';
import type { CaptionsInput, ImageInput, VideoInput } from './inputs.ts';
import { saveResult, sentResult, stillRendering } from './results.ts';

const UPLOAD_REPORT_MS = 2_000;

export class Captioning {
  readonly #storybar: Storybar;
  readonly #directory: string;
  readonly #waitSeconds: number;
  /** The names for the results of renders that weren't finished when their tool returned. */
  readonly #names = new Map<string, string>();

  constructor({
    storybar,
    directory,
    waitSeconds,
  }: {
    readonly storybar: Storybar;
    readonly directory: string;
    readonly waitSeconds: number;
  }) {
    this.#storybar = storybar;
    this.#directory = directory;
    this.#waitSeconds = waitSeconds;
  }

  async image({ file, url, ...input }: ImageInput, context: ServerContext): Promise<CallToolResult> {
    const source = await this.#source(file, url);
    const fields = withLook(input);
    if (fields.put_url !== undefined) return await this.#start({ ...fields, ...source.fields }, source.name, context);
    const { signal } = context.mcpReq;
    const render = await this.#storybar.caption({ ...fields, ...source.fields }, { signal });
    return await saveResult(render, source.name, this.#directory);
  }

  async video({ file, url, ...input }: VideoInput, context: ServerContext): Promise<CallToolResult> {
    const source = await this.#source(file, url);
    return await this.#start({ ...withLook(input), ...source.fields }, source.name, context);
  }

  /** Renders captions alone, as a transparent image or video. */
  async captions(input: CaptionsInput, context: ServerContext): Promise<CallToolResult> {
    return await this.#start(withLook(input), 'captions', context);
  }

  async #start(fields: AsyncCaptionRequest, name: string, context: ServerContext): Promise<CallToolResult> {
    // The time of the upload counts, because the assistant waits for it, too.
    const deadline = this.#deadline();
    const onUploadProgress = uploadReporter(context);
    const { id } = await this.#storybar.startRender(fields, { signal: context.mcpReq.signal, onUploadProgress });
    this.#names.set(id, name);
    return await this.finish(id, context, deadline);
  }

  /** Waits for a video and saves it, or returns its id when the assistant would soon give up. */
  async finish(id: string, context: ServerContext, deadline = this.#deadline()): Promise<CallToolResult> {
    const { signal } = context.mcpReq;
    const render = await this.#wait(id, context, deadline);
    if (render.status !== 'succeeded') return stillRendering(render);
    if (render.output.url === null) return sentResult(render);
    const file = await this.#storybar.download(render, { signal });
    const result = await saveResult(file, this.#names.get(id) ?? id, this.#directory);
    this.#names.delete(id);
    return result;
  }

  #deadline(): number {
    return Date.now() + this.#waitSeconds * 1_000;
  }

  /** Returns the render as it is at the deadline. One that the assistant no longer waits for is canceled, so that it costs nothing. */
  async #wait(id: string, context: ServerContext, deadline: number): Promise<Render> {
    const { signal } = context.mcpReq;
    let latest: Render | undefined;
    const onProgress = (render: Render): void => {
      latest = render;
      void reportProgress(context, render.progress);
    };
    try {
      return await this.#storybar.waitFor(id, { signal, timeoutMs: Math.max(0, deadline - Date.now()), onProgress });
    } catch (error) {
      if (error instanceof StorybarTimeoutError && latest !== undefined) return latest;
      if (signal.aborted) await this.#storybar.cancelRender(id);
      throw error;
    }
  }

  async #source(file: string | undefined, url: string | undefined) {
    if (file !== undefined) {
      return { name: captioned(file), fields: { asset: await allowedFile(this.#directory, file) } };
    }
    return { name: captioned(new URL(url ?? '').pathname), fields: { asset_url: url } };
  }
}

/** The result of `beach.jpg` is `beach-captioned`, with the extension of its format. */
function captioned(source: string): string {
  return `${path.parse(source).name || 'video'}-captioned`;
}

type LookInput = Pick<VideoInput, 'style' | 'font' | 'logo'> & Partial<Pick<VideoInput, 'highlight' | 'case'>>;

/** The parts of the style that are arguments of their own become part of it. */
export function withLook<Input extends LookInput>(input: Input) {
  const { style, font, logo, highlight, case: letters, ...fields } = input;
  const parts = { font, logo: logo === undefined ? undefined : { id: logo }, highlight, case: letters };
  const isPlain = Object.values(parts).every((part) => part === undefined);
  return { ...fields, style: isPlain ? style : { preset: style, ...parts } };
}

/** An upload reports every chunk, and assistants need a sign of life every few seconds only. */
function uploadReporter(context: ServerContext): OnProgress {
  let reported = Date.now();
  return ({ loaded, total }) => {
    if (Date.now() - reported < UPLOAD_REPORT_MS) return;
    reported = Date.now();
    void reportProgress(context, 0, `Sent ${loaded} of ${total ?? 'an unknown number of'} bytes.`);
  };
}

/** A progress that can't be sent is no reason to give up: the result is sent the same way. */
async function reportProgress({ mcpReq }: ServerContext, progress: number, message?: string): Promise<void> {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, total: 1, ...(message !== undefined && { message }) };
  await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
}
