// Sends images and videos to the service. Videos are rendered asynchronously, because assistants wait a minute at most for a
// tool that reports nothing.

import path from 'node:path';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { type Render, type Storybar, StorybarTimeoutError } from '@storybar/client';
import { allowedFile } from './files.ts';
import type { ImageInput, VideoInput } from './inputs.ts';
import { saveResult, stillRendering } from './results.ts';

export class Captioning {
  readonly #storybar: Storybar;
  readonly #directory: string;
  readonly #waitSeconds: number;
  /** The names of the sources of renders that weren't finished when their tool returned. */
  readonly #sources = new Map<string, string>();

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

  async image({ file, url, ...fields }: ImageInput, { mcpReq }: ServerContext): Promise<CallToolResult> {
    const source = await this.#source(file, url);
    const render = await this.#storybar.caption({ ...fields, ...source.fields }, { signal: mcpReq.signal });
    return await saveResult(render, source.name, this.#directory);
  }

  async video({ file, url, style, ...input }: VideoInput, context: ServerContext): Promise<CallToolResult> {
    const { highlight, case: letters, ...fields } = input;
    const source = await this.#source(file, url);
    const isPlain = highlight === undefined && letters === undefined;
    const look = isPlain ? style : { preset: style, highlight, case: letters };
    const { signal } = context.mcpReq;
    const { id } = await this.#storybar.startRender({ ...fields, style: look, ...source.fields }, { signal });
    this.#sources.set(id, source.name);
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
      const result = await saveResult(
        await this.#storybar.download(render, { signal }),
        this.#sources.get(id) ?? id,
        this.#directory,
      );
      this.#sources.delete(id);
      return result;
    } catch (error) {
      if (error instanceof StorybarTimeoutError && latest !== undefined) return stillRendering(latest);
      if (signal.aborted) await this.#storybar.cancelRender(id);
      throw error;
    }
  }

  async #source(file: string | undefined, url: string | undefined) {
    if (file !== undefined) {
      return { name: path.basename(file), fields: { asset: await allowedFile(this.#directory, file) } };
    }
    return { name: path.posix.basename(new URL(url ?? '').pathname), fields: { asset_url: url } };
  }
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
