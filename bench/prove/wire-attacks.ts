// Malformed requests that no HTTP client would send: conflicting lengths and encodings, broken chunks, broken forms. The
// server must send documented responses or close the connection, and must never treat part of a body as a request.

import { METRICS_TOKEN } from '../../test/running-server.ts';

export interface WireAttack {
  readonly name: string;
  readonly bytes: Buffer;
}

const PART = '--b\r\ncontent-disposition: form-data; name="text"\r\n\r\nx\r\n';
const SIZE = ['width', 'height']
  .map((name) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n64\r\n`)
  .join('');
const FORM = `${PART}${SIZE}--b--\r\n`;
/** The request carries the token, so that a server that is fooled reveals it with a 200. */
const SMUGGLED = `GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${METRICS_TOKEN}\r\n\r\n`;

export function makeWireAttacks(key: string): WireAttack[] {
  const all = { ...malformedFraming(key), ...malformedHeaders(key), ...malformedForms(key) };
  return Object.entries(all).map(([name, text]) => ({ name, bytes: Buffer.from(text, 'latin1') }));
}

function post(key: string, headers: readonly string[], body: string): string {
  const lines = ['POST /v1/overlay HTTP/1.1', 'host: x', `x-api-key: ${key}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const MULTIPART = 'content-type: multipart/form-data; boundary=b';
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

function malformedFraming(key: string): Record<string, string> {
  const length = `content-length: ${FORM.length}`;
  const framed = (name: string, headers: readonly string[], body: string): [string, string] => [
    name,
    post(key, [MULTIPART, ...headers], body),
  ];
  return Object.fromEntries([
    framed('length and chunked', [length, 'transfer-encoding: chunked'], `0\r\n\r\n${SMUGGLED}`),
    framed('chunked and length', ['transfer-encoding: chunked', 'content-length: 4'], `${chunked(FORM)}${SMUGGLED}`),
    framed('two lengths', [length, 'content-length: 5'], FORM + SMUGGLED),
    framed('same length twice', [length, length], FORM),
    framed('list of lengths', [`content-length: ${FORM.length}, ${FORM.length}`], FORM),
    framed('length with a sign', [`content-length: +${FORM.length}`], FORM),
    framed('negative length', ['content-length: -1'], FORM),
    framed('hexadecimal length', [`content-length: 0x${FORM.length.toString(16)}`], FORM),
    framed('length beyond 64 bits', ['content-length: 99999999999999999999'], FORM),
    framed('length too short', ['content-length: 10'], FORM + SMUGGLED),
    framed('empty length', ['content-length:'], FORM),
    framed('chunked twice', ['transfer-encoding: chunked', 'transfer-encoding: chunked'], chunked(FORM)),
    framed('chunked, then identity', ['transfer-encoding: chunked, identity'], chunked(FORM) + SMUGGLED),
    framed('unknown transfer encoding', ['transfer-encoding: xchunked'], chunked(FORM) + SMUGGLED),
    framed('chunked after a tab', ['transfer-encoding:\tchunked'], chunked(FORM)),
    framed('space before the colon of transfer-encoding', ['transfer-encoding : chunked'], chunked(FORM) + SMUGGLED),
    framed('chunk size beyond 64 bits', ['transfer-encoding: chunked'], `fffffffffffffffff\r\n${FORM}`),
    framed('chunk size with a sign', ['transfer-encoding: chunked'], `-1\r\n${FORM}`),
    framed('chunk extension of 100 kB', ['transfer-encoding: chunked'], `1;${'x'.repeat(100_000)}\r\nx\r\n0\r\n\r\n`),
    framed('trailers', ['transfer-encoding: chunked'], `${chunked(FORM).slice(0, -2)}x-api-key: other\r\n\r\n`),
    framed('chunks with bare line feeds', ['transfer-encoding: chunked'], chunked(FORM).replaceAll('\r\n', '\n')),
    framed('unknown expectation', [length, 'expect: the-unexpected'], FORM),
    framed('expects 100 Continue but sends the body immediately', [length, 'expect: 100-continue'], FORM),
    framed('compressed body', [length, 'content-encoding: gzip'], FORM),
  ]);
}

function malformedHeaders(key: string): Record<string, string> {
  const length = `content-length: ${FORM.length}`;
  const get = (line: string, ...headers: string[]): string => `${[line, 'host: x', ...headers].join('\r\n')}\r\n\r\n`;
  return {
    'bare line feeds': post(key, [MULTIPART, length], FORM).replaceAll('\r\n', '\n'),
    'folded header': post(key, ['x-a: b\r\n c', MULTIPART, length], FORM),
    'null byte in a header': post(key, ['x-a: b\0c', MULTIPART, length], FORM),
    'carriage return in a header': post(key, ['x-a: b\rx-c: d', MULTIPART, length], FORM),
    'API key twice': post(key, [`x-api-key: ${key}`, MULTIPART, length], FORM),
    'header of 100 kB': post(key, [`x-a: ${'a'.repeat(100_000)}`, MULTIPART, length], FORM),
    '3,000 headers': post(
      key,
      [...Array.from({ length: 3_000 }, (_, index) => `x-${index}: y`), MULTIPART, length],
      FORM,
    ),
    'no host': `GET /ping HTTP/1.1\r\n\r\n`,
    'HTTP/0.9': 'GET /ping\r\n\r\n',
    'HTTP/1.0': get('GET /ping HTTP/1.0'),
    'HTTP/3.7': get('GET /ping HTTP/3.7'),
    'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'TLS client hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'absolute URL': get('GET http://127.0.0.1:1/metrics HTTP/1.1'),
    CONNECT: get('CONNECT 127.0.0.1:1 HTTP/1.1'),
    'upgrade to WebSocket': get('GET /ping HTTP/1.1', 'connection: upgrade', 'upgrade: websocket'),
    'upgrade to h2c': get(
      'GET /ping HTTP/1.1',
      'connection: upgrade, http2-settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
    ),
    'path traversal': get('GET /../../etc/passwd HTTP/1.1'),
    'encoded path traversal': get('GET /docs/%2e%2e%2f%2e%2e%2fpackage.json HTTP/1.1'),
    'broken percent encoding': get('GET /%ff%zz HTTP/1.1'),
    'method of 10 kB': get(`${'A'.repeat(10_000)} /ping HTTP/1.1`),
    '50 pipelined requests': get('GET /ping HTTP/1.1').repeat(50),
    'refused upload, then another request':
      post('sb_live_nonsense', [MULTIPART, length], FORM) + get('GET /ping HTTP/1.1'),
    'only null bytes': '\0'.repeat(20_000),
  };
}

function malformedForms(key: string): Record<string, string> {
  const asset = (headers: string): string => `--b\r\n${headers}\r\n\r\n\xff\xd8\xff\xe0\r\n`;
  const bodies: Record<string, string> = {
    'no closing boundary': PART + SIZE,
    'empty body': '',
    'only the closing boundary': '--b--\r\n',
    'boundary with bare line feeds': FORM.replaceAll('\r\n', '\n'),
    'text before the first boundary': `${'x'.repeat(50_000)}\r\n${FORM}`,
    'text after the closing boundary': FORM + 'x'.repeat(50_000),
    'part without headers': `--b\r\n\r\nx\r\n${FORM}`,
    'part that ends inside its header': `--b\r\nx: y\r\n${FORM}`,
    'part without a name': `--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n${FORM}`,
    'part with a header of 100 kB': `--b\r\nx: ${'a'.repeat(100_000)}\r\n\r\nx\r\n${FORM}`,
    'part with 1,000 headers': `--b\r\n${'x: y\r\n'.repeat(1_000)}\r\nx\r\n${FORM}`,
    '10,000 parts': PART.repeat(10_000) + FORM,
    'nested form': `--b\r\ncontent-disposition: form-data; name="text"\r\ncontent-type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n${FORM}`,
    'path traversal in the file name':
      asset('content-disposition: form-data; name="asset"; filename="../../../etc/cron.d/x"') + FORM,
    'file name with a null byte': asset('content-disposition: form-data; name="asset"; filename="a\0.jpg"') + FORM,
    'file name of 100 kB':
      asset(`content-disposition: form-data; name="asset"; filename="${'a'.repeat(100_000)}"`) + FORM,
    'file name in another encoding':
      asset('content-disposition: form-data; name="asset"; filename*=utf-16\'\'%fe%ff') + FORM,
    'two assets': asset('content-disposition: form-data; name="asset"; filename="a"').repeat(2) + FORM,
    'asset in Base64':
      asset('content-disposition: form-data; name="asset"; filename="a"\r\ncontent-transfer-encoding: base64') + FORM,
    'field of 1 MB': `--b\r\ncontent-disposition: form-data; name="text"\r\n\r\n${'x'.repeat(1 << 20)}\r\n${SIZE}--b--\r\n`,
    'field that is not valid UTF-8': `--b\r\ncontent-disposition: form-data; name="text"\r\n\r\n\xff\xfe\r\n${SIZE}--b--\r\n`,
    'JSON nested 60,000 deep': `--b\r\ncontent-disposition: form-data; name="overlays"\r\n\r\n${'['.repeat(60_000)}\r\n${SIZE}--b--\r\n`,
    'field named __proto__': `--b\r\ncontent-disposition: form-data; name="__proto__"\r\n\r\nx\r\n${FORM}`,
  };
  const types: Record<string, string> = {
    'no boundary': 'multipart/form-data',
    'empty boundary': 'multipart/form-data; boundary=',
    'boundary of 1 kB': `multipart/form-data; boundary=${'b'.repeat(1_000)}`,
    'two boundaries': 'multipart/form-data; boundary=b; boundary=c',
    'mixed, not form-data': 'multipart/mixed; boundary=b',
    JSON: 'application/json',
  };
  const request = (type: string, body: string): string =>
    post(key, [`content-type: ${type}`, `content-length: ${body.length}`], body);
  return {
    ...Object.fromEntries(
      Object.entries(bodies).map(([name, body]) => [name, request('multipart/form-data; boundary=b', body)]),
    ),
    ...Object.fromEntries(Object.entries(types).map(([name, type]) => [name, request(type, FORM)])),
  };
}
