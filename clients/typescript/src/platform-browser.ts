// Browsers and other runtimes, which send forms with files themselves, but mostly can't send a stream.

import { type OpenableAsset, chunksOf, streamOf } from './asset.ts';
import { StorybarError } from './errors.ts';
import type { Platform, SendOptions } from './platform.ts';

/** Browsers wait as long as the caller wants. */
export const checkTimeout: Platform['checkTimeout'] = () => undefined;

export const openFile: Platform['openFile'] = async (file) => {
  throw new StorybarError(`Only Node.js can open a file by its path; got "${file}". Pass a Blob or File instead.`);
};

export const saveFile: Platform['saveFile'] = async () => {
  throw new StorybarError('Only Node.js can save to a path. Use blob() instead.');
};

export const encodeUpload: Platform['encodeUpload'] = async (fields, asset) => {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append('asset', await toBlob(asset), asset.name);
  return { body: form, headers: {} };
};

async function toBlob(asset: OpenableAsset): Promise<Blob> {
  return asset.blob ?? (await new Response(streamOf(chunksOf(asset.open()))).blob());
}

export const send: Platform['send'] = async (options) => {
  const isObserved = options.onUploadProgress !== undefined && options.init.body instanceof FormData;
  if (isObserved && typeof XMLHttpRequest !== 'undefined') return await sendObserved(options);
  return await options.fetch(options.url, options.init);
};

/** `fetch` doesn't report how much of a form was sent, so this uses the older interface. */
async function sendObserved({ url, init, onUploadProgress }: SendOptions): Promise<Response> {
  return await new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? 'GET', url);
    request.responseType = 'blob';
    for (const [name, value] of Object.entries(init.headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total, lengthComputable }) => {
      onUploadProgress?.({ loaded, total: lengthComputable ? total : undefined });
    });
    request.addEventListener('load', () => {
      const headers = new Headers(headerLines(request.getAllResponseHeaders()));
      resolve(new Response(request.response as Blob, { status: request.status, headers }));
    });
    request.addEventListener('error', () => reject(new TypeError('The connection failed.')));
    request.addEventListener('abort', () => reject(init.signal?.reason));
    init.signal?.addEventListener('abort', () => request.abort());
    request.send(init.body as FormData);
  });
}

function headerLines(text: string): [string, string][] {
  return text
    .split('\r\n')
    .filter((line) => line.includes(':'))
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
}

export const environment: Platform['environment'] = () => undefined;
