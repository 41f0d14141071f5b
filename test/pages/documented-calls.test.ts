// Every call the documentation shows, sent for real: each language of the reference, and every curl of the guides.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Call, KEY_PLACEHOLDER, snippetsFor } from '../../src/dashboard/browser/snippets.ts';
import { DOCUMENTED_CALLS } from '../../src/dashboard/documented-calls.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const WRITTEN_URL = 'http://127.0.0.1:8080';
const SIGNATURES: Readonly<Record<string, string>> = { '.png': '89504e47', '.mp4': '00000020' };
const exists = async (program: string, ...args: string[]): Promise<boolean> =>
  await run(program, args).then(
    () => true,
    () => false,
  );
/** What has to be installed to send a call in this language. */
const HAS: Readonly<Record<string, boolean>> = {
  curl: await exists('curl', '--version'),
  javascript: true,
  python: await exists('python3', '-c', 'import requests'),
  n8n: true,
};
const LANGUAGES = Object.entries(HAS).map(([language, present]) => ({
  language,
  present,
  title: present ? language : `${language} (skipped, not installed)`,
}));

let server: RunningServer;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-calls-'));
  for (const name of ['photo.jpg', 'clip.mp4'])
    copyFileSync(path.join(ROOT, 'examples', name), path.join(folder, name));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** With our server's address, key and files, as a reader would put in theirs. */
const filledIn = (code: string): string =>
  code
    .replaceAll(KEY_PLACEHOLDER, server.key)
    .replaceAll(WRITTEN_URL, server.url)
    .replaceAll('examples/photo.jpg', 'photo.jpg')
    .replaceAll('clip.mov', 'clip.mp4');

/** The first bytes of the file that a call left; the file is then removed. */
function signatureOf(name: string): string {
  const bytes = readFileSync(path.join(folder, name));
  rmSync(path.join(folder, name));
  return bytes.subarray(0, 4).toString('hex');
}

const sendAsShell = async (code: string) => await run('sh', ['-c', code], { cwd: folder });

/** From the name of the program or file to the call, sent. */
const SENDERS: Readonly<Record<string, (code: string, call: Pick<Call, 'asset' | 'output'>) => Promise<unknown>>> = {
  curl: sendAsShell,
  javascript: async (code) => {
    writeFileSync(path.join(folder, 'call.mjs'), code);
    return await run(process.execPath, ['call.mjs'], { cwd: folder });
  },
  python: async (code) => {
    writeFileSync(path.join(folder, 'call.py'), code);
    return await run('python3', ['call.py'], { cwd: folder });
  },
  n8n: sendAsNode,
};

interface Node {
  readonly method: string;
  readonly url: string;
  readonly headerParameters: { readonly parameters: readonly { name: string; value: string }[] };
  readonly bodyParameters: {
    readonly parameters: readonly { parameterType: string; name: string; value?: string }[];
  };
}

/** What that node sends, by its own description: fields as text, the binary field from the item before it. */
async function sendAsNode(code: string, { asset = '', output }: Pick<Call, 'asset' | 'output'>): Promise<void> {
  const { nodes } = JSON.parse(code) as { nodes: { type: string; parameters: Node }[] };
  const [node] = nodes;
  if (node === undefined) throw new Error('there is no node');
  expect(node.type).toBe('n8n-nodes-base.httpRequest');
  const { method, url, headerParameters, bodyParameters } = node.parameters;
  const data = new FormData();
  for (const { parameterType, name, value = '' } of bodyParameters.parameters) {
    // A value that begins so is a formula there.
    expect(value.startsWith('=')).toBe(false);
    if (parameterType === 'formData') data.append(name, value);
    else data.append(name, new Blob([readFileSync(path.join(folder, asset))]), 'file');
  }
  const headers = Object.fromEntries(headerParameters.parameters.map(({ name, value }) => [name, value]));
  const response = await fetch(url, { method, headers, body: data });
  expect(response.status).toBe(200);
  writeFileSync(path.join(folder, output), Buffer.from(await response.arrayBuffer()));
}

describe.each(LANGUAGES)('in $title', ({ language, present }) => {
  const codeOf = (call: Call): string => snippetsFor(call).find(({ id }) => id === language)?.code ?? '';

  it.skipIf(!present).each(DOCUMENTED_CALLS)('the reference: $title', async ({ call }) => {
    await SENDERS[language]?.(filledIn(codeOf({ ...call, baseUrl: WRITTEN_URL })), call);
    expect(signatureOf(call.output)).toBe(SIGNATURES[path.extname(call.output)]);
  });

  const awkward = [`It's "5 o'clock" \\ $HOME \`x\` %s {{ 1 }}`, '@file;type=x', '<file', 'two\nlines 👨‍👩‍👧'];
  const lists = [[{ text: '=1+1' }], awkward.map((text) => ({ text }))];

  it.skipIf(!present).each(lists)('captions reach the server unchanged: $text', async (...overlays) => {
    const size = { width: 640, height: 640 };
    const call = { baseUrl: server.url, key: server.key, size, overlays, output: 'overlay.png' };
    await SENDERS[language]?.(codeOf(call), call);
    const sent = form({ width: '640', height: '640', overlays: JSON.stringify(overlays) });
    const wanted = Buffer.from(await (await post(server, sent)).arrayBuffer());
    expect(readFileSync(path.join(folder, call.output)).equals(wanted)).toBe(true);
  });
});

describe('the guides', () => {
  const documents = [...readdirSync(path.join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`), 'README.md'];
  const curls = documents.flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const blocks = [...text.matchAll(/^```sh\n(?<code>[\s\S]*?)^```$/gmu)].map((match) => match.groups?.['code'] ?? '');
    return blocks
      .filter((code) => code.includes('/v1/overlay'))
      .map((code) => ({ file, code, output: /-o (?<output>\S+)/u.exec(code)?.groups?.['output'] ?? '' }));
  });

  it('hold calls', () => {
    expect(curls.length).toBeGreaterThan(8);
  });

  it.skipIf(HAS['curl'] !== true).each(curls.filter(({ output }) => output !== ''))(
    'of $file: $code',
    async ({ code, output }) => {
      await sendAsShell(filledIn(code));
      expect(signatureOf(output)).toBe(SIGNATURES[path.extname(output)]);
    },
  );

  it.skipIf(HAS['curl'] !== true)('and one that has as many faults as it says', async () => {
    const [faulty, ...others] = curls.filter(({ output }) => output === '');
    expect(others).toEqual([]);
    const { stdout } = await sendAsShell(filledIn(faulty?.code ?? ''));
    expect((JSON.parse(stdout) as { errors: unknown[] }).errors).toHaveLength(3);
  });
});

it('a client made for OpenAPI can call it', async () => {
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
