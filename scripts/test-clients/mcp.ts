import { spawn } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../test/free-port.ts';
import { plainClip } from '../../test/video/plain-clip.ts';
import { must } from '../../src/shared/must.ts';
import { clientFolder, type Environment, inEmptyFolder, installAndTest, run } from './package.ts';
import { programsOf, readmeVariables, stop } from './readme.ts';

interface ClientSettings {
  readonly mcpServers: { readonly storybar: { readonly command: string; readonly args: readonly string[] } };
}

/** The message as an assistant sends it. */
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const READY = { jsonrpc: '2.0', method: 'notifications/initialized' };
const CAPTION = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'caption_image', arguments: { file: 'photo.jpg', text: 'Golden hour' } },
};

/** A video that takes longer than clients wait for a request, unless they ask for progress. */
const LONG_VIDEO = {
  jsonrpc: '2.0',
  id: 3,
  method: 'tools/call',
  params: {
    name: 'caption_video',
    arguments: { file: 'long.mp4', text: 'Golden hour' },
    _meta: { progressToken: 'long' },
  },
};

export async function testMcp(env: Environment): Promise<void> {
  // The server contains the TypeScript client.
  await buildTypeScriptClient();
  await installAndTest('mcp', env);
  await inEmptyFolder('mcp', async (folder) => {
    const directory = path.join(folder, 'captions');
    cpSync(path.join(folder, 'photo.jpg'), path.join(directory, 'photo.jpg'));
    plainClip(path.join(directory, 'long.mp4'), { frames: 900, timeBase: { num: 1, den: 10 }, isStill: true });
    const variables = { ...readmeVariables(env), STORYBAR_MCP_DIRECTORY: directory };
    await checkStdio(folder, variables);
    await checkHttp(folder, variables);
  });
}

async function buildTypeScriptClient(): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts', '--silent', '--no-audit', '--no-fund'], clientFolder('typescript'));
  await run('npm', ['run', '--silent', 'build'], clientFolder('typescript'));
}

/** Starts the installed server with the settings of the README. */
async function checkStdio(cwd: string, variables: Environment): Promise<void> {
  const { command, args } = (JSON.parse(must(programsOf('mcp', 'json')[0], 'settings')) as ClientSettings).mcpServers
    .storybar;
  const server = spawn(command, args, {
    cwd,
    env: { ...process.env, ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  for (const message of [HELLO, READY, CAPTION, LONG_VIDEO]) server.stdin.write(`${JSON.stringify(message)}\n`);
  let printed = '';
  for await (const text of server.stdout.setEncoding('utf8')) {
    printed += String(text);
    if (printed.includes('"id":2') && printed.includes('"id":3')) break;
  }
  server.stdin.end();
  await stop(server);
  const lines = printed.split('\n');
  for (const id of [CAPTION.id, LONG_VIDEO.id]) {
    assertCaptioned(lines.find((line) => line.includes(`"id":${id}`)) ?? '');
  }
  if (!printed.includes('notifications/progress')) throw new Error('The MCP server reported no progress of a video.');
  console.log(
    'ok: the installed MCP server captions an image and a video of 90 seconds with the settings of the README',
  );
}

/** Starts it with the command of the README, on a port that is free. */
async function checkHttp(cwd: string, variables: Environment): Promise<void> {
  const port = await freePort();
  const command = must(
    programsOf('mcp', 'sh').find((line) => line.includes('--http')),
    'command with --http',
  );
  const [program = '', ...args] = command.trim().replace('8765', String(port)).split(' ');
  const server = spawn(program, args, {
    cwd,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'inherit', 'pipe'],
    detached: true,
  });
  try {
    for await (const text of must(server.stderr, 'standard error').setEncoding('utf8')) {
      if (String(text).includes(`http://127.0.0.1:${port}/mcp`)) break;
    }
    const { headers } = await send(port, HELLO);
    const session = headers.get('mcp-session-id');
    const response = await send(port, CAPTION, session === null ? {} : { 'mcp-session-id': session });
    assertCaptioned(await response.text());
  } finally {
    await stop(server);
  }
  console.log('ok: the installed MCP server captions an image over HTTP');
}

async function send(port: number, message: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': HELLO.params.protocolVersion,
      ...headers,
    },
    body: JSON.stringify(message),
  });
}

function assertCaptioned(response: string): void {
  const file = /"file":"(?<file>[^"]+)"/u.exec(response.replaceAll('\\"', '"'))?.groups?.['file'];
  if (file === undefined || !existsSync(file)) throw new Error(`The installed MCP server returned: ${response}`);
}
