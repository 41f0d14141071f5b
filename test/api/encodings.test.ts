// All encodings of a request body give the same result, and each refuses what it can't express.

import { beforeAll, describe, expect, it } from 'vitest';
import { form, post, problemOf } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const OVERLAYS = [{ text: 'Day 12 & counting + more', position: 20 }, { text: 'Ümläut 🚐' }];
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

async function bytesOf(response: Response): Promise<Buffer> {
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe('an overlay-only request', () => {
  it('an overlay without an asset gives the same image in every encoding', async () => {
    const fields = { width: '320', height: '200', overlays: JSON.stringify(OVERLAYS) };
    const expected = await bytesOf(await post(server, form(fields)));
    const repeated = form({ width: '320', height: '200' });
    for (const overlay of OVERLAYS) repeated.append('overlays', JSON.stringify(overlay));
    const json = JSON.stringify({ width: 320, height: 200, overlays: OVERLAYS });
    const encodings: [string | FormData, Record<string, string>][] = [
      [repeated, {}],
      [json, JSON_TYPE],
      [json, { 'content-type': 'Application/JSON; charset=utf-8' }],
      [String(new URLSearchParams(fields)), FORM_TYPE],
      [`${String(new URLSearchParams(fields))}&`, FORM_TYPE],
    ];
    for (const [body, headers] of encodings) {
      expect((await bytesOf(await post(server, body, { headers }))).equals(expected)).toBe(true);
    }
  });

  it('an overlay-only request accepts a single object as overlays in every encoding', async () => {
    const one = { text: 'one' };
    const fields = { width: '320', height: '200', overlays: JSON.stringify(one) };
    const expected = await bytesOf(await post(server, form({ width: '320', height: '200', text: 'one' })));
    const responses = [
      await post(server, form(fields)),
      await post(server, String(new URLSearchParams(fields)), { headers: FORM_TYPE }),
      await post(server, JSON.stringify({ width: 320, height: 200, overlays: one }), { headers: JSON_TYPE }),
    ];
    for (const response of responses) expect((await bytesOf(response)).equals(expected)).toBe(true);
  });
});

describe('a JSON body', () => {
  const refusal = async (body: string): Promise<[number, string]> => {
    const { status, code } = await problemOf(await post(server, body, { headers: JSON_TYPE }));
    return [status, code];
  };

  it('a JSON body gets 400 unless it is an object', async () => {
    for (const body of ['', '{', '[]', '"text"', 'null', '7']) {
      expect(await refusal(body)).toEqual([400, 'malformed_body']);
    }
  });

  it('a JSON body gets 400 when it is nested too deeply or has too many fields', async () => {
    const size = '"width":320,"height":200';
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await refusal(`{${size},"overlays":[{"text":"a","x":${deep}}]}`)).toEqual([400, 'malformed_body']);
    const many = Array.from({ length: 25 }, (_, index) => `"f${index}":1`).join(',');
    expect(await refusal(`{${many}}`)).toEqual([400, 'malformed_body']);
  });

  it('a JSON body gets 400 when it is not UTF-8', async () => {
    const body = new Blob([Buffer.from('{"text":"\xff"}', 'latin1')]);
    const headers = { ...JSON_TYPE, 'x-api-key': server.key };
    const response = await fetch(`${server.url}/v1/overlay`, { method: 'POST', body, headers });
    expect(await problemOf(response)).toMatchObject({ status: 400, code: 'malformed_body' });
  });

  it('a JSON body gets every field error in one response', async () => {
    const body = JSON.stringify({ text: 5, width: '320', height: 1.5, color: 'red' });
    const problem = await problemOf(await post(server, body, { headers: JSON_TYPE }));
    expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/color unknown_field',
      '#/width wrong_type',
      '#/height not_an_integer',
      '#/text wrong_type',
    ]);
  });

  it('a JSON body gets 413 over 2 MiB, whether the length is announced or not', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(2 * 1024 * 1024) });
    expect(await refusal(body)).toEqual([413, 'request_too_large']);
    const response = await fetch(`${server.url}/v1/overlay`, {
      method: 'POST',
      body: new Blob([body]).stream(),
      headers: { ...JSON_TYPE, 'x-api-key': server.key },
      duplex: 'half',
    });
    expect(await problemOf(response)).toMatchObject({ status: 413, code: 'request_too_large', limit: 2 * 1024 * 1024 });
  });
});

describe('an urlencoded body', () => {
  it('a urlencoded body gets 400 with every field error, also for text that is not UTF-8', async () => {
    const problem = await problemOf(
      await post(server, 'text=%ff&width=wide&height=20&width=3', { headers: FORM_TYPE }),
    );
    expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/width duplicate',
      '#/width not_an_integer',
      '#/text invalid_encoding',
    ]);
  });

  it('a urlencoded body gets 400 for more than 24 fields', async () => {
    const problem = await problemOf(await post(server, 'a=1&'.repeat(30), { headers: FORM_TYPE }));
    expect(problem.code).toBe('malformed_body');
  });
});

describe('the API key', () => {
  const body = JSON.stringify({ width: 32, height: 32, text: 'a' });
  const send = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(`${server.url}/v1/overlay`, {
      method: 'POST',
      body,
      headers: { ...JSON_TYPE, ...headers },
    });
    await response.arrayBuffer();
    return response.status;
  };

  it('the API key can be sent as a bearer token', async () => {
    expect(await send({ authorization: `Bearer ${server.key}` })).toBe(200);
    expect(await send({ authorization: `bearer  ${server.key}` })).toBe(200);
  });

  it('the API key counts as a bearer token only without x-api-key', async () => {
    expect(await send({ authorization: 'Bearer wrong', 'x-api-key': server.key })).toBe(200);
    expect(await send({ authorization: `Bearer ${server.key}`, 'x-api-key': 'wrong' })).toBe(401);
  });

  it('the API key counts as missing when another authentication scheme is used', async () => {
    expect(await send({ authorization: `Basic ${server.key}` })).toBe(401);
  });
});
