// Turns renders and errors into results for an assistant.

import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type RenderedFile, StorybarError } from '@storybar/client';
import { ForbiddenFileError } from './files.ts';

/**
 * Larger images are linked, because assistants cut off or refuse results of more than about a megabyte, base64
 * included.
 */
const LARGEST_INLINE_BYTES = 700_000;

export async function saveResult(render: RenderedFile, directory: string): Promise<CallToolResult> {
  const name = path.basename(render.filename);
  const file = path.join(directory, name);
  await render.save(file);
  const { contentType, size = 0 } = render;
  const facts = {
    file,
    content_type: contentType,
    bytes: size,
    warnings: [...render.warnings],
    credits_charged: render.creditsCharged ?? 0,
    credits_remaining: render.creditsRemaining ?? 0,
  };
  const link = { type: 'resource_link' as const, uri: pathToFileURL(file).href, name, mimeType: contentType, size };
  const isInline = contentType.startsWith('image/') && size <= LARGEST_INLINE_BYTES;
  const image = isInline
    ? [{ type: 'image' as const, mimeType: contentType, data: (await readFile(file)).toString('base64') }]
    : [];
  return { content: [{ type: 'text', text: JSON.stringify(facts) }, ...image, link], structuredContent: facts };
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
