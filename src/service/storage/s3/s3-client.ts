// Signed requests to an S3-compatible service. Bodies are streamed in both directions, and temporary failures are
// retried.

import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { S3Error } from './s3-error.ts';
import { readText } from './s3-xml.ts';

export interface S3Options {
  /** For example `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** True when the bucket is part of the path instead of the host name. */
  readonly isPathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Empty for permanent credentials. */
  readonly sessionToken: string;
}

/** A body that can be sent again. Its hash is signed, so the service refuses bytes that were damaged on the way. */
export interface S3Body {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  open(): Readable;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
  readonly signal?: AbortSignal;
  /** True when the response body is read at the pace of a client, so a pause doesn't mean that the service is stuck. */
  readonly hasSlowReader?: boolean;
}

const ATTEMPTS = 3;
const FIRST_RETRY_MS = 100;
const CONNECT_MS = 5_000;
/** The longest time without a byte in either direction. */
const IDLE_MS = 30_000;
/** The SHA-256 of an empty body. */
const NO_BODY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export class S3Client {
  readonly #options: S3Options;
  readonly #base: URL;
  readonly #agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  /** Signing keys of the day, derived from the secret. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(options: S3Options) {
    this.#options = options;
    this.#base = new URL(options.endpoint);
    if (!options.isPathStyle) this.#base.hostname = `${options.bucket}.${this.#base.hostname}`;
  }

  /**
   * Sends a request. The caller must read or destroy the body of the response. Throws `S3Error` for a status other than
   * 2xx.
   */
  async send(request: S3Request): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (attempt === ATTEMPTS || (error instanceof S3Error && !error.isTemporary)) throw error;
        await wait(FIRST_RETRY_MS * 2 ** (attempt - 1) * (1 + Math.random()));
      }
    }
  }

  /** Like `send`, for a short response, which is returned as text. */
  async sendForText(request: S3Request): Promise<string> {
    return await readText(await this.send(request));
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #sendOnce(request: S3Request): Promise<IncomingMessage> {
    request.signal?.throwIfAborted();
    const { url, headers } = await this.#sign(request);
    const response = await this.#exchange(request, url, headers);
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    const error = S3Error.of(statusCode, response.headers, await readText(response).catch(() => ''));
    response.destroy();
    throw error;
  }

  async #sign({ method, key, query = {}, headers, body }: S3Request) {
    const { accessKeyId, secretAccessKey, sessionToken, region, bucket, isPathStyle } = this.#options;
    const url = new URL(this.#base);
    const segments = [url.pathname.replace(/\/+$/u, ''), ...(isPathStyle ? [bucket] : []), ...(key ? [key] : [])];
    url.pathname = segments.join('/') || '/';
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? NO_BODY },
      ...(sessionToken !== '' && { sessionToken }),
      cache: this.#signingKeys,
    });
    // A new day has a new key, so the old ones are useless.
    if (this.#signingKeys.size > 1) this.#signingKeys.clear();
    const signed = await signer.sign();
    return {
      url: signed.url,
      headers: {
        ...Object.fromEntries(signed.headers),
        ...((method === 'PUT' || method === 'POST') && { 'content-length': String(body?.bytes ?? 0) }),
      },
    };
  }

  async #exchange(
    { method, body, signal, hasSlowReader = false }: S3Request,
    url: URL,
    headers: Readonly<Record<string, string>>,
  ): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      const options = { method, headers, ...(signal && { signal }) };
      const outgoing =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: this.#agents.https })
          : httpRequest(url, { ...options, agent: this.#agents.http });
      const giveUp = (what: string): void => void outgoing.destroy(new Error(`the storage service ${what}`));
      outgoing.once('socket', (socket) => {
        if (!socket.connecting) return;
        const timer = setTimeout(() => giveUp('did not accept the connection in time'), CONNECT_MS);
        socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
      });
      outgoing.setTimeout(IDLE_MS, () => giveUp('stopped responding'));
      // After the response has begun, an error also ends its body, so it isn't lost.
      outgoing.on('error', reject);
      outgoing.once('response', (response) => {
        if (hasSlowReader) outgoing.setTimeout(0);
        resolve(response);
      });
      if (body === undefined) outgoing.end();
      else pipeline(body.open(), outgoing, (error) => void (error && reject(error)));
    });
  }
}
