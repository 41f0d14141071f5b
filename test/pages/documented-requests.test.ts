// Sends every request in the documentation: the examples of the reference in each language, and every curl command in the
// guides and the README.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY_PLACEHOLDER, type SnippetRequest, snippetsFor } from '../../src/site/browser/snippets.ts';
import { EXAMPLE_REQUESTS, EXAMPLE_URL, EXAMPLE_VIDEO_URL } from '../../src/site/example-requests.ts';
import { form, post } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { plainClip } from '../video/plain-clip.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const FILES_HOST = '127.0.0.2';
const DOCUMENTED_URL = 'http://127.0.0.1:8080';
const SIGNATURES: Readonly<Record<string, string>> = { '.png': '89504e47', '.jpg': 'ffd8ff', '.mp4': '00000020' };
const canRun = async (program: string, ...args: string[]): Promise<boolean> =>
  await run(program, args).then(
    () => true,
    () => false,
  );
/** True for languages that this machine can run. */
const IS_INSTALLED: Readonly<Record<string, boolean>> = {
  curl: await canRun('curl', '--version'),
  typescript: true,
  python: await canRun('python3', '-c', 'import httpx'),
  n8n: true,
};
const LANGUAGES = Object.entries(IS_INSTALLED).map(([language, installed]) => ({
  language,
  installed,
  title: installed ? language : `${language} (skipped, not installed)`,
}));

let server: SharedServer;
let folder: string;
/** The server of the file behind the URL in the examples. */
let files: Server;
beforeAll(async () => {
  server = await sharedServer();
  files = createServer(({ url }, response) => response.end(readFileSync(path.join(folder, path.basename(url ?? '')))));
  files.listen(0, FILES_HOST);
  await once(files, 'listening');
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-requests-'));
  for (const name of ['photo.jpg', 'subtitles.srt'])
    copyFileSync(path.join(ROOT, 'examples', name), path.join(folder, name));
  // The transcript is the first one in its guide.
  const guide = readFileSync(path.join(ROOT, 'docs/guides/word-captions.md'), 'utf8');
  const transcript = /^```json\n(?<json>[\s\S]*?)^```$/mu.exec(guide)?.groups?.['json'] ?? '';
  writeFileSync(path.join(folder, 'transcript.json'), transcript);
  // Some requests have the clip of the examples. Most have a small one, as long as the captions need it.
  copyFileSync(path.join(ROOT, 'examples/clip.mp4'), path.join(folder, 'clip.mov'));
  mkdirSync(path.join(folder, 'node_modules/@storybar'), { recursive: true });
  symlinkSync(path.join(ROOT, 'clients/typescript'), path.join(folder, 'node_modules/@storybar/client'));
  plainClip(path.join(folder, 'clip.mp4'), { frames: 96, timeBase: { num: 1, den: 24 } });
});
afterAll(async () => {
  files.close();
  rmSync(folder, { recursive: true, force: true });
});

const fileUrl = (name: string): string => `http://${FILES_HOST}:${(files.address() as AddressInfo).port}/${name}`;

/** Replaces the placeholders with this server's URL, key and files. */
const fillIn = (code: string): string =>
  code
    .replaceAll(KEY_PLACEHOLDER, server.key)
    .replaceAll(DOCUMENTED_URL, server.url)
    .replaceAll(EXAMPLE_URL, fileUrl('photo.jpg'))
    .replaceAll(EXAMPLE_VIDEO_URL, fileUrl('clip.mp4'))
    .replaceAll('examples/photo.jpg', 'photo.jpg')
    .replaceAll('examples/clip.mp4', 'clip.mp4');

/** Returns the first bytes of an output file and deletes the file. */
function takeSignature(name: string): string {
  const bytes = readFileSync(path.join(folder, name));
  rmSync(path.join(folder, name));
  return bytes.subarray(0, 4).toString('hex');
}

type Files = Pick<SnippetRequest, 'asset' | 'output'>;

const sendAsShell = async (code: string) => await run('sh', ['-c', code], { cwd: folder });

/** Runs the code of each language. */
const SENDERS: Readonly<Record<string, (code: string, request: Files) => Promise<unknown>>> = {
  curl: sendAsShell,
  typescript: async (code) => {
    writeFileSync(path.join(folder, 'request.mjs'), code);
    return await run(process.execPath, ['request.mjs'], { cwd: folder });
  },
  python: async (code) => {
    writeFileSync(path.join(folder, 'request.py'), code);
    const paths = [path.join(ROOT, 'clients/python/src'), process.env['PYTHONPATH'] ?? ''];
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: paths.join(path.delimiter) };
    return await run('python3', ['request.py'], { cwd: folder, env });
  },
  n8n: sendAsNode,
};

interface NodeParameters {
  readonly method: string;
  readonly url: string;
  readonly headerParameters: { readonly parameters: readonly { name: string; value: string }[] };
  readonly bodyParameters?: {
    readonly parameters: readonly { parameterType: string; name: string; value?: string }[];
  };
  readonly specifyBody?: string;
  readonly jsonBody?: string;
}

/** Sends the request that n8n would send for this node: text fields from the node, the file from the previous node. */
async function sendAsNode(code: string, { asset = '', output }: Files): Promise<void> {
  const { nodes } = JSON.parse(code) as { nodes: { type: string; parameters: NodeParameters }[] };
  const [node] = nodes;
  if (node === undefined) throw new Error('the workflow has no node');
  expect(node.type).toBe('n8n-nodes-base.httpRequest');
  const { method, url, headerParameters, bodyParameters, specifyBody, jsonBody } = node.parameters;
  const headers = Object.fromEntries(headerParameters.parameters.map(({ name, value }) => [name, value]));
  if (specifyBody === 'json') {
    const response = await fetch(url, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: jsonBody ?? '',
    });
    expect(response.status).toBe(200);
    writeFileSync(path.join(folder, output), Buffer.from(await response.arrayBuffer()));
    return;
  }
  const data = new FormData();
  for (const { parameterType, name, value = '' } of bodyParameters?.parameters ?? []) {
    // n8n reads a value that starts with = as an expression.
    expect(value.startsWith('=')).toBe(false);
    if (parameterType === 'formData') data.append(name, value);
    else data.append(name, new Blob([readFileSync(path.join(folder, asset))]), 'file');
  }
  const response = await fetch(url, { method, headers, body: data });
  expect(response.status).toBe(200);
  writeFileSync(path.join(folder, output), Buffer.from(await response.arrayBuffer()));
}

describe.each(LANGUAGES)('code in $title', ({ language, installed }) => {
  const codeOf = (request: SnippetRequest): string =>
    snippetsFor(request).find(({ id }) => id === language)?.code ?? '';

  it.skipIf(!installed).each(EXAMPLE_REQUESTS)('runs the example of the reference: $title', async ({ request }) => {
    await SENDERS[language]?.(fillIn(codeOf({ ...request, baseUrl: DOCUMENTED_URL })), request);
    expect(takeSignature(request.output)).toBe(SIGNATURES[path.extname(request.output)]);
  });

  const awkward = [`It's "5 o'clock" \\ $HOME \`x\` %s {{ 1 }}`, '@file;type=x', '<file', 'two\nlines 👨‍👩‍👧'];
  const captionLists = [[{ text: '=1+1' }], awkward.map((text) => ({ text }))];

  it.skipIf(!installed).each(captionLists)('sends the caption unchanged: $text', async (...overlays) => {
    const size = { width: 640, height: 640 };
    const request = { baseUrl: server.url, key: server.key, size, overlays, output: 'overlay.png' };
    await SENDERS[language]?.(codeOf(request), request);
    const sent = form({ width: '640', height: '640', overlays: JSON.stringify(overlays) });
    const expected = Buffer.from(await (await post(server, sent)).arrayBuffer());
    expect(readFileSync(path.join(folder, request.output)).equals(expected)).toBe(true);
  });
});

describe('the guides, the reference and the README', () => {
  /** Requests that need a bucket, a transcription service or files as large as those of a phone. Other tests send such ones. */
  const ELSEWHERE = new Set(['buckets.md', 'speech-captions.md', 'ready-to-post.md']);
  const documents = [
    ...readdirSync(path.join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`),
    'docs/api.md',
    'README.md',
  ];
  const languages: Readonly<Record<string, string>> = { sh: 'curl', ts: 'typescript', python: 'python' };
  const programs = documents.flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    return [...text.matchAll(/^```(?<fence>sh|ts|python)\n(?<code>[\s\S]*?)^```$/gmu)].flatMap(({ groups }) => {
      const { fence = '', code = '' } = groups ?? {};
      const language = languages[fence] ?? '';
      const output = /(?:-o |save\(['"])(?<output>[\w.-]+\.\w+)/u.exec(code)?.groups?.['output'] ?? '';
      return /\/v1\/overlay|\bStorybar\(/u.test(code) ? [{ file, language, code, output }] : [];
    });
  });
  const sent = programs.filter(({ file }) => !ELSEWHERE.has(path.basename(file)));
  /** curl saves the response of every other request. */
  const failing = sent.filter(({ language, output }) => language === 'curl' && output === '');

  it('have every request that saves a file as curl, TypeScript and Python', () => {
    const documentation = programs.filter(({ file, output }) => file.startsWith('docs/') && output !== '');
    expect(documentation.filter(({ language }) => language === 'curl').length).toBeGreaterThan(12);
    for (const file of new Set(documentation.map((program) => program.file))) {
      const count = (language: string): number =>
        documentation.filter((program) => program.file === file && program.language === language).length;
      expect([file, count('typescript')]).toEqual([file, count('python')]);
      expect(count('typescript')).toBeGreaterThanOrEqual(count('curl'));
    }
  });

  for (const { language, installed, title } of LANGUAGES) {
    const ofLanguage = sent.filter((program) => program.language === language && !failing.includes(program));
    it.skipIf(!installed).each(ofLanguage)(`have a request in ${title} that works: $file, $code`, async (program) => {
      await SENDERS[language]?.(fillIn(program.code), program);
      if (program.output === '') return;
      const signature = SIGNATURES[path.extname(program.output)];
      expect(takeSignature(program.output)).toMatch(new RegExp(`^${signature}`, 'u'));
    });
  }

  it.skipIf(IS_INSTALLED['curl'] !== true).each(failing)(
    'have a request whose errors are described: $file',
    async ({ code }) => {
      const { stdout } = await sendAsShell(fillIn(code));
      expect((JSON.parse(stdout) as { errors: unknown[] }).errors.length).toBeGreaterThan(1);
    },
  );
});

it('the API works with an OpenAPI client', async () => {
  interface paths {
    '/v1/overlay': {
      post: {
        requestBody: { content: { 'multipart/form-data': { width: number; height: number; text: string } } };
        responses: { 200: { content: { 'image/png': Blob } } };
      };
    };
  }
  const client = createClient<paths>({ baseUrl: server.url, headers: { 'x-api-key': server.key } });
  const { data: file, response } = await client.POST('/v1/overlay', {
    body: { width: 320, height: 200, text: 'hello' },
    parseAs: 'blob',
    bodySerializer: (body) => {
      const data = new FormData();
      for (const [name, value] of Object.entries(body)) data.append(name, String(value));
      return data;
    },
  });
  expect(response.status).toBe(200);
  expect(file?.type).toBe('image/png');
});
