// Tests the built program over both transports, with the client of the official SDK and the real service.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const PROGRAM = path.resolve(import.meta.dirname, '../dist/cli.js');
const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');
const FONT = path.resolve(
  import.meta.dirname,
  '../../../node_modules/@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf',
);
const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing. Run \`npm run test:clients\` in the repository.`);
  return value;
};

const outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'storybar-mcp-')));
const directory = path.join(outside, 'allowed');
const env = {
  PATH: process.env['PATH'] ?? '',
  STORYBAR_URL: setting('TESTS_URL'),
  STORYBAR_API_KEY: setting('TESTS_KEY'),
  STORYBAR_MCP_DIRECTORY: directory,
};
mkdirSync(directory);
for (const file of ['photo.jpg', 'clip.mp4']) cpSync(path.join(EXAMPLES, file), path.join(directory, file));
cpSync(path.join(EXAMPLES, 'photo.jpg'), path.join(outside, 'secret.jpg'));
symlinkSync(path.join(outside, 'secret.jpg'), path.join(directory, 'innocent.jpg'));
after(() => rmSync(outside, { recursive: true }));

async function startHttp(
  args: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [PROGRAM, '--http', '0', ...args], {
    env: { ...env, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let printed = '';
    child.once('close', (code) => reject(new Error(`The server exited with ${code}: ${printed}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const found = /Listening on (\S+)/u.exec(printed)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, url };
}

const http = await startHttp();
after(() => http.child.kill());

/** Uploads a font and a logo, and returns their ids. */
async function savedFiles(): Promise<{ font: string; logo: string }> {
  const upload = async (kind: string, file: string, fields: Readonly<Record<string, string>> = {}): Promise<string> => {
    const body = new FormData();
    body.set('asset', new Blob([readFileSync(file)]), 'file');
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const headers = { 'x-api-key': setting('TESTS_KEY') };
    const response = await fetch(`${setting('TESTS_URL')}/v1/${kind}`, { method: 'POST', headers, body });
    assert.equal(response.status, 201);
    return ((await response.json()) as { id: string }).id;
  };
  return {
    font: await upload('fonts', FONT, { license_confirmed: 'true' }),
    logo: await upload('logos', path.join(EXAMPLES, 'photo.jpg')),
  };
}

const TRANSPORTS = {
  stdio: () => new StdioClientTransport({ command: process.execPath, args: [PROGRAM], env }),
  'streamable HTTP': () => new StreamableHTTPClientTransport(new URL(http.url)),
};

for (const [name, transport] of Object.entries(TRANSPORTS)) {
  describe(`over ${name}`, () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    before(async () => await client.connect(transport()));
    after(async () => await client.close());
    const call = async (tool: string, args: Record<string, unknown>): Promise<CallToolResult> =>
      await client.callTool({ name: tool, arguments: args });

    test('lists the tools with what they need and return', async () => {
      const { tools } = await client.listTools();
      const names = tools.map((tool) => tool.name);
      assert.deepEqual(names.toSorted(), [
        'caption_image',
        'caption_video',
        'get_video',
        'list_styles',
        'preview_layout',
        'read_usage',
        'render_captions',
      ]);
      const image = tools.find((tool) => tool.name === 'caption_image');
      assert.deepEqual(Object.keys(image?.inputSchema.properties ?? {}), [
        'file',
        'url',
        'text',
        'overlays',
        'lang',
        'style',
        'font',
        'logo',
        'safe_area',
        'format',
        'quality',
        'fit',
        'width',
        'height',
        'max_bytes',
        'put_url',
      ]);
      assert.equal(tools.find((tool) => tool.name === 'read_usage')?.annotations?.readOnlyHint, true);
    });

    test('links to a large image that it saved in the allowed folder', async () => {
      const { content, structuredContent } = await call('caption_image', { file: 'photo.jpg', text: 'Golden hour' });
      assert.deepEqual(
        content.map(({ type }) => type),
        ['text', 'resource_link'],
      );
      const { file, bytes } = structuredContent as { file: string; bytes: number };
      assert.equal(path.dirname(file), directory);
      assert.equal(readFileSync(file).length, bytes);
      assert.ok(content.some((item) => item.type === 'resource_link' && item.uri === `file://${file}`));
    });

    test('returns a small image itself, from a URL', async () => {
      const url = `${setting('STORYBAR_STAND_IN_URL')}/files/small.png`;
      const { content } = await call('caption_image', { url, overlays: [{ text: 'Small', position: 80 }] });
      const image = content.find((item) => item.type === 'image');
      assert.equal(image?.mimeType, 'image/png');
      assert.equal(
        Buffer.from(image?.data ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
        'PNG',
      );
    });

    test('uses the style, safe area and format that the assistant asks for', async () => {
      const look = { style: 'box', safe_area: 'reels', format: 'jpeg' };
      const { structuredContent } = await call('caption_image', { file: 'photo.jpg', text: 'Golden hour', ...look });
      assert.equal((structuredContent as { content_type: string }).content_type, 'image/jpeg');
    });

    test('lists the saved styles, which captions can use by name', async () => {
      const headers = { 'x-api-key': setting('TESTS_KEY'), 'content-type': 'application/json' };
      const style = { method: 'PUT', headers, body: JSON.stringify({ preset: 'box', color: '#ffcc00' }) };
      assert.equal((await fetch(`${setting('TESTS_URL')}/v1/styles/mcp-brand`, style)).status, 200);
      const { structuredContent } = await call('list_styles', {});
      const { styles } = structuredContent as { styles: { name: string }[] };
      assert.ok(styles.some((saved) => saved.name === 'mcp-brand'));
      const branded = await call('caption_image', { file: 'photo.jpg', text: 'Golden hour', style: 'mcp-brand' });
      assert.equal(branded.isError, undefined);
      const unknown = await call('caption_image', { file: 'photo.jpg', text: 'Golden hour', style: 'mcp-brant' });
      assert.equal(unknown.isError, true);
      assert.match(JSON.stringify(unknown.content), /mcp-brand/u);
    });

    test('lists the fonts and logos of the account, which captions can use by their ids', async () => {
      const { font, logo } = await savedFiles();
      const { structuredContent } = await call('list_styles', {});
      const listed = structuredContent as Record<'fonts' | 'logos', { id: string; family?: string }[]>;
      assert.equal(listed.fonts.find(({ id }) => id === font)?.family, 'Bangers');
      assert.ok(listed.logos.some(({ id }) => id === logo));
      const branded = { file: 'photo.jpg', text: 'Golden hour', font, logo };
      assert.equal((await call('caption_image', branded)).isError, undefined);
      const layout = await call('preview_layout', { width: 300, height: 400, text: 'Golden hour', style: 'box', font });
      assert.match(JSON.stringify(layout.structuredContent), new RegExp(`"fonts":\\["${font}"`, 'u'));
      const unknown = await call('caption_image', { ...branded, font: 'comic' });
      assert.equal(unknown.isError, true);
      assert.match(JSON.stringify(unknown.content), /bangers/u);
    });

    test('puts subtitles on a video', async () => {
      const captions = '1\n00:00:00,000 --> 00:00:01,000\nHello\n';
      const { isError, structuredContent } = await call('caption_video', { file: 'clip.mp4', captions });
      assert.equal(isError, undefined);
      assert.equal((structuredContent as { content_type: string }).content_type, 'video/mp4');
    });

    test('brings an image to a size and a number of bytes', async () => {
      const size = { fit: 'blur', width: 540, height: 960, format: 'jpeg', max_bytes: 30_000 };
      const { structuredContent } = await call('caption_image', { file: 'photo.jpg', text: 'Golden hour', ...size });
      assert.ok((structuredContent as { bytes: number }).bytes <= 30_000);
    });

    test('returns a cover of a video', async () => {
      const { structuredContent } = await call('caption_video', {
        file: 'clip.mp4',
        text: 'Cover',
        at: 0.2,
        format: 'jpeg',
      });
      const { file, content_type } = structuredContent as { file: string; content_type: string };
      assert.match(file, /clip-captioned(?:-\d+)?\.jpg$/u);
      assert.equal(content_type, 'image/jpeg');
    });

    test('renders captions alone, as an image and as a video', async () => {
      const captions = { width: 64, height: 96, text: 'Alone' };
      const types = [];
      for (const more of [{}, { duration: 1, fps: 5 }, { duration: 1, fps: 5, format: 'apng' }]) {
        const { structuredContent } = await call('render_captions', { ...captions, ...more });
        types.push((structuredContent as { content_type: string }).content_type);
      }
      assert.deepEqual(types, ['image/png', 'video/webm', 'image/apng']);
    });

    test('sends the result to a bucket instead of saving it', async () => {
      const put_url = `${setting('STORYBAR_STAND_IN_URL')}/bucket/${name.replace(' ', '-')}.png`;
      const { structuredContent } = await call('caption_image', { file: 'photo.jpg', text: 'Sent', put_url });
      const { file, bytes, put_status } = structuredContent as { file?: string; bytes: number; put_status: number };
      assert.deepEqual([file, put_status], [undefined, 200]);
      assert.equal((await (await fetch(put_url)).arrayBuffer()).byteLength, bytes);
    });

    test('captions a video and links to it', async () => {
      const { content } = await call('caption_video', { file: 'clip.mp4', text: 'Wait for it' });
      const link = content.find((item) => item.type === 'resource_link');
      assert.equal(link?.mimeType, 'video/mp4');
      assert.match(link?.uri ?? '', /clip-captioned(?:-\d+)?\.mp4$/u);
    });

    test('reports the progress of a video with captions of their own times, and saves it under a new name', async () => {
      const overlays = [
        { text: 'First', end: 0.5 },
        { text: 'Then', position: 80, start: 0.5 },
      ];
      const progress: number[] = [];
      const args = { name: 'caption_video', arguments: { file: 'clip.mp4', overlays } };
      const onprogress = (report: { progress: number }): void => void progress.push(report.progress);
      const results = await Promise.all([client.callTool(args, { onprogress }), client.callTool(args)]);
      const files = results.map(({ structuredContent }) => (structuredContent as { file: string }).file);
      assert.equal(new Set(files).size, 2);
      assert.equal(progress.at(-1), 1);
    });

    test('says what to send in place of unknown and missing arguments', async () => {
      const wrong = [
        [{ file: 'photo.jpg', caption: 'Hi' }, /There is no argument caption\. The arguments are: file, url, text,/u],
        [{ text: 'Hi' }, /Send `file`, a path in the allowed folder, or `url`/u],
        [{ file: 'photo.jpg' }, /Send either `text` or `overlays`/u],
      ] as const;
      for (const [args, expected] of wrong) {
        const outcome = await call('caption_image', args).catch((error: unknown) => String(error));
        assert.match(typeof outcome === 'string' ? outcome : JSON.stringify(outcome.content), expected);
      }
    });

    test('previews a layout and reads usage', async () => {
      const layout = await call('preview_layout', { width: 1080, height: 1920, text: 'Golden hour', duration: 11 });
      assert.equal((layout.structuredContent as { credits: number }).credits, 3);
      const usage = await call('read_usage', {});
      const { credits } = usage.structuredContent as { credits: { limit: number } };
      assert.equal(credits.limit, 50_000);
    });

    test('explains every fault of a request that the service refuses', async () => {
      const { isError, content } = await call('caption_image', {
        file: 'photo.jpg',
        overlays: [{ text: ' ' }, { text: '' }],
      });
      assert.equal(isError, true);
      const [text] = content;
      assert.ok(
        text?.type === 'text' && text.text.includes('#/overlays/0/text') && text.text.includes('#/overlays/1/text'),
      );
    });

    test('refuses files outside the allowed folder, however they are named', async () => {
      const paths = [
        '../secret.jpg',
        path.join(outside, 'secret.jpg'),
        'innocent.jpg',
        '/etc/passwd',
        '.',
        'missing.jpg',
      ];
      for (const file of paths) {
        const { isError, content } = await call('caption_image', { file, text: 'Secret' });
        assert.equal(isError, true, file);
        assert.deepEqual(content, [
          { type: 'text', text: `There is no file "${file}" in ${directory}. Only files in this folder can be used.` },
        ]);
      }
    });
  });
}

async function statusOf(headers: Record<string, string>, target = '/mcp', at = http.url): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(target, at), { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
  });
}

test('refuses requests over HTTP that name another host or come from a page of another site', async () => {
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  assert.equal(await statusOf(usual), 200);
  assert.equal(await statusOf({ ...usual, origin: 'http://localhost:3000' }), 200);
  assert.equal(await statusOf({ ...usual, host: 'rebound.example.com' }), 403);
  assert.equal(await statusOf({ ...usual, origin: 'https://evil.example.com' }), 403);
  assert.equal(await statusOf(usual, '/'), 404);
});

test('serves other machines only with the token', async () => {
  const token = 'a-token-of-at-least-24-characters';
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const { child, url } = await startHttp(['--host', '0.0.0.0'], { STORYBAR_MCP_TOKEN: token });
  try {
    const at = url.replace('0.0.0.0', '127.0.0.1');
    assert.equal(await statusOf(usual, '/mcp', at), 401);
    assert.equal(await statusOf({ ...usual, authorization: 'Bearer wrong' }, '/mcp', at), 401);
    const allowed = { ...usual, authorization: `Bearer ${token}`, host: 'mcp.example.com' };
    assert.equal(await statusOf(allowed, '/mcp', at), 200);
  } finally {
    child.kill();
  }
  for (const weak of ['', 'short']) {
    await assert.rejects(startHttp(['--host', '0.0.0.0'], { STORYBAR_MCP_TOKEN: weak }), /STORYBAR_MCP_TOKEN/u);
  }
});

test('returns the id of a video that takes long, which a second tool waits for until the assistant gives up', async () => {
  const [hasty, patient] = await Promise.all(['1', '45'].map(async (seconds) => await connectedClient(seconds)));
  assert.ok(hasty && patient);
  try {
    // The file arrives so slowly that the render waits for it.
    const url = `${setting('STORYBAR_STAND_IN_URL')}/files/endless.jpg`;
    // The official client gives up after a minute even if progress is reported, so this returns an id, too.
    const args = { name: 'caption_video', arguments: { url, text: 'Endless' } };
    const started = await hasty.callTool(args, { onprogress: () => undefined });
    const { render_id: id } = started.structuredContent as { render_id: string };
    const controller = new AbortController();
    const waiting = patient.callTool(
      { name: 'get_video', arguments: { id } },
      { signal: controller.signal, onprogress: () => controller.abort(new Error('Enough.')) },
    );
    await assert.rejects(waiting);
    const headers = { 'x-api-key': setting('TESTS_KEY') };
    const response = await fetch(`${setting('TESTS_URL')}/v1/renders/${id}?wait=20`, { headers });
    assert.equal(((await response.json()) as { status: string }).status, 'canceled');
  } finally {
    await Promise.all([hasty.close(), patient.close()]);
  }
});

/** A client of a server that waits so long for videos. */
async function connectedClient(waitSeconds: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const variables = { ...env, STORYBAR_MCP_WAIT_SECONDS: waitSeconds };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM], env: variables }));
  return client;
}

test('names the settings that are missing, and exits', async () => {
  const child = spawn(process.execPath, [PROGRAM], { env: { PATH: env.PATH }, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 1);
  for (const name of ['STORYBAR_URL', 'STORYBAR_API_KEY', 'STORYBAR_MCP_DIRECTORY'])
    assert.match(printed, new RegExp(`${name}:`, 'u'));
});
