// The form with the file, as a stream that is never held in memory as a whole.

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

export interface UploadFile {
  readonly path: string;
  readonly bytes: number;
}

export interface EncodedForm {
  readonly headers: Record<string, string>;
  readonly body: string | ReadableStream<Uint8Array>;
}

/** `onProgress` gets how many bytes of the file were sent. */
export function encodeForm(
  fields: readonly (readonly [string, string])[],
  file: UploadFile,
  onProgress: (sentBytes: number) => void,
): EncodedForm {
  const boundary = `storybar-${randomUUID()}`;
  const texts = fields.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const name = path.basename(file.path).replaceAll(/["\r\n]/gu, '_');
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="asset"; filename="${name}"\r\n`;
  const start = Buffer.from(`${texts.join('')}${head}content-type: application/octet-stream\r\n\r\n`);
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield start;
    let sent = 0;
    for await (const chunk of createReadStream(file.path) as AsyncIterable<Buffer>) {
      yield chunk;
      sent += chunk.length;
      onProgress(sent);
    }
    yield end;
  }
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      // Without a length, the server can't refuse a file that is too large before it arrives.
      'content-length': String(start.length + file.bytes + end.length),
    },
    body: Readable.toWeb(Readable.from(parts())),
  };
}
