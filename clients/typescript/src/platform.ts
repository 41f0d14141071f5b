// The differences between Node.js and browsers. `#platform` is one of the two files that implement this.

import type { OpenableAsset } from './asset.ts';

export interface Progress {
  readonly loaded: number;
  /** Undefined as long as the size is unknown, as with streams. */
  readonly total: number | undefined;
}

export type OnProgress = (progress: Progress) => void;

export interface EncodedUpload {
  readonly body: BodyInit;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SendOptions {
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly init: Omit<RequestInit, 'headers'> & { readonly headers: Record<string, string> };
  readonly onUploadProgress: OnProgress | undefined;
}

export interface Platform {
  /** Throws if the global `fetch` gives up before the timeout. */
  checkTimeout(timeoutMs: number): void;
  openFile(path: string): Promise<OpenableAsset>;
  saveFile(path: string, content: ReadableStream<Uint8Array>): Promise<void>;
  encodeUpload(
    fields: readonly (readonly [string, string])[],
    asset: OpenableAsset,
    onProgress: OnProgress | undefined,
  ): Promise<EncodedUpload>;
  send(options: SendOptions): Promise<Response>;
  environment(name: string): string | undefined;
}
