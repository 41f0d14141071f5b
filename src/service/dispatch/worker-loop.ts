// The inside of a render worker process, which performs tasks from the server and reports their results.

import { readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '../../shared/errors.ts';
import { lockDownDecoders } from '../../engine/media/image.ts';
import { isMemoryShort, outOfMemory } from '../../engine/media/memory-shortage.ts';
import { probeStill } from '../../engine/media/probe-still.ts';
import { isVideoFormat } from '../../engine/media/sniff.ts';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';
import type { AssetProbe } from '../../engine/render/compose.ts';
import { renderLayout } from '../../engine/render/layout-report.ts';
import { composeImageRecipe, NOTHING_DRAWN } from '../../engine/render/recipe.ts';
import { type Rendered, type RenderFacts, renderOnImage, renderTransparent } from '../../engine/render/render.ts';
import { createRenderTools, type RenderTools } from '../../engine/render/renderer-tools.ts';
import type { RenderJob } from './renderer.ts';
import type { TaskFailure, WorkerMessage } from './reports.ts';
import {
  isTaskFailureCode,
  type TaskOf,
  type TaskResults,
  type TaskType,
  type WorkerCommand,
  type WorkerTask,
} from './tasks.ts';
import { warmUpImages, warmUpVideos } from './warm-up.ts';

export interface ServerChannel {
  send(message: WorkerMessage): void;
  onMessage(listener: (message: WorkerCommand) => void): void;
}

export async function runWorkerLoop(channel: ServerChannel, pool: 'image' | 'video'): Promise<void> {
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
    const onProgress = throttle((fraction) => channel.send({ type: 'progress', id, fraction }));
    perform(task, tools, { signal: controller.signal, onProgress })
      .then(
        (result) => channel.send({ type: 'done', id, result }),
        (error: unknown) => channel.send({ type: 'failed', id, failure: describe(error, task) }),
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

/** The server needs no progress more often than this. */
const PROGRESS_MS = 500;

interface TaskContext {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly frames: number; readonly totalFrames: number }) => void;
}

function throttle(report: (fraction: number) => void): TaskContext['onProgress'] {
  let last = Number.NEGATIVE_INFINITY;
  return ({ frames, totalFrames }) => {
    if (performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    report(Math.min(1, frames / Math.max(1, totalFrames)));
  };
}

async function perform(task: WorkerTask, tools: RenderTools, context: TaskContext): Promise<TaskResults[TaskType]> {
  switch (task.type) {
    case 'probe':
      return await probe(task);
    case 'render':
      return await render(task.job, tools, context);
  }
}

/** The recipe is composed only to refuse an asset over the limits, so that no report exceeds them. */
async function probe({ asset: { path, format }, limits }: TaskOf<'probe'>): Promise<AssetProbe> {
  if (!isVideoFormat(format)) {
    const image = await probeStill(load(path), format);
    composeImageRecipe(image, [], limits);
    return image;
  }
  // Loaded on demand, so a worker for images never loads the video libraries.
  const { probeVideo } = await import('../../engine/media/video/probe/probe.ts');
  const { composeVideoRecipe } = await import('../../engine/render/video-recipe.ts');
  const video = probeVideo(path, format, { maxSide: limits.videoSide });
  composeVideoRecipe(video, [], limits);
  return video;
}

async function render(
  { recipe, asset, attachment, files = [], output }: RenderJob,
  tools: RenderTools,
  { signal, onProgress }: TaskContext,
): Promise<RenderFacts> {
  if (recipe.kind === 'font') return await writeFont(attachment, output);
  tools.fonts.use(files);
  if (recipe.kind === 'layout') return store(await renderLayout(recipe, tools), output);
  if (recipe.kind === 'transparent') return store(await renderTransparent(recipe, tools), output);
  if (recipe.kind === 'clip') {
    const { renderClip } = await import('../../engine/render/clip.ts');
    return await renderClip(recipe, output, tools, { signal, onProgress });
  }
  if (asset === undefined) throw new Error(`a recipe of kind ${recipe.kind} has no asset`);
  if (recipe.kind === 'image') return store(await renderOnImage(recipe, load(asset.path), tools, signal), output);
  if (recipe.kind === 'cover') {
    const { renderCover } = await import('../../engine/render/cover.ts');
    return store(await renderCover(recipe, asset.path, tools, signal), output);
  }
  if (recipe.kind === 'sound') {
    const { extractSpeech } = await import('../../engine/media/video/sound/speech-track.ts');
    const audible = await extractSpeech(recipe, asset.path, output, { signal, onProgress });
    return { ...NOTHING_DRAWN, audible };
  }
  const { renderOnVideo } = await import('../../engine/render/video.ts');
  return await renderOnVideo(recipe, asset.path, output, tools, { signal, onProgress });
}

/** Loaded on demand, because few workers ever get a font. */
async function writeFont(upload: string | undefined, output: string): Promise<RenderFacts> {
  if (upload === undefined) throw new Error('a recipe of kind font has no file');
  const { rewriteFont } = await import('../../engine/media/font/rewrite.ts');
  const { file, facts: font } = rewriteFont(load(upload));
  return store({ ...NOTHING_DRAWN, font, bytes: Buffer.from(file) }, output);
}

// Files are read synchronously, because nothing else runs in this process and the thread pool costs more than these few
// milliseconds.

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

function describe(thrown: unknown, task: WorkerTask): TaskFailure {
  const error = isLackOfMemory(thrown, task) ? outOfMemory(thrown) : thrown;
  if (error instanceof AppError && isTaskFailureCode(error.code)) {
    const { code, message, limit } = error;
    return { code, message, ...(limit && { limit }) };
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** Decoders and encoders report lack of memory as damage or as any other error. Without an asset, it isn't what takes memory. */
function isLackOfMemory(error: unknown, task: WorkerTask): boolean {
  if (error instanceof AppError && error.code !== 'asset_undecodable') return false;
  if (task.type === 'probe') return isMemoryShort(0);
  const { asset, recipe } = task.job;
  return asset !== undefined && isMemoryShort('canvas' in recipe ? recipe.canvas.width * recipe.canvas.height : 0);
}
