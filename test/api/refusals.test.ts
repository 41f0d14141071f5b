// Refused requests: status and code for each kind of error.

import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, post, problemOf, until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** Sends a request that must be refused. `faults` are the field errors as `pointer code`. */
async function refusal(values: Record<string, string | Buffer>) {
  const response = await post(server, form(values));
  const problem = await problemOf(response);
  const faults = problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`) ?? [];
  return { status: response.status, code: problem.code, faults, problem };
}

const SIZE = { width: '320', height: '640' };

describe('invalid fields', () => {
  it.each([
    ['neither text nor overlays', { ...SIZE }, ['#/text required']],
    ['blank text', { ...SIZE, text: ' \n\u200b ' }, ['#/text blank']],
    ['both text and overlays', { ...SIZE, text: 'a', overlays: '[{"text":"b"}]' }, ['#/overlays conflict']],
    ['text of 181 characters', { ...SIZE, text: 'x'.repeat(181) }, ['#/text too_long']],
    ['neither width and height nor an asset', { text: 'a' }, ['#/width required', '#/height required']],
    [
      'a size that is not an integer',
      { text: 'a', width: '100.5', height: '1e3' },
      ['#/width not_an_integer', '#/height not_an_integer'],
    ],
    [
      'a size out of range',
      { text: 'a', width: '15', height: '8193' },
      ['#/width out_of_range', '#/height out_of_range'],
    ],
    ['a size with too many pixels', { text: 'a', width: '8192', height: '8192' }, ['#/width out_of_range']],
    ['malformed JSON', { ...SIZE, overlays: '[{"text":' }, ['#/overlays invalid_json']],
    ['JSON that is neither an array nor an object', { ...SIZE, overlays: '"a"' }, ['#/overlays wrong_type']],
    ['an empty array', { ...SIZE, overlays: '[]' }, ['#/overlays required']],
    [
      'eleven overlays',
      { ...SIZE, overlays: JSON.stringify(Array.from({ length: 11 }, () => ({ text: 'a' }))) },
      ['#/overlays too_many'],
    ],
    ['an unknown field', { ...SIZE, text: 'a', color: 'red' }, ['#/color unknown_field']],
    ['a field over 64 KiB', { ...SIZE, text: 'a'.repeat(70_000) }, ['#/text too_large']],
  ])('returns 400 for %s', async (_name, values, faults) => {
    expect(await refusal(values)).toMatchObject({ status: 400, code: 'invalid_fields', faults });
  });

  it('returns every field error in one response', async () => {
    const overlays = JSON.stringify([
      { text: 'x'.repeat(181), position: '50' },
      { position: 100.1 },
      'no',
      { text: 7 },
    ]);
    const { faults } = await refusal({ overlays, width: 'wide', extra: '1' });
    expect(faults).toEqual([
      '#/extra unknown_field',
      '#/width not_an_integer',
      '#/height required',
      '#/overlays/0/text too_long',
      '#/overlays/0/position wrong_type',
      '#/overlays/1/text required',
      '#/overlays/1/position out_of_range',
      '#/overlays/2 wrong_type',
      '#/overlays/3/text wrong_type',
    ]);
  });

  it('returns 400 for duplicate fields and text that is not UTF-8', async () => {
    const data = form({ ...SIZE, text: 'a' });
    data.append('text', 'b');
    data.append('overlays', new Blob([Uint8Array.of(0xff, 0xfe, 0x41)]));
    const problem = await problemOf(await post(server, data));
    expect(problem.errors).toMatchObject([
      { pointer: '#/text', code: 'duplicate' },
      { pointer: '#/overlays', code: 'invalid_encoding' },
    ]);
  });

  it('returns 400 for two assets', async () => {
    const data = form({ asset: await plainPng(16, 16, '#fff'), text: 'a' });
    data.append('asset', new Blob(['again']), 'second.png');
    const problem = await problemOf(await post(server, data));
    expect(problem.errors).toMatchObject([{ pointer: '#/asset', code: 'duplicate' }]);
  });

  it('checks fields before the asset', async () => {
    expect(await refusal({ asset: Buffer.from('not an image'), text: '' })).toMatchObject({ status: 400 });
  });
});

describe('malformed bodies', () => {
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  const part = (name: string, value: string): string =>
    `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

  it.each([
    ['an empty body', '', multipart],
    ['no closing boundary', part('text', 'a'), multipart],
    ['a truncated part', '--x\r\ncontent-disposition: form-data; name="text"\r\n\r\nhel', multipart],
    [
      'a part that ends inside its header',
      `--x\r\ncontent-disposition: form-data\r\nno blank line\r\n--x--\r\n`,
      multipart,
    ],
    ['an empty boundary', part('text', 'a'), { 'content-type': 'multipart/form-data; boundary=""' }],
    ['a content type without a boundary', part('text', 'a'), { 'content-type': 'multipart/form-data' }],
    ['more than 24 parts', `${part('text', 'a').repeat(30)}--x--\r\n`, multipart],
    ['more than 24 parts without a closing boundary', part('text', 'a').repeat(30), multipart],
  ])('returns 400 for %s', async (_name, body, headers) => {
    const response = await post(server, body, { headers });
    expect(await problemOf(response)).toMatchObject({ status: 400, code: 'malformed_body' });
  });

  it('returns 400 when the client half-closes the connection during the upload', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write(
      `POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.key}\r\ncontent-length: 5000\r\n` +
        `content-type: multipart/form-data; boundary=x\r\n\r\n${part('text', 'a')}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.end();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_body"/su);
  });
});

describe('authentication', () => {
  it.each([
    ['no key', {}, 'missing_api_key'],
    ['an empty key', { 'x-api-key': '' }, 'missing_api_key'],
    ['a malformed key', { 'x-api-key': 'letmein' }, 'invalid_api_key'],
    ['a well-formed key that was never issued', { 'x-api-key': `sb_live_${'0'.repeat(33)}` }, 'invalid_api_key'],
  ])('returns 401 for %s', async (_name, headers, code) => {
    const response = await fetch(`${server.url}/v1/overlay`, { method: 'POST', headers, body: form({ text: 'a' }) });
    expect(response.headers.get('www-authenticate')).toContain('ApiKey');
    expect(await problemOf(response)).toMatchObject({ status: 401, code });
  });

  it('checks the key before it reads the body, and a client with a large upload still receives the 401', async () => {
    const body = form({ asset: Buffer.alloc(20_000_000), text: 'a' });
    const response = await fetch(`${server.url}/v1/overlay`, { method: 'POST', headers: { 'x-api-key': 'no' }, body });
    expect(await problemOf(response)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('sends no 100 Continue for an invalid key', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write(
      'POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: no\r\ncontent-length: 5000\r\nexpect: 100-continue\r\n' +
        'content-type: multipart/form-data; boundary=x\r\n\r\n',
    );
    await until(() => received !== '');
    socket.destroy();
    expect(received).toMatch(/^HTTP\/1\.1 401 /u);
  });
});

it('the server checks the key before the content type', async () => {
  const response = await fetch(`${server.url}/v1/overlay`, {
    method: 'POST',
    headers: { 'content-type': 'foo' },
    body: 'a',
  });
  expect(await problemOf(response)).toMatchObject({ status: 401, code: 'missing_api_key' });
});

it('the server responds to requests with a missing or invalid host, and never repeats an invalid host', async () => {
  const sendRaw = async (head: string): Promise<string> => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write(head);
    await until(() => {
      const [headers = '', body] = received.split('\r\n\r\n');
      return body !== undefined && body.length >= Number(/content-length: (\d+)/iu.exec(headers)?.[1] ?? 0);
    });
    socket.destroy();
    return received;
  };
  expect(await sendRaw('GET /nowhere HTTP/1.1\r\n\r\n')).toContain('"type":"http://localhost/docs/errors#not_found"');
  expect(await sendRaw('GET /nowhere HTTP/1.1\r\nhost: a"><b\r\n\r\n')).toContain('"type":"http://localhost/docs/');
  expect(await sendRaw('QUERY /v1/overlay HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\na')).toMatch(
    /^HTTP\/1\.1 405 /u,
  );
  expect(await sendRaw('GET /ping HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /u);
});

describe('paths, methods, content types and assets', () => {
  it.each(['/nowhere', '/v1', '/v1/overlays', '/V1/OVERLAY', '/v1/overlay/x', '/%'])(
    'returns 404 for %s',
    async (path) => {
      expect(await problemOf(await fetch(server.url + path))).toMatchObject({ status: 404, code: 'not_found' });
    },
  );

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('returns 405 for %s /v1/overlay', async (method) => {
    const response = await fetch(`${server.url}/v1/overlay`, { method });
    expect(response.headers.get('allow')).toBe('POST');
    expect(await problemOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it('returns 405 for HEAD /v1/overlay', async () => {
    expect((await fetch(`${server.url}/v1/overlay`, { method: 'HEAD' })).status).toBe(405);
  });

  it('returns 413 with the limit and the actual size for an asset with too many bytes', async () => {
    const big = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(25_500_000)]);
    const { problem } = await refusal({ asset: big, text: 'a' });
    expect(problem).toMatchObject({ status: 413, code: 'asset_too_large', limit: 25_000_000 });
    expect(problem.actual).toBeGreaterThan(25_000_000);
  });

  it('returns 413 for an image with too many pixels', async () => {
    const { problem } = await refusal({ asset: await plainPng(8000, 7000, '#fff'), text: 'a' });
    expect(problem).toMatchObject({
      status: 413,
      code: 'asset_too_many_pixels',
      limit: 50_000_000,
      actual: 56_000_000,
    });
  });

  it.each(['foo', ';;;', 'multipart/form-datax', 'application/problem+json', 'text/plain'])(
    'returns 415 for content type %j',
    async (type) => {
      const response = await post(server, 'text=a', { headers: { 'content-type': type } });
      expect(await problemOf(response)).toMatchObject({ status: 415, code: 'unsupported_content_type' });
    },
  );

  it.each([
    ['a playlist', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')],
    ['a TIFF', Buffer.from('II*\u0000\u0008\u0000\u0000\u0000')],
    ['an empty file', Buffer.alloc(0)],
  ])('returns 415 for %s as the asset', async (_name, asset) => {
    expect(await refusal({ asset, text: 'a' })).toMatchObject({ status: 415, code: 'unsupported_asset' });
  });

  it('returns 422 for a truncated image', async () => {
    const whole = await plainPng(64, 64, '#123456');
    expect(await refusal({ asset: whole.subarray(0, 40), text: 'a' })).toMatchObject({
      status: 422,
      code: 'asset_undecodable',
    });
  });
});

it('the server refuses a caption of thousands of combining marks', async () => {
  const marks = `a${'\u0315'.repeat(16_000)}${'\u0316'.repeat(16_000)}`;
  const overlays = JSON.stringify([{ text: marks.slice(0, 20_000) }]);
  const { faults } = await refusal({ ...SIZE, text: marks.slice(0, 32_000), overlays });
  expect(faults).toEqual(['#/text too_long', '#/overlays/0/text too_long', '#/overlays conflict']);
});

it('the server never logs a key', () => {
  expect(server.output().stderr).not.toContain('sb_live_');
});
