// Streamable HTTP. Web pages can send requests to loopback addresses too, so without a token each request must name this host and
// must not come from a page of another origin. Other machines always need the token: the server spends credits and reads files.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serverFactory } from './server.ts';
import { type Settings, SettingsError } from './settings.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/iu;
const MIN_TOKEN_CHARACTERS = 24;

export async function serveHttp(settings: Settings, port: number, host = '127.0.0.1'): Promise<Server> {
  const mayPass = gate(settings, host);
  const handle = toNodeHandler(createMcpHandler(serverFactory(settings)));
  const server = createHttpServer((request, response) => {
    if (!mayPass(request, response)) return;
    if (request.url?.split('?', 1)[0] === '/mcp') void handle(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

type Gate = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Responds itself when it refuses a request. */
function gate({ token }: Settings, host: string): Gate {
  if (token !== '') {
    if (token.length < MIN_TOKEN_CHARACTERS) {
      throw new SettingsError(`STORYBAR_MCP_TOKEN must have at least ${MIN_TOKEN_CHARACTERS} characters.`);
    }
    return requireToken(token);
  }
  if (!LOOPBACK.test(host)) {
    throw new SettingsError(
      `Set STORYBAR_MCP_TOKEN to listen on ${host}: without a token, everyone on the network could spend your credits.`,
    );
  }
  const isOurHost = localhostHostValidation();
  const isOurOrigin = localhostOriginValidation();
  return (request, response) => isOurHost(request, response) && isOurOrigin(request, response);
}

function requireToken(token: string): Gate {
  const expected = digest(`Bearer ${token}`);
  return (request, response) => {
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return true;
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    return false;
  };
}

/** Returns digests of equal length, so that the comparison takes the same time for every header. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
