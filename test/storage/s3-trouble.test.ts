// A service that fails in the middle of an operation, as a script of responses.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3Storage } from '../../src/service/storage/s3/s3-storage.ts';

const PART = 16 * 1024 * 1024;
const UPLOAD = '<InitiateMultipartUploadResult><UploadId>id&amp;1</UploadId></InitiateMultipartUploadResult>';

let server: Server;
let folder: string;
let storage: S3Storage;
let requests: string[];
let respond: (request: string, response: ServerResponse, body: string) => void;

beforeEach(async () => {
  requests = [];
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-s3-trouble-'));
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${decodeURIComponent(request.url ?? '')}`;
    requests.push(line);
    void text(request).then(
      (body) => respond(line, response, body),
      () => undefined,
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  storage = new S3Storage({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`,
    bucket: 'bucket',
    prefix: 'p/',
    region: 'r',
    isPathStyle: true,
    accessKeyId: 'a',
    secretAccessKey: 's',
    sessionToken: 't',
  });
});
afterEach(async () => {
  storage.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function file(bytes: number): string {
  const name = path.join(folder, `file-${bytes}`);
  writeFileSync(name, Buffer.alloc(bytes, 1));
  return name;
}

describe('an S3 service that fails', () => {
  it('requests to S3 are retried after a temporary error, and only then', async () => {
    respond = (_request, response) => response.writeHead(requests.length < 3 ? 503 : 200).end();
    await storage.put('outputs/one', file(10));
    expect(requests).toEqual(Array.from({ length: 3 }, () => 'PUT /base/bucket/p/outputs/one'));
    requests.length = 0;
    respond = (_request, response) => response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    await expect(storage.put('outputs/one', file(10))).rejects.toMatchObject({ cause: { code: 'AccessDenied' } });
    expect(requests).toHaveLength(1);
  });

  it('an upload to S3 is aborted when one of its parts cannot be sent', async () => {
    respond = (request, response) => {
      if (request.startsWith('POST') && request.includes('uploads=')) response.end(UPLOAD);
      else if (request.includes('partNumber=2')) response.writeHead(500).end();
      else if (request.startsWith('PUT')) response.setHeader('etag', '"tag"').end();
      else response.writeHead(204).end();
    };
    await expect(storage.put('outputs/one', file(2 * PART + 1))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(requests.filter((request) => request.includes('partNumber=2'))).toHaveLength(3);
    expect(requests.at(-1)).toBe('DELETE /base/bucket/p/outputs/one?uploadId=id&1');
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(1);
  });

  it.each([
    [10, 'PUT /base/bucket/p/outputs/one'],
    [PART + 1, 'DELETE /base/bucket/p/outputs/one?uploadId=id&1'],
  ])('S3 gets no more of a file of %i bytes after the upload was canceled', async (bytes, lastRequest) => {
    const canceled = new AbortController();
    const reason = new Error('the client left');
    respond = (request, response) => {
      if (request.includes('uploads=')) response.end(UPLOAD);
      else if (request.startsWith('DELETE')) response.writeHead(204).end();
      else canceled.abort(reason);
    };
    await expect(storage.put('outputs/one', file(bytes), canceled.signal)).rejects.toBe(reason);
    expect(requests.filter((request) => request.startsWith('POST') && request.includes('uploadId='))).toEqual([]);
    expect(requests.at(-1)).toBe(lastRequest);
  });

  it('an error in the successful response to the last request of an upload fails the upload', async () => {
    respond = (request, response) => {
      if (request.includes('uploads=')) response.end(UPLOAD);
      else if (request.startsWith('PUT')) response.setHeader('etag', '"tag"').end();
      else if (request.startsWith('POST')) response.end('<Error><Code>InternalError</Code></Error>');
      else response.writeHead(204).end();
    };
    await expect(storage.put('outputs/one', file(PART + 1))).rejects.toMatchObject({
      cause: { code: 'InternalError' },
    });
    expect(requests.at(-1)).toMatch(/^DELETE .*uploadId=/u);
  });

  it('an upload that S3 completed succeeds although the response is lost', async () => {
    let completed: string | undefined;
    respond = (request, response, body) => {
      if (request.includes('uploads=')) response.end(UPLOAD);
      else if (request.startsWith('PUT')) response.setHeader('etag', `"${request.slice(-1)}"`).end();
      else if (request.startsWith('POST') && completed === undefined) {
        completed = body;
        response.destroy();
      } else if (request.startsWith('POST')) response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
      else if (request.startsWith('HEAD')) response.setHeader('content-length', PART + 1).end();
      else response.writeHead(204).end();
    };
    await storage.put('outputs/one', file(PART + 1));
    expect(completed).toContain('<PartNumber>2</PartNumber>');
    expect(requests.filter((request) => request.startsWith('DELETE'))).toEqual([]);
  });

  it('a download is repeated from the start when its connection breaks, and leaves no partial file', async () => {
    const copy = path.join(folder, 'copy');
    respond = (_request, response) => {
      response.writeHead(200, { 'content-length': 8 });
      if (requests.length < 3) response.write('half', () => response.destroy());
      else response.end('complete');
    };
    const { signal } = new AbortController();
    expect(await storage.copyTo('assets/one', copy, signal)).toBe(true);
    expect(readFileSync(copy, 'utf8')).toBe('complete');
    requests.length = 0;
    respond = (_request, response) => {
      response.writeHead(200, { 'content-length': 8 });
      response.write('half', () => response.destroy());
    };
    const other = path.join(folder, 'other');
    await expect(storage.copyTo('assets/one', other, signal)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(() => readFileSync(other)).toThrow('ENOENT');
  });

  it('a download stops when the render is canceled', async () => {
    const cancel = new AbortController();
    respond = (_request, response) => {
      response.writeHead(200, { 'content-length': 8 }).write('half');
      setImmediate(() => cancel.abort(new Error('canceled')));
    };
    const copy = path.join(folder, 'copy');
    await expect(storage.copyTo('assets/one', copy, cancel.signal)).rejects.toThrow('canceled');
    expect(() => readFileSync(copy)).toThrow('ENOENT');
  });

  it('listing S3 reads all pages and leaves out objects of other programs', async () => {
    const entry = (key: string): string =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
    respond = (request, response) => {
      if (request.includes('uploads=')) response.writeHead(501).end();
      else if (request.includes('continuation-token=next/+=1')) response.end(entry('p/outputs/three'));
      else {
        const keys = ['p/outputs/one', 'p/outputs/../two', 'p/outputs/', 'p/outputs/a/b', 'p/outputs/&lt;x&gt;'];
        const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>next/+=1</NextContinuationToken>';
        response.end(`<ListBucketResult>${more}${keys.map(entry).join('')}</ListBucketResult>`);
      }
    };
    const names: string[] = [];
    for await (const { name, modifiedAt } of storage.list('outputs')) {
      names.push(name);
      expect(modifiedAt.toISOString()).toBe('2026-01-01T00:00:00.000Z');
    }
    expect(names).toEqual(['outputs/one', 'outputs/three']);
  });

  it('an object is lost only if S3 says so, because a proxy may respond with 404, too', async () => {
    const copy = async () =>
      await storage.copyTo('assets/one', path.join(folder, 'copy'), new AbortController().signal);
    respond = (_request, response) => response.writeHead(404).end('404 page not found');
    const unavailable = { code: 'storage_unavailable' };
    await expect(copy()).rejects.toMatchObject(unavailable);
    await expect(storage.get('outputs/one')).rejects.toMatchObject(unavailable);
    await expect(storage.delete('outputs/one')).rejects.toMatchObject(unavailable);
    expect(await storage.size('outputs/one')).toBeUndefined();
    for (const code of ['NoSuchKey', 'NotFound']) {
      respond = (_request, response) => response.writeHead(404).end(`<Error><Code>${code}</Code></Error>`);
      expect(await copy()).toBe(false);
      expect(await storage.get('outputs/one')).toBeUndefined();
      await storage.delete('outputs/one');
    }
  });

  it('a response that ignores the requested range is refused, because its body would have the wrong length', async () => {
    respond = (_request, response) => response.end('the whole object');
    await expect(storage.get('outputs/one', { start: 1, end: 2 })).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });
});
