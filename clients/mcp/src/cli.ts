#!/usr/bin/env node
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serveHttp } from './http.ts';
import { createServer } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

const USAGE = `Usage:
  storybar-mcp                 Serve one assistant over standard input and output.
  storybar-mcp --http <port>   Serve assistants on this machine at http://127.0.0.1:<port>/mcp.

Variables: STORYBAR_URL, STORYBAR_API_KEY, STORYBAR_MCP_DIRECTORY`;

try {
  const { values } = parseArgs({ options: { http: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help) process.stdout.write(`${USAGE}\n`);
  else await serve(values.http);
} catch (error) {
  const isMistake = error instanceof SettingsError || (error instanceof Error && 'code' in error);
  process.stderr.write(`${isMistake ? error.message : String(error)}\n\n${USAGE}\n`);
  process.exitCode = 1;
}

async function serve(http: string | undefined): Promise<void> {
  const settings = readSettings(process.env);
  if (http === undefined) {
    serveStdio(() => createServer(settings));
    return;
  }
  const port = Number(http);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new SettingsError(`The port must be a whole number from 0 to 65535; got ${http}.`);
  }
  const server = await serveHttp(settings, port);
  // Standard output would work here too, but belongs to the protocol in the other mode.
  process.stderr.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`);
}
