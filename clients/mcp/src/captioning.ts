// Sends images and videos to the service. Videos are rendered asynchronously, because assistants wait a minute at most for a
// tool that reports nothing.

import path from 'node:path';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { type AsyncCaptionRequest, type Render, type Storybar, StorybarTimeoutError } from '@storybar/client';
import { allowedFile } from './files.ts';
import type { CaptionsInput, ImageInput, VideoInput } from './inputs.ts';
import { saveResult, sentResult, stillRendering } from './results.ts';

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
    const { signal } = context.mcpReq;
    const { id } = await this.#storybar.startRender(fields, { signal });
    this.#names.set(id, name);
    return await this.finish(id, context);
  }

  /** Waits for a video and saves it. What the assistant no longer waits for is canceled, so that it costs nothing. */
  async finish(id: string, context: ServerContext): Promise<CallToolResult> {
    const { signal, _meta: meta } = context.mcpReq;
    const hasProgress = meta?.progressToken !== undefined;
    let latest: Render | undefined;
    const onProgress = (render: Render): void => {
      latest = render;
      void reportProgress(context, render.progress);
    };
    try {
      const timeoutMs = hasProgress ? Infinity : this.#waitSeconds * 1_000;
      const render = await this.#storybar.waitFor(id, { signal, timeoutMs, onProgress });
      const name = this.#names.get(id) ?? id;
      this.#names.delete(id);
      if (render.output.url === null) return sentResult(render);
      return await saveResult(await this.#storybar.download(render, { signal }), name, this.#directory);
    } catch (error) {
      if (error instanceof StorybarTimeoutError && latest !== undefined) return stillRendering(latest);
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

/** A progress that can't be sent is no reason to give up: the result is sent the same way. */
async function reportProgress({ mcpReq }: ServerContext, progress: number): Promise<void> {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq
    .notify({ method: 'notifications/progress', params: { progressToken, progress, total: 1 } })
    .catch(() => undefined);
}
