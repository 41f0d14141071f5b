#!/usr/bin/env node
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serveHttp } from './http.ts';
import { serverFactory } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

const USAGE = `Usage:
  storybar-mcp                 Serve one assistant over standard input and output.
  storybar-mcp --http <port>   Serve assistants on this machine at http://127.0.0.1:<port>/mcp.
    [--host <address>]         Serve other machines too, on this address. Requires STORYBAR_MCP_TOKEN.

Variables: STORYBAR_URL, STORYBAR_API_KEY, STORYBAR_MCP_DIRECTORY, STORYBAR_MCP_TOKEN, STORYBAR_MCP_WAIT_SECONDS`;

try {
  const { values } = parseArgs({
    options: { http: { type: 'string' }, host: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) process.stdout.write(`${USAGE}\n`);
  else await serve(values.http, values.host);
} catch (error) {
  const isMistake = error instanceof SettingsError || (error instanceof Error && 'code' in error);
  process.stderr.write(`${isMistake ? error.message : String(error)}\n\n${USAGE}\n`);
  process.exitCode = 1;
}

async function serve(http: string | undefined, host: string | undefined): Promise<void> {
  const settings = readSettings(process.env);
  if (http === undefined) {
    if (host !== undefined) throw new SettingsError('--host needs --http <port>.');
    serveStdio(serverFactory(settings));
    return;
  }
  const port = Number(http);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new SettingsError(`The port must be a whole number from 0 to 65535; got ${http}.`);
  }
  const server = await serveHttp(settings, port, host);
  // Standard output would work here too, but belongs to the protocol in the other mode.
  const { address, port: taken } = server.address() as AddressInfo;
  process.stderr.write(`Listening on http://${address.includes(':') ? `[${address}]` : address}:${taken}/mcp\n`);
}
