// The real server as a child process, with a data directory of its own, asked over one connection that stays open.

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

export interface Answer {
  /** `x-render-duration-ms`: from the last byte received to the finished file. */
  readonly renderMs: number;
  /** `server-timing`, by step. */
  readonly steps: Readonly<Record<string, number>>;
}

export interface Server {
  overlay(body: Buffer): Promise<Answer>;
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
  const { url, key } = await readWelcome(child);
  const line = new Line(new URL(url), key);
  return {
    overlay: (body) => line.post(body),
    close: async () => {
      line.close();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function readWelcome(child: ChildProcess): Promise<{ url: string; key: string }> {
  if (!child.stdout) throw new Error('the server has no output');
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url ??= /listens on (?<url>\S+)/u.exec(line)?.groups?.['url'];
    const key = /x-api-key: (?<key>\w+)/u.exec(line)?.groups?.['key'];
    if (url !== undefined && key !== undefined) return { url, key };
  }
  throw new Error('the server ended before it said where it listens');
}

/** Built once: what a client spends on its own form is not the server's time. */
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
 * One connection, one buffer. Node's own client takes longer over an answer of three megabytes than the server does, and
 * leaves garbage that is collected on somebody else's time.
 */
class Line {
  readonly #socket: Socket;
  readonly #url: URL;
  readonly #key: string;
  #onBytes: (bytes: Buffer) => void = () => undefined;
  #onBroken: (error: Error) => void = () => undefined;

  constructor(url: URL, key: string) {
    this.#url = url;
    this.#key = key;
    const read = (length: number, buffer: Uint8Array): boolean => {
      this.#onBytes(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      return true;
    };
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: read };
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true, onread });
    this.#socket.on('error', (error) => this.#onBroken(error));
    this.#socket.on('close', () => this.#onBroken(new Error('the server closed the connection')));
  }

  async post(body: Buffer): Promise<Answer> {
    const head = [
      `POST /v1/overlay HTTP/1.1`,
      `host: ${this.#url.host}`,
      `x-api-key: ${this.#key}`,
      `content-type: multipart/form-data; boundary=${BOUNDARY}`,
      `content-length: ${body.length}`,
    ];
    const answered = new Promise<Answer>((resolve, reject) => {
      this.#onBroken = reject;
      let headers = '';
      let left = Number.POSITIVE_INFINITY;
      this.#onBytes = (bytes) => {
        let length = bytes.length;
        if (left === Number.POSITIVE_INFINITY) {
          const before = headers.length;
          headers += bytes.toString('latin1');
          const end = headers.indexOf('\r\n\r\n');
          if (end < 0) return;
          headers = headers.slice(0, end);
          length -= end + 4 - before;
          left = Number(headerOf(headers, 'content-length'));
        }
        left -= length;
        if (left > 0) return;
        if (headers.startsWith('HTTP/1.1 200 ')) resolve(toAnswer(headers));
        else reject(new Error(`the server answered ${headers}`));
      };
    });
    this.#socket.cork();
    this.#socket.write(`${head.join('\r\n')}\r\n\r\n`);
    this.#socket.write(body);
    this.#socket.uncork();
    return await answered;
  }

  close(): void {
    this.#onBroken = () => undefined;
    this.#socket.destroy();
  }
}

function toAnswer(headers: string): Answer {
  return {
    renderMs: Number(headerOf(headers, 'x-render-duration-ms')),
    steps: parseTiming(headerOf(headers, 'server-timing')),
  };
}

function headerOf(headers: string, name: string): string {
  const line = headers.split('\r\n').find((one) => one.toLowerCase().startsWith(`${name}:`));
  if (line === undefined) throw new Error(`the server sent no ${name}`);
  return line.slice(name.length + 1).trim();
}

function parseTiming(header: string): Record<string, number> {
  const steps = header.matchAll(/(?<step>\w+);dur=(?<ms>[\d.]+)/gu);
  return Object.fromEntries([...steps].map(({ groups }) => [groups?.['step'] ?? '', Number(groups?.['ms'])]));
}
