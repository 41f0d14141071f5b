// The real server as a child process, with a data directory of its own, asked over one connection that stays open.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/storybar.js', import.meta.url));
const BUILT = fileURLToPath(new URL('../../dist/main/cli.js', import.meta.url));
const BOUNDARY = 'storybar-benchmark-boundary';

export interface Answer {
  readonly png: Buffer;
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
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: { PORT: '0', STORYBAR_DATA_DIR: dataDirectory, STORYBAR_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { url, key } = await readWelcome(child);
  return {
    overlay: (body) => post(new URL('/v1/overlay', url), key, agent, body),
    close: async () => {
      agent.destroy();
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

async function post(url: URL, key: string, agent: Agent, body: Buffer): Promise<Answer> {
  const headers = {
    'x-api-key': key,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': body.length,
  };
  const sent = request(url, { method: 'POST', agent, headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const png = await buffer(response);
  if (response.statusCode !== 200) throw new Error(`the server answered ${response.statusCode}: ${png.toString()}`);
  return {
    png,
    renderMs: Number(response.headers['x-render-duration-ms']),
    steps: parseTiming(String(response.headers['server-timing'] ?? '')),
  };
}

function parseTiming(header: string): Record<string, number> {
  const steps = header.matchAll(/(?<step>\w+);dur=(?<ms>[\d.]+)/gu);
  return Object.fromEntries([...steps].map(({ groups }) => [groups?.['step'] ?? '', Number(groups?.['ms'])]));
}
