// The inside of a render worker process: takes one task at a time, answers, waits for the next. It ends when the server
// goes away.

import { writeFile } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import { lockDownDecoders, probeImage } from '../media/image.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import { composeImageRecipe, composeTransparentRecipe, DEFAULT_ASSET_LIMITS } from '../render/recipe.ts';
import { type Rendered, type RenderFacts, renderOnImage, renderTransparent } from '../render/render.ts';
import { createRenderTools, type RenderTools } from '../render/renderer-tools.ts';
import type { FromWorker, Task, TaskFailure, TaskResults, ToWorker } from './protocol.ts';
import type { RenderJob } from './renderer.ts';

export interface Channel {
  send(message: FromWorker): void;
  onMessage(listener: (message: ToWorker) => void): void;
}

export function runWorkerLoop(channel: Channel): void {
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
    perform(message.task, tools, controller.signal)
      .then(
        (result) => channel.send({ type: 'done', id: message.id, result }),
        (error: unknown) => channel.send({ type: 'failed', id: message.id, failure: describe(error) }),
      )
      .finally(() => running.delete(message.id));
  });
  void warmUp(tools).then(() => channel.send({ type: 'ready' }));
}

/** The first render of a fresh process pays for loading fonts and compiling code; pay before anyone waits. */
async function warmUp(tools: RenderTools): Promise<void> {
  const overlays = [{ text: 'Storybar 🎬', position: null }];
  const overlay = await renderTransparent(composeTransparentRecipe({ width: 1080, height: 1920 }, overlays), tools);
  const recipe = composeImageRecipe(await probeImage(overlay.bytes), overlays, DEFAULT_ASSET_LIMITS);
  await renderOnImage(recipe, overlay.bytes, tools);
}

async function perform(task: Task, tools: RenderTools, signal: AbortSignal): Promise<TaskResults[Task['type']]> {
  if (task.type === 'probe') return await probeImage(task.asset.path);
  const { bytes, ...facts } = await renderJob(task.job, tools, signal);
  await writeFile(task.job.output, bytes).catch(rethrowAsStorageError);
  return facts satisfies RenderFacts;
}

async function renderJob({ recipe, asset }: RenderJob, tools: RenderTools, signal: AbortSignal): Promise<Rendered> {
  if (recipe.kind === 'transparent') return await renderTransparent(recipe, tools);
  if (asset === undefined) throw new Error('an image recipe came without its asset');
  return await renderOnImage(recipe, asset.path, tools, signal);
}

function describe(error: unknown): TaskFailure {
  if (error instanceof AppError) return { code: error.code, message: error.message, limit: error.limit };
  return { code: undefined, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
