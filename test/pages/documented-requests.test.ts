// Sends every request in the documentation: the examples of the reference in each language, and every curl command in the
// guides and the README.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY_PLACEHOLDER, type SnippetRequest, snippetsFor } from '../../src/dashboard/browser/snippets.ts';
import { EXAMPLE_REQUESTS, EXAMPLE_URL } from '../../src/dashboard/example-requests.ts';
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
  javascript: true,
  python: await canRun('python3', '-c', 'import requests'),
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
  files = createServer((_request, response) => response.end(readFileSync(path.join(ROOT, 'examples/photo.jpg'))));
  files.listen(0, FILES_HOST);
  await once(files, 'listening');
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-requests-'));
  for (const name of ['photo.jpg', 'subtitles.srt'])
    copyFileSync(path.join(ROOT, 'examples', name), path.join(folder, name));
  // Some requests have the clip of the examples. Most have a small one, as long as the captions need it.
  copyFileSync(path.join(ROOT, 'examples/clip.mp4'), path.join(folder, 'clip.mov'));
  plainClip(path.join(folder, 'clip.mp4'), { frames: 96, timeBase: { num: 1, den: 24 } });
});
afterAll(async () => {
  files.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Replaces the placeholders with this server's URL, key and files. */
const fillIn = (code: string): string =>
  code
    .replaceAll(KEY_PLACEHOLDER, server.key)
    .replaceAll(DOCUMENTED_URL, server.url)
    .replaceAll(EXAMPLE_URL, `http://${FILES_HOST}:${(files.address() as AddressInfo).port}/photo.jpg`)
    .replaceAll('examples/photo.jpg', 'photo.jpg');

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
  javascript: async (code) => {
    writeFileSync(path.join(folder, 'request.mjs'), code);
    return await run(process.execPath, ['request.mjs'], { cwd: folder });
  },
  python: async (code) => {
    writeFileSync(path.join(folder, 'request.py'), code);
    return await run('python3', ['request.py'], { cwd: folder });
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

describe('the guides and the README', () => {
  const documents = [...readdirSync(path.join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`), 'README.md'];
  const curls = documents.flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const blocks = [...text.matchAll(/^```sh\n(?<code>[\s\S]*?)^```$/gmu)].map((match) => match.groups?.['code'] ?? '');
    return blocks
      .filter((code) => code.includes('/v1/overlay'))
      .map((code) => ({ file, code, output: /-o (?<output>\S+)/u.exec(code)?.groups?.['output'] ?? '' }));
  });

  it('the guides and the README contain at least nine requests', () => {
    expect(curls.length).toBeGreaterThan(8);
  });

  it.skipIf(IS_INSTALLED['curl'] !== true).each(curls.filter(({ output }) => output !== ''))(
    'the guides and the README contain a request that works: $file, $code',
    async ({ code, output }) => {
      await sendAsShell(fillIn(code));
      expect(takeSignature(output)).toMatch(new RegExp(`^${SIGNATURES[path.extname(output)]}`, 'u'));
    },
  );

  it.skipIf(IS_INSTALLED['curl'] !== true)(
    'the guides and the README contain one invalid request, with the three errors that the text announces',
    async () => {
      const [invalid, ...others] = curls.filter(({ output }) => output === '');
      expect(others).toEqual([]);
      const { stdout } = await sendAsShell(fillIn(invalid?.code ?? ''));
      expect((JSON.parse(stdout) as { errors: unknown[] }).errors).toHaveLength(3);
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
