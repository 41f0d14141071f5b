// Node.js, with files by path, and uploads as streams that are never completely in memory.

import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { chunksOf, streamOf } from './asset.ts';
import { StorybarError } from './errors.ts';
import type { Platform } from './platform.ts';

/** How long the `fetch` of Node.js waits for a response. */
const LONGEST_TIMEOUT_MS = 300_000;

export const checkTimeout: Platform['checkTimeout'] = (timeoutMs) => {
  if (!Number.isFinite(timeoutMs) || timeoutMs <= LONGEST_TIMEOUT_MS) return;
  throw new StorybarError(
    `\`fetch\` of Node.js waits at most ${LONGEST_TIMEOUT_MS} ms for a response; got a \`timeoutMs\` of ${timeoutMs}. ` +
      'Use `startRender` and `waitFor` for renders that take longer, or pass a `fetch` that waits longer.',
  );
};

export const openFile: Platform['openFile'] = async (file) => {
  const { size } = await stat(file);
  return { name: path.basename(file), size, isRepeatable: true, open: () => createReadStream(file) };
};

export const saveFile: Platform['saveFile'] = async (file, content) => {
  await pipeline(chunksOf(content), createWriteStream(file));
};

export const encodeUpload: Platform['encodeUpload'] = async (fields, asset, onProgress) => {
  const boundary = `storybar-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const texts = fields.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const filename = asset.name.replaceAll('"', '%22').replaceAll(/[\r\n]/gu, ' ');
  const start = encoder.encode(
    `${texts.join('')}--${boundary}\r\ncontent-disposition: form-data; name="asset"; filename="${filename}"\r\n` +
      'content-type: application/octet-stream\r\n\r\n',
  );
  const end = encoder.encode(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield start;
    let loaded = 0;
    for await (const chunk of chunksOf(asset.open())) {
      loaded += chunk.byteLength;
      yield chunk;
      onProgress?.({ loaded, total: asset.size });
    }
    yield end;
  }
  const headers: Record<string, string> = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  // Without a length, the body is sent in chunks, and the server can't refuse a file that is too large before it arrives.
  if (asset.size !== undefined) headers['content-length'] = String(start.length + asset.size + end.length);
  return { body: streamOf(parts()), headers };
};

export const send: Platform['send'] = async ({ fetch, url, init }) => {
  // `duplex` is required for streams and is missing from the DOM's type.
  const streaming = init.body instanceof ReadableStream ? { duplex: 'half' } : {};
  return await fetch(url, { ...init, ...streaming, headers: { 'user-agent': 'storybar-client-js', ...init.headers } });
};

export const environment: Platform['environment'] = (name) => process.env[name];
