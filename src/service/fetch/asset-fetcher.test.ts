// Fetches from real servers on loopback. 127.0.0.2 is allowed and stands for the internet. 127.0.0.1 isn't and stands
// for the operator's own network, so any connection to it is a failure.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../../../test/dns-server.ts';
import { until } from '../../../test/running-server.ts';
import { AppError } from '../../shared/errors.ts';
import { AssetFetcher, type FetcherOptions } from './asset-fetcher.ts';
import { FetchPolicy } from './fetch-policy.ts';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(5_000, 7)]);
const ALLOWED = '127.0.0.2';
const FORBIDDEN = '127.0.0.1';

let folder: string;
let dns: DnsServer;
let answers: (name: string) => readonly string[] | undefined;
let forbiddenConnections = 0;
let forbiddenPort: number;
const servers: { close: () => void }[] = [];
let files = 0;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-fetch-'));
  dns = await startDnsServer((name) => answers(name));
  const forbidden = createTcpServer((socket) => {
    forbiddenConnections += 1;
    socket.destroy();
  });
  forbidden.listen(0, FORBIDDEN);
  await once(forbidden, 'listening');
  forbiddenPort = (forbidden.address() as AddressInfo).port;
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  if (forbiddenConnections > 0) throw new Error(`${forbiddenConnections} connections to a forbidden address`);
});
afterAll(() => {
  dns.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(server: Server | ReturnType<typeof createTcpServer>, host = ALLOWED, port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  servers.push({
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  return (server.address() as AddressInfo).port;
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://${ALLOWED}:${await listen(createServer(listener))}`;

interface Fetched {
  readonly bytes: number;
  readonly format: string | undefined;
  readonly path: string;
}

const TIMES = { firstByteMs: 400, paceIntervalMs: 200, maxSeconds: 3 };

async function fetchFrom(
  url: string,
  options: Partial<FetcherOptions> & { readonly signal?: AbortSignal; readonly maxBytes?: number } = {},
): Promise<Fetched> {
  const { signal = new AbortController().signal, maxBytes = 100_000, ...rest } = options;
  const policy = new FetchPolicy('public', [ALLOWED]);
  const fetcher = new AssetFetcher({ policy, userAgent: 'storybar/test', dnsServers: [dns.address], ...rest });
  files += 1;
  const destination = {
    path: path.join(folder, String(files)),
    prepare: async () => undefined,
    maxBytes,
    maxBytesOf: () => maxBytes,
    assertRoom: () => undefined,
    reserve: () => undefined,
    hash: false,
  };
  return await fetcher.fetch(new URL(url), destination, signal);
}

/** Returns `code: detail`, with the code of the field's fault where there is one. */
async function failureOf(url: string, options: Parameters<typeof fetchFrom>[1] = {}): Promise<string> {
  try {
    await fetchFrom(url, options);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [fault] = error.faults;
    if (fault && fault.pointer !== '#/asset_url') throw error;
    return `${fault?.code ?? error.code}: ${error.message}`;
  }
  throw new Error('expected a failure');
}

describe('a file', () => {
  it('a file is streamed to disk and requested without cookies or compression', async () => {
    let headers: Record<string, unknown> = {};
    const url = await serve((request, response) => {
      ({ headers } = request);
      response.setHeader('set-cookie', 'a=b').end(PNG);
    });
    const file = await fetchFrom(`${url}/a.png?size=1`);
    expect(file).toMatchObject({ bytes: PNG.length, format: 'png' });
    expect(readFileSync(file.path).equals(PNG)).toBe(true);
    expect(headers).toEqual({
      accept: '*/*',
      'accept-encoding': 'identity',
      connection: 'close',
      host: new URL(url).host,
      'user-agent': 'storybar/test',
    });
  });

  it('a file is found through at most three redirects, relative ones included', async () => {
    const url = await serve(({ url: asked = '' }, response) => {
      const step = Number(asked.slice(1));
      if (step === 0) response.end(PNG);
      else response.writeHead(302, { location: `/${step - 1}`, 'set-cookie': 'a=b' }).end();
    });
    expect(await fetchFrom(`${url}/3`)).toMatchObject({ format: 'png' });
    expect(await failureOf(`${url}/4`)).toBe('asset_unreachable: asset_url redirects more than 3 times.');
  });

  it('a fetch is refused when redirects form a loop', async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      requests += 1;
      response.writeHead(307, { location: '/again' }).end();
    });
    expect(await failureOf(url)).toContain('redirects more than 3 times');
    expect(requests).toBe(4);
  });
});

describe('a host name', () => {
  it('a host name is looked up once, so a DNS response that changes before the connection has no effect', async () => {
    const port = Number(new URL(await serve((_request, response) => response.end(PNG))).port);
    let lookups = 0;
    answers = () => {
      lookups += 1;
      // The two queries, for IPv4 and IPv6, are one lookup.
      return lookups <= 2 ? [ALLOWED] : [FORBIDDEN];
    };
    dns.queries.length = 0;
    expect(await fetchFrom(`http://rebinding.test:${port}/`)).toMatchObject({ format: 'png' });
    expect(dns.queries).toEqual(['rebinding.test']);
  });

  it('a host name is looked up again for a redirect to itself, and refused if its address is no longer allowed', async () => {
    const server = createServer((_request, response) => response.writeHead(302, { location: '/next' }).end());
    const port = await listen(server, ALLOWED, forbiddenPort);
    let lookups = 0;
    answers = () => {
      lookups += 1;
      return lookups <= 2 ? [ALLOWED] : [FORBIDDEN];
    };
    expect(await failureOf(`http://rebinding.test:${port}/`)).toMatch(/^forbidden_address: .*STORYBAR_FETCH_ALLOW/u);
  });

  it.each([
    ['one of its addresses is private', [ALLOWED, FORBIDDEN]],
    ['its only address is loopback', [FORBIDDEN]],
    ['its IPv6 address is loopback', [ALLOWED, '00000000000000000000000000000001']],
    ['its IPv6 address is an IPv4-mapped loopback address', ['00000000000000000000ffff7f000001']],
    ['its IPv6 address is a NAT64 form of a loopback address', ['0064ff9b00000000000000007f000001']],
    ['its address is 0.0.0.0', ['0.0.0.0']],
    ['its address is that of a metadata service', ['169.254.169.254']],
  ])('a host name is refused without a connection when %s', async (_name, addresses) => {
    let connections = 0;
    const server = createServer((_request, response) => response.end(PNG));
    const port = await listen(server, ALLOWED, forbiddenPort);
    server.on('connection', () => (connections += 1));
    answers = () => addresses;
    const failure = await failureOf(`http://private.test:${port}/`);
    expect(failure).toMatch(/^forbidden_address: .*STORYBAR_FETCH_ALLOW/u);
    // The address itself would tell callers about the internal network.
    for (const address of addresses) expect(failure).not.toContain(address);
    expect(connections).toBe(0);
  });

  it('a host name that does not exist makes the file unreachable, also when the name server is silent', async () => {
    answers = () => [];
    expect(await failureOf('http://missing.test/')).toBe(
      "asset_unreachable: The file can't be fetched from missing.test: the host name doesn't exist.",
    );
    answers = () => undefined;
    expect(await failureOf('http://silent.test/', { times: TIMES })).toBe(
      "asset_unreachable: silent.test didn't respond within 0.4 seconds.",
    );
  });
});

describe('a redirect', () => {
  it.each([
    `http://${FORBIDDEN}:PORT/`,
    '//127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://0.0.0.0:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://inside.test:PORT/',
    'http://169.254.169.254/latest/meta-data/',
  ])('a redirect to %s is refused without a connection', async (location) => {
    answers = () => [FORBIDDEN];
    const target = location.replace('PORT', String(forbiddenPort));
    const url = await serve((_request, response) => response.writeHead(302, { location: target }).end());
    expect(await failureOf(url)).toMatch(/^forbidden_address: /u);
  });

  it.each(['file:///etc/passwd', 'ftp://example.com/', 'http://user:secret@example.com/', 'http://example.com:22/'])(
    'a redirect to %s is refused as an invalid URL',
    async (location) => {
      const url = await serve((_request, response) => response.writeHead(301, { location }).end());
      expect(await failureOf(url)).toMatch(/^invalid_url: /u);
    },
  );
});

describe('a server that misbehaves', () => {
  it.each([404, 403, 500, 304, 300])('a server that responds with %i is reported with this status', async (status) => {
    const url = await serve((_request, response) => response.writeHead(status).end());
    const error = await fetchFrom(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'asset_unreachable', upstreamStatus: status });
  });

  it('a fetch ends when the server sends no response headers', async () => {
    const url = await serve(() => undefined);
    expect(await failureOf(url, { times: TIMES })).toContain("didn't respond within 0.4 seconds");
  });

  it('a fetch ends when the server sends a byte now and then', async () => {
    const url = await serve((_request, response) => {
      const timer = setInterval(() => response.write('a'), 20);
      response.once('close', () => clearInterval(timer));
    });
    expect(await failureOf(url, { times: TIMES })).toContain('too slowly');
  });

  it('a fetch ends when the server sends much less than 32 KiB per second', async () => {
    const url = await serve((_request, response) => {
      response.write(PNG);
      const timer = setInterval(() => response.write(Buffer.alloc(1_000)), 100);
      response.once('close', () => clearInterval(timer));
    });
    const times = { ...TIMES, paceIntervalMs: 1_000, maxSeconds: 600 };
    expect(await failureOf(url, { times, maxBytes: 1e9 })).toContain('at 32768 bytes per second or more');
  });

  it('a fetch ends when the whole file takes too long, however steadily it arrives', async () => {
    const url = await serve((_request, response) => {
      response.write(PNG);
      const timer = setInterval(() => response.write(Buffer.alloc(1_000)), 10);
      response.once('close', () => clearInterval(timer));
    });
    const times = { ...TIMES, maxSeconds: 0.5 };
    expect(await failureOf(url, { times, maxBytes: 1e9 })).toContain('too slowly');
  });

  it('a server that sends more bytes than the limit is cut off, whether it announced them or not', async () => {
    let sent = 0;
    const endless = await serve((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(PNG)) sent += PNG.length;
      };
      response.on('drain', more);
      more();
    });
    expect(await failureOf(endless)).toMatch(/^asset_too_large: /u);
    expect(sent).toBeLessThan(50_000_000);
    const announced = await serve((_request, response) => response.setHeader('content-length', 1e12).write(PNG));
    expect(await failureOf(announced)).toMatch(/^asset_too_large: /u);
  });

  it('a server that sends fewer bytes than announced is reported', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('content-length', PNG.length + 1);
      response.write(PNG, () => response.destroy());
    });
    expect(await failureOf(url)).toContain('closed before the response was complete');
  });

  it('a server cannot send more bytes than it announced', async () => {
    const tcp = createTcpServer((socket) => {
      socket.once('data', () =>
        socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'), PNG])),
      );
      socket.on('error', () => undefined);
    });
    expect(await fetchFrom(`http://${ALLOWED}:${await listen(tcp)}`)).toMatchObject({ bytes: 100 });
  });

  it('a file that the server compresses against the request is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const url = await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb));
    expect(await failureOf(url)).toContain('sends the file compressed (gzip)');
  });

  it.each([
    ['nonsense instead of HTTP', 'hello\r\n\r\n', "isn't valid HTTP"],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`, 'response headers are too long'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', "can't be fetched"],
    ['nothing at all', '', "can't be fetched"],
  ])('a server that sends %s is reported', async (_name, text, reason) => {
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(text));
    });
    expect(await failureOf(`http://${ALLOWED}:${await listen(tcp)}`)).toContain(reason);
  });

  it('a server that refuses the connection is reported', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    expect(await failureOf(`http://${ALLOWED}:${port}`)).toContain('the connection was refused');
  });

  it('a server without TLS or without a trusted certificate is reported', async () => {
    const pem = execFileSync(
      'openssl',
      // A self-signed certificate, with its key in the same output.
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=tls.test -keyout - -days 1'.split(
        ' ',
      ),
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const tls = createTlsServer({ key: pem, cert: pem }, (_request, response) => response.end(PNG));
    expect(await failureOf(`https://${ALLOWED}:${await listen(tls)}`)).toContain('the TLS connection failed (');
    const plain = await serve((_request, response) => response.end(PNG));
    expect(await failureOf(plain.replace('http:', 'https:'))).toContain('the TLS connection failed (');
  });
});

it.each([
  ['before the response', false],
  ['during the download', true],
])('a fetch closes the connection when the request is canceled %s', async (_name, isStarted) => {
  const reason = new AppError('client_closed', 'The client closed the connection.');
  const canceled = new AbortController();
  let closed = 0;
  const url = await serve((_request, response) => {
    response.once('close', () => (closed += 1));
    if (isStarted) response.write(PNG);
    setTimeout(() => canceled.abort(reason), 50);
  });
  await expect(fetchFrom(url, { signal: canceled.signal })).rejects.toBe(reason);
  await until(() => closed === 1);
});
