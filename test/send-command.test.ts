// `storybar send` as the built program, against a running server, and against a server that misbehaves.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from './free-port.ts';
import { noisyJpeg } from './pictures.ts';
import { type CommandResult, runCommand } from './run-command.ts';
import { embeddedDatabase } from './running-database.ts';
import { form, post, type RunningServer, startServer, until } from './running-server.ts';
import { type SharedServer, sharedServer } from './shared-server.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../bin/storybar.js');

interface Run {
  readonly child: ChildProcess;
  readonly printed: { stdout: Buffer; stderr: string };
  readonly ended: Promise<{ code: number | null; stdout: Buffer; stderr: string }>;
}

interface Sent {
  readonly id: string;
  readonly status: string;
  readonly credits: number;
  readonly file: string;
  readonly output: { readonly bytes: number } | null;
}

let folder: string;
let server: SharedServer;
let photo: Buffer;
const stops: (() => void)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-send-'));
  photo = await noisyJpeg(300, 200);
  writeFileSync(path.join(folder, 'photo.jpg'), photo);
  writeFileSync(path.join(folder, 'broken.jpg'), photo.subarray(0, 200));
  server = await sharedServer();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Runs the command in a process of its own, for tests about signals, binary output and how the process ends. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = access(server)): Run {
  const environment = { PATH: process.env['PATH'] ?? '', ...env };
  const child = spawn(process.execPath, [PROGRAM, 'send', ...args], { cwd: folder, env: environment });
  const printed = { stdout: Buffer.alloc(0), stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (printed.stdout = Buffer.concat([printed.stdout, chunk])));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  const ended = new Promise<{ code: number | null; stdout: Buffer; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...printed }));
  });
  return { child, printed, ended };
}

async function send(args: readonly string[], env = access(server)): Promise<CommandResult> {
  return await runCommand(['send', ...args], { env, cwd: folder });
}

function access({ url, key }: Pick<RunningServer, 'url' | 'key'>): Record<string, string> {
  return { STORYBAR_URL: url, STORYBAR_API_KEY: key };
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const http: Server = createServer(handle);
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function statusOf(id: string, { url, key }: Pick<RunningServer, 'url' | 'key'> = server): Promise<string> {
  const response = await fetch(`${url}/v1/renders/${id}`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as Sent).status;
}

describe('storybar send', () => {
  it('uploads a file, waits, and saves next to it what a request that waits would return', async () => {
    const { code, stdout, stderr } = await start(['photo.jpg', '--text', 'Hello', '--safe-area', 'none']).ended;
    expect([code, stdout.toString()]).toEqual([0, '']);
    expect(stderr).toMatch(/^Uploading photo\.jpg\n/u);
    expect(stderr).toMatch(/photo-captioned\.png: 300x200, \d+ bytes, 1 credit\n$/u);
    const waiting = await post(server, form({ asset: photo, text: 'Hello' }));
    const saved = readFileSync(path.join(folder, 'photo-captioned.png'));
    expect(saved.equals(Buffer.from(await waiting.arrayBuffer()))).toBe(true);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('lets the server fetch a URL, and prints only JSON with --json', async () => {
    const files = await listen((_request, response) => response.end(photo));
    const args = [`${files}/beach.jpg`, '--text', 'Hello', '--format', 'jpeg', '--json'];
    const { code, stdout, stderr } = await send([...args, '--url', server.url, '--key', server.key], {});
    expect([code, stderr]).toEqual([0, '']);
    const sent = JSON.parse(stdout) as Sent;
    expect(sent).toMatchObject({ status: 'succeeded', credits: 1, file: 'beach-captioned.jpg' });
    expect(readFileSync(path.join(folder, sent.file))).toHaveLength(sent.output?.bytes ?? 0);
  });

  it('uploads only with --no-wait, and downloads with --resume', async () => {
    const uploaded = await send(['--width', '64', '--height', '32', '--text', 'Hello', '--no-wait']);
    expect(uploaded.code).toBe(0);
    const id = uploaded.stdout.trim();
    expect(id).toMatch(/^[\da-f-]{36}$/u);
    const resumed = await start(['--resume', id, '-o', '-']).ended;
    expect([resumed.code, resumed.stdout.subarray(1, 4).toString()]).toEqual([0, 'PNG']);
    const named = await send(['--resume', id]);
    expect([named.code, existsSync(path.join(folder, `${id}.png`))]).toEqual([0, true]);
  });

  it.each([
    [['photo.jpg', '--text', 'a'], {}, 64, 'STORYBAR_URL'],
    [['photo.jpg', '--text', 'a', '--url', 'localhost'], {}, 64, 'got "localhost"'],
    [['photo.jpg', '--text', 'a', '--key', ''], undefined, 64, 'STORYBAR_API_KEY'],
    [['photo.jpg', '--text', 'a', '--key', 'sb_live_ä'], undefined, 64, 'characters'],
    [['photo.jpg', '--text', 'a', '--key', 'sb_live_wrong'], undefined, 77, 'key'],
    [['photo.jpg'], undefined, 65, 'text'],
    [['none.jpg', '--text', 'a'], undefined, 65, 'File none.jpg not found'],
    [['.', '--text', 'a'], undefined, 64, "isn't a file"],
    [['photo.jpg', '--text', 'a', '--position', '101', '--lang', '?'], undefined, 65, 'position'],
    [['broken.jpg', '--text', 'a'], undefined, 65, 'decode'],
    [['photo.jpg', '--text', 'a', '-o', 'no/such/folder.png'], undefined, 64, 'storybar send --resume'],
    [['--resume', '00000000-0000-4000-8000-000000000000'], undefined, 65, 'Render not found'],
    [['photo.jpg', '--resume', 'x'], undefined, 64, '--resume'],
    [['photo.jpg', 'photo.jpg', '--text', 'a'], undefined, 64, 'one asset at a time'],
    [['photo.jpg', '--txet', 'a'], undefined, 64, '--txet'],
  ] as const)('%j exits with the right code and says why', async (args, env, code, message) => {
    const result = await send(args, env);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it('reports errors as JSON with --json', async () => {
    const { code, stderr } = await send(['photo.jpg', '--text', '', '--overlays', '[{}]', '--json']);
    expect(code).toBe(65);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'invalid_fields' } });
  });

  it('describes itself with --help', async () => {
    const { code, stdout } = await send(['--help'], {});
    expect([code, stdout]).toEqual([0, expect.stringContaining('--resume <render id>')]);
  });

  it('says how to continue after Ctrl-C, and the render goes on until it is canceled', async () => {
    let finish = (): void => undefined;
    const files = await listen((_request, response) => {
      finish = () => void response.end(photo);
    });
    const run = start([`${files}/slow.jpg`, '--text', 'Hello']);
    const id = await until(() => /Accepted as (\S+)/u.exec(run.printed.stderr)?.[1]);
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining(`storybar send --resume ${id}`)]);
    expect(['queued', 'rendering']).toContain(await statusOf(id));
    const canceled = await send(['--cancel', id]);
    expect([canceled.code, canceled.stdout]).toEqual([0, `${id} has the status canceled.\n`]);
    expect(await statusOf(id)).toBe('canceled');
    const again = await send(['--cancel', id]);
    expect(again.stdout).toContain('Nothing was changed');
    expect(await send(['--resume', id])).toMatchObject({ code: 69, stderr: expect.stringContaining('was canceled') });
    finish();
  });

  it('goes on when the server is killed and restarted while it waits', async () => {
    const database = embeddedDatabase();
    const env = { ...database.env, STORYBAR_FETCH_ALLOW: '127.0.0.1', PORT: String(await freePort()) };
    let isReady = false;
    const files = await listen((_request, response) => {
      // The first server never gets the file.
      if (isReady) response.end(photo);
    });
    const first = await startServer(env);
    const run = start([`${files}/restart.jpg`, '--text', 'Hello', '-o', 'restarted.png'], access(first));
    const id = await until(() => /Accepted as (\S+)/u.exec(run.printed.stderr)?.[1]);
    first.signal('SIGKILL');
    await first.exited;
    await until(() => run.printed.stderr.includes('Trying again in'));
    isReady = true;
    const second = await startServer(env);
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('restarted.png: 300x200')]);
    expect(await statusOf(id, { url: second.url, key: first.key })).toBe('succeeded');
    await second.stop();
    await database.remove();
  });
});

describe('storybar send, when the server misbehaves', () => {
  const RENDER = { id: 'r1', status: 'succeeded', progress: 1, credits: 1, warnings: [], error: null };
  const json = (response: ServerResponse, status: number, body: object, headers = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  const problem = (code: string, status: number) => ({ status, code, detail: `Stand-in: ${code}.` });

  it('repeats an upload as retry-after says, with the same idempotency key, also after a broken connection', async () => {
    const keys: unknown[] = [];
    const lengths: number[] = [];
    const url = await listen((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method === 'GET') return json(response, 200, { ...RENDER, status: 'canceled', output: null });
        lengths.push(Buffer.concat(chunks).indexOf(photo));
        keys.push(request.headers['idempotency-key']);
        if (keys.length === 1) return json(response, 503, problem('overloaded', 503), { 'retry-after': '0' });
        if (keys.length === 2) return response.destroy();
        return json(response, 202, { ...RENDER, status: 'queued', output: null });
      });
    });
    const env = access({ url, key: 'k' });
    const { stderr } = await send(['photo.jpg', '--text', 'Hello', '--idempotency-key', 'mine'], env);
    expect(keys).toEqual(['mine', 'mine', 'mine']);
    expect(lengths.every((at) => at > 0)).toBe(true);
    expect(stderr).toContain('Stand-in: overloaded. Trying again in 0 s.');
    expect(stderr).toContain('Accepted as r1');
  });

  it.each([
    ['quota_exceeded', 429, '1', 69],
    ['rate_limited', 429, '86400', 69],
    ['a_code_of_the_future', 403, '1', 77],
  ])('does not repeat %s with status %i and retry-after %s', async (code, status, retryAfter, exit) => {
    let requests = 0;
    const url = await listen((request, response) => {
      requests += 1;
      request.resume().on('end', () => json(response, status, problem(code, status), { 'retry-after': retryAfter }));
    });
    const result = await send(['photo.jpg', '--text', 'a', '--json'], access({ url, key: 'k' }));
    expect([result.code, JSON.parse(result.stderr), requests]).toMatchObject([exit, { error: { code } }, 1]);
  });

  it('continues a broken download where it ended', async () => {
    const ranges: unknown[] = [];
    const keys: unknown[] = [];
    const url = await listen((request, response) => {
      const output = { url: `${url}/file.jpg`, bytes: photo.length, width: 300, height: 200 };
      if (request.url?.startsWith('/v1/') === true) return json(response, 200, { ...RENDER, output });
      ranges.push(request.headers.range);
      keys.push(request.headers['x-api-key']);
      if (ranges.length === 1) {
        response.writeHead(200, { 'content-length': photo.length });
        response.write(photo.subarray(0, 1_000), () => setTimeout(() => response.destroy(), 50));
        return undefined;
      }
      const from = Number(/\d+/u.exec(request.headers.range ?? '')?.[0]);
      return response.writeHead(206, { 'content-length': photo.length - from }).end(photo.subarray(from));
    });
    const { code } = await send(['--resume', 'r1', '-o', 'continued.jpg'], access({ url, key: 'k' }));
    expect([code, ranges, keys]).toEqual([0, [undefined, 'bytes=1000-'], [undefined, undefined]]);
    expect(readFileSync(path.join(folder, 'continued.jpg')).equals(photo)).toBe(true);
  });

  it.each([
    ['an address where nothing listens', undefined],
    ['a server of another kind', (_request: IncomingMessage, response: ServerResponse) => response.end('<html>')],
  ])('gives up at %s, and says how to repeat the request', async (_name, handle) => {
    const url = handle ? await listen(handle) : `http://127.0.0.1:${await freePort()}`;
    const result = await send(['photo.jpg', '--text', 'a'], access({ url, key: 'k' }));
    expect(result.code).toBe(69);
    expect(result.stderr).toMatch(
      handle ? /isn't a Storybar server/u : /Cannot reach .*--idempotency-key [\da-f-]{36}/u,
    );
  });

  it('replaces control characters in what the server says', async () => {
    const url = await listen((request, response) => {
      const detail = 'red \u001b[31m text';
      request.resume().on('end', () => json(response, 400, { ...problem('invalid_fields', 400), detail }));
    });
    const { stderr } = await send(['photo.jpg', '--text', 'a'], access({ url, key: 'k' }));
    expect(stderr).toContain('red ?[31m text');
  });
});
