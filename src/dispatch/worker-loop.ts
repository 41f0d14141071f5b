// The inside of a render worker process: takes one task at a time, answers, waits for the next.

import { readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '../errors.ts';
import { lockDownDecoders, probeImage } from '../media/image.ts';
import { isVideoFormat } from '../media/sniff.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import type { AssetProbe } from '../render/compose.ts';
import { type Rendered, type RenderFacts, renderOnImage, renderTransparent } from '../render/render.ts';
import { createRenderTools, type RenderTools } from '../render/renderer-tools.ts';
import type { FromWorker, WorkerTask, TaskFailure, TaskOf, TaskResults, ToWorker } from './protocol.ts';
import type { RenderJob } from './renderer.ts';
import { warmUpImages, warmUpVideos } from './warm-up.ts';

export interface Channel {
  send(message: FromWorker): void;
  onMessage(listener: (message: ToWorker) => void): void;
}

export async function runWorkerLoop(channel: Channel, pool: 'image' | 'video'): Promise<void> {
  lockDownDecoders();
  const tools = createRenderTools();
  const running = new Map<number, AbortController>();
  channel.onMessage((message) => {
    if (message.type === 'cancel') {
      running.get(message.id)?.abort();
      return;
    }
    const controller = new AbortController();
    running.set(message.id, controller);
    const { id, task } = message;
    perform(task, { tools, signal: controller.signal })
      .then(
        (result) => channel.send({ type: 'done', id, result }),
        (error: unknown) => channel.send({ type: 'failed', id, failure: describe(error) }),
      )
      .finally(() => running.delete(id));
  });
  if (pool === 'video') {
    channel.send({ type: 'ready', codecs: await warmUpVideos() });
  } else {
    await warmUpImages(tools);
    channel.send({ type: 'ready' });
  }
}

interface Circumstances {
  readonly tools: RenderTools;
  readonly signal: AbortSignal;
}

async function perform(task: WorkerTask, circumstances: Circumstances): Promise<TaskResults[WorkerTask['type']]> {
  switch (task.type) {
    case 'probe':
      return await probe(task);
    case 'render':
      return await render(task.job, circumstances);
  }
}

async function probe({ asset: { path, format }, limits }: TaskOf<'probe'>): Promise<AssetProbe> {
  if (!isVideoFormat(format)) return await probeImage(load(path));
  // Loaded when needed: a worker for images never maps the video libraries.
  const { probeVideo } = await import('../media/video/probe/probe.ts');
  return probeVideo(path, format, { maxSide: limits.videoSide });
}

async function render(
  { recipe, asset, segments, output }: RenderJob,
  { tools, signal }: Circumstances,
): Promise<RenderFacts> {
  if (recipe.kind === 'transparent') return store(await renderTransparent(recipe, tools), output);
  if (asset === undefined) throw new Error(`a recipe for ${recipe.kind} came without its asset`);
  if (recipe.kind === 'image') return store(await renderOnImage(recipe, load(asset.path), tools, signal), output);
  const { joinVideo, renderOnVideo } = await import('../render/video.ts');
  if (segments !== undefined) return await joinVideo(recipe, { asset: asset.path, segments, output }, { signal });
  return await renderOnVideo(recipe, asset.path, output, tools, { signal });
}

// Nobody else waits in this process, and every turn through the thread pool costs more than these few milliseconds do.

function load(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    return rethrowAsStorageError(error);
  }
}

function store({ bytes, ...facts }: Rendered, output: string): RenderFacts {
  try {
    writeFileSync(output, bytes);
    return facts;
  } catch (error) {
    return rethrowAsStorageError(error);
  }
}

function describe(error: unknown): TaskFailure {
  if (error instanceof AppError) return { code: error.code, message: error.message, limit: error.limit };
  return { code: undefined, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
