// Runs the server as a child process with its own data directory, and sends requests over one persistent connection.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { START_ARGUMENTS } from '../../test/start-command.ts';

const BUILT = fileURLToPath(new URL('../../dist/cli/cli.js', import.meta.url));
const BOUNDARY = 'storybar-benchmark-boundary';
const READ_BYTES = 256 * 1024;

export interface OverlayResponse {
  /** From `x-render-duration-ms`: the time from the last byte of the request to the finished file. */
  readonly renderMs: number;
  /** Milliseconds per step, from `server-timing`. */
  readonly steps: Readonly<Record<string, number>>;
}

export interface Server {
  overlay(body: Buffer): Promise<OverlayResponse>;
  close(): Promise<void>;
}

export function isBuilt(): boolean {
  return existsSync(BUILT);
}

export async function startServer(dataDirectory: string): Promise<Server> {
  const child = spawn(process.execPath, START_ARGUMENTS, {
    env: { PORT: '0', STORYBAR_DATA_DIR: dataDirectory, STORYBAR_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, key } = await readStartupOutput(child);
  const connection = new Connection(new URL(url), key);
  return {
    overlay: (body) => connection.post(body),
    close: async () => {
      connection.close();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function readStartupOutput(child: ChildProcess): Promise<{ url: string; key: string }> {
  if (!child.stdout) throw new Error('the server has no stdout');
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url ??= /listen(?:s|ing) on (?<url>\S+)/u.exec(line)?.groups?.['url'];
    const key = /x-api-key: (?<key>\w+)/u.exec(line)?.groups?.['key'];
    if (url !== undefined && key !== undefined) return { url, key };
  }
  throw new Error('the server exited before it printed its URL and API key');
}

/** The body is built once, so that the time of the client isn't measured. */
export function multipart(asset: Buffer, overlays: object): Buffer {
  const part = (disposition: string): string => `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  return Buffer.concat([
    Buffer.from(`${part('name="overlays"')}\r\n${JSON.stringify(overlays)}\r\n`),
    Buffer.from(`${part('name="asset"; filename="photo.jpg"')}content-type: image/jpeg\r\n\r\n`),
    asset,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

/**
 * A minimal HTTP client with one connection and one buffer. Node's own client takes longer for a response of three
 * megabytes than the server, and its garbage would be collected during later measurements.
 */
class Connection {
  readonly #socket: Socket;
  readonly #url: URL;
  readonly #key: string;
  #onBytes: (bytes: Buffer) => void = () => undefined;
  #onError: (error: Error) => void = () => undefined;

  constructor(url: URL, key: string) {
    this.#url = url;
    this.#key = key;
    const read = (length: number, buffer: Uint8Array): boolean => {
      this.#onBytes(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      return true;
    };
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: read };
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true, onread });
    this.#socket.on('error', (error) => this.#onError(error));
    this.#socket.on('close', () => this.#onError(new Error('the server closed the connection')));
  }

  async post(body: Buffer): Promise<OverlayResponse> {
    const head = [
      `POST /v1/overlay HTTP/1.1`,
      `host: ${this.#url.host}`,
      `x-api-key: ${this.#key}`,
      `content-type: multipart/form-data; boundary=${BOUNDARY}`,
      `content-length: ${body.length}`,
    ];
    const response = new Promise<OverlayResponse>((resolve, reject) => {
      this.#onError = reject;
      let headers = '';
      let remaining = Number.POSITIVE_INFINITY;
      this.#onBytes = (bytes) => {
        let length = bytes.length;
        if (remaining === Number.POSITIVE_INFINITY) {
          const received = headers.length;
          headers += bytes.toString('latin1');
          const end = headers.indexOf('\r\n\r\n');
          if (end < 0) return;
          headers = headers.slice(0, end);
          length -= end + 4 - received;
          remaining = Number(headerOf(headers, 'content-length'));
        }
        remaining -= length;
        if (remaining > 0) return;
        if (headers.startsWith('HTTP/1.1 200 ')) resolve(toResponse(headers));
        else reject(new Error(`the server responded with ${headers}`));
      };
    });
    this.#socket.cork();
    this.#socket.write(`${head.join('\r\n')}\r\n\r\n`);
    this.#socket.write(body);
    this.#socket.uncork();
    return await response;
  }

  close(): void {
    this.#onError = () => undefined;
    this.#socket.destroy();
  }
}

function toResponse(headers: string): OverlayResponse {
  return {
    renderMs: Number(headerOf(headers, 'x-render-duration-ms')),
    steps: parseTiming(headerOf(headers, 'server-timing')),
  };
}

function headerOf(headers: string, name: string): string {
  const line = headers.split('\r\n').find((header) => header.toLowerCase().startsWith(`${name}:`));
  if (line === undefined) throw new Error(`the response has no ${name} header`);
  return line.slice(name.length + 1).trim();
}

function parseTiming(header: string): Record<string, number> {
  const steps = header.matchAll(/(?<step>\w+);dur=(?<ms>[\d.]+)/gu);
  return Object.fromEntries([...steps].map(({ groups }) => [groups?.['step'] ?? '', Number(groups?.['ms'])]));
}
