// Assets that can be uploaded, and their conversion to streams.

import { openFile } from '#platform';

type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * A file to caption: the path of a file (Node.js only), a Blob or File, bytes, a stream, or a function that opens a stream.
 * A stream can be read only once, so a request with one isn't retried. Pass a function that opens it to get retries.
 */
export type Asset = string | Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | ByteStream | (() => ByteStream);

export interface OpenableAsset {
  readonly name: string;
  readonly size: number | undefined;
  readonly isRepeatable: boolean;
  open(): ByteStream;
  /** The asset itself, if it is a Blob already. */
  readonly blob?: Blob;
}

export async function openable(asset: Asset): Promise<OpenableAsset> {
  if (typeof asset === 'string') return await openFile(asset);
  if (typeof asset === 'function') return { name: 'asset', size: undefined, isRepeatable: true, open: asset };
  if (asset instanceof Blob) return fromBlob(asset);
  if (asset instanceof ArrayBuffer || ArrayBuffer.isView(asset)) return fromBlob(new Blob([asset]));
  return { name: 'asset', size: undefined, isRepeatable: false, open: () => asset };
}

function fromBlob(blob: Blob): OpenableAsset {
  const name = 'name' in blob && typeof blob.name === 'string' ? blob.name : 'asset';
  return { name, size: blob.size, isRepeatable: true, open: () => blob.stream(), blob };
}

/** Yields the chunks of either kind of stream. Browsers without async iteration of streams still have readers. */
export async function* chunksOf(stream: ByteStream): AsyncGenerator<Uint8Array> {
  if (!('getReader' in stream)) {
    yield* stream;
    return;
  }
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isDone) await reader.cancel();
  }
}

/** Returns a stream that is read only as fast as its consumer takes it. */
export function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      await chunks.return(reason);
    },
  });
}
