// Streamable HTTP, for this machine only. Web pages can send requests to loopback addresses too, so each request must name
// this host and must not come from a page of another origin.

import { createServer as createHttpServer, type Server } from 'node:http';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createServer } from './server.ts';
import type { Settings } from './settings.ts';

export async function serveHttp(settings: Settings, port: number): Promise<Server> {
  const handle = toNodeHandler(createMcpHandler(() => createServer(settings)));
  const isOurHost = localhostHostValidation();
  const isOurOrigin = localhostOriginValidation();
  const server = createHttpServer((request, response) => {
    // Both respond themselves when they refuse.
    if (!isOurHost(request, response) || !isOurOrigin(request, response)) return;
    if (request.url?.split('?', 1)[0] === '/mcp') void handle(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}
