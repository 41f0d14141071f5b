// Turns renders and errors into results for an assistant.

import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Render, type RenderedFile, StorybarError, type SucceededRender } from '@storybar/client';
import * as z from 'zod';
import { ForbiddenFileError } from './files.ts';
import { FORMATS } from './lists.generated.ts';

/**
 * Larger images are linked, because assistants cut off or refuse results of more than about a megabyte, base64
 * included.
 */
const LARGEST_INLINE_BYTES = 700_000;

const FINISHED = z.object({
  file: z.string().optional(),
  /** The status of the bucket, for a file that was sent to a `put_url` instead of being saved. */
  put_status: z.number().nullable().optional(),
  content_type: z.string(),
  bytes: z.number(),
  warnings: z.array(z.string()),
  credits_charged: z.number(),
  credits_remaining: z.number().optional(),
});

/** With `render_id`, the file is still being rendered. */
export const RESULT = FINISHED.partial().extend({
  render_id: z.string().optional(),
  progress: z.number().optional(),
});

/** Saves the file under this name, or with a number if that exists. */
export async function saveResult(render: RenderedFile, name: string, directory: string): Promise<CallToolResult> {
  const { contentType } = render;
  const extension = FORMATS.find(({ mediaType }) => mediaType === contentType)?.extension ?? 'bin';
  const file = await newFile(directory, name, extension);
  await render.save(file);
  const { size = 0 } = render;
  const facts: z.infer<typeof FINISHED> = {
    file,
    content_type: contentType,
    bytes: size,
    warnings: [...render.warnings],
    credits_charged: render.creditsCharged ?? 0,
    ...(render.creditsRemaining !== undefined && { credits_remaining: render.creditsRemaining }),
  };
  const link = {
    type: 'resource_link' as const,
    uri: pathToFileURL(file).href,
    name: path.basename(file),
    mimeType: contentType,
    size,
  };
  const isInline = contentType.startsWith('image/') && size <= LARGEST_INLINE_BYTES;
  const image = isInline
    ? [{ type: 'image' as const, mimeType: contentType, data: (await readFile(file)).toString('base64') }]
    : [];
  return { content: [{ type: 'text', text: JSON.stringify(facts) }, ...image, link], structuredContent: facts };
}

/** The file is in the bucket of the caller, and no copy is kept. */
export function sentResult({ output, warnings, credits }: SucceededRender): CallToolResult {
  const { content_type, bytes, put_status } = output;
  const facts = { content_type, bytes, warnings, credits_charged: credits ?? 0, put_status };
  return { content: [{ type: 'text', text: JSON.stringify(facts) }], structuredContent: facts };
}

/** Creates an empty file, so that two renders at a time never write to the same one, and none overwrites an older file. */
async function newFile(directory: string, name: string, extension: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = path.join(directory, `${name}${number === 1 ? '' : `-${number}`}.${extension}`);
    try {
      await (await open(file, 'wx')).close();
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Tells the assistant how to get the result of a video that isn't finished. */
export function stillRendering({ id, progress }: Render): CallToolResult {
  const text = `The file is still being rendered (${Math.round(progress * 100)} %). Call get_video with the id ${id} to wait for it.`;
  return { content: [{ type: 'text', text }], structuredContent: { render_id: id, progress } };
}

/** Expected errors go back to the assistant, which can fix its request. Anything else is a bug and is thrown. */
export async function orExplain(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorybarError) && !(error instanceof ForbiddenFileError)) throw error;
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}
