import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { clientFolder, type Environment, inEmptyFolder, installAndTest, programsOf, run } from './package.ts';

interface ClientSettings {
  readonly mcpServers: { readonly storybar: { readonly command: string; readonly args: readonly string[] } };
}

export async function testMcp(env: Environment): Promise<void> {
  // The server contains the TypeScript client.
  await buildTypeScriptClient();
  await installAndTest('mcp', env);
  await inEmptyFolder('mcp', async (folder) => {
    const [settings = ''] = programsOf('mcp', 'json');
    await checkInstalled(folder, (JSON.parse(settings) as ClientSettings).mcpServers.storybar, env);
  });
}

async function buildTypeScriptClient(): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts', '--silent', '--no-audit', '--no-fund'], clientFolder('typescript'));
  await run('npm', ['run', '--silent', 'build'], clientFolder('typescript'));
}

/** Starts the installed server with the command of the README and asks for its tools. */
async function checkInstalled(
  folder: string,
  { command, args }: ClientSettings['mcpServers']['storybar'],
  env: Environment,
): Promise<void> {
  const variables = {
    STORYBAR_URL: env['STORYBAR_TEST_URL'] ?? '',
    STORYBAR_API_KEY: env['STORYBAR_TEST_KEY'] ?? '',
    STORYBAR_MCP_DIRECTORY: path.join(folder, 'captions'),
  };
  const server = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const messages = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'read_usage', arguments: {} } },
  ];
  for (const message of messages) server.stdin.write(`${JSON.stringify(message)}\n`);
  let printed = '';
  for await (const text of server.stdout.setEncoding('utf8')) {
    printed += String(text);
    if (printed.includes('requests_per_minute')) break;
  }
  server.stdin.end();
  server.kill();
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  if (!printed.includes('requests_per_minute')) throw new Error(`The installed MCP server returned: ${printed}`);
  console.log('ok: the installed MCP server reads usage with the settings of the README');
}
