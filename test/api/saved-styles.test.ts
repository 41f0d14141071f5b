// Saved styles through the API: versions, use in every kind of request, and who may change them.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../run-command.ts';
import { until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

interface Saved {
  readonly name: string;
  readonly version: number;
  readonly style: Readonly<Record<string, unknown>>;
}

interface Problem {
  readonly code: string;
  readonly errors?: readonly { readonly pointer: string; readonly code: string; readonly detail: string }[];
}

const CANVAS = { text: 'Hello', width: 200, height: 300 };
let server: SharedServer;
let folder: string;
beforeAll(async () => {
  server = await sharedServer();
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-styles-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function call(
  method: string,
  address: string,
  body?: unknown,
  { key = server.key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  return await fetch(new URL(address, server.url), {
    method,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function json<Body>(response: Promise<Response>, status: number): Promise<Body> {
  const text = await (await response).text();
  expect([(await response).status, text]).toEqual([status, expect.anything()]);
  return JSON.parse(text) as Body;
}

const save = async (name: string, style: unknown): Promise<Saved> =>
  await json(call('PUT', `/v1/styles/${name}`, style), 200);

async function png(body: unknown, headers = {}): Promise<Buffer> {
  const response = await call('POST', '/v1/overlay', body, { headers });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function newKey(...args: readonly string[]): Promise<string> {
  return (JSON.parse(await server.cli('keys', 'create', ...args, '--json')) as { key: string }).key;
}

describe('a saved style', () => {
  it('is stored in versions and listed by name', async () => {
    const first = await save('listed', { preset: 'box', color: '#FFCC00', position: 80 });
    expect(first).toMatchObject({
      name: 'listed',
      version: 1,
      style: { preset: 'box', color: '#ffcc00', position: 80 },
    });
    expect(await save('listed', { position: 80, color: '#ffcc00', preset: 'box' })).toEqual(first);
    expect(await save('listed', { preset: 'box' })).toMatchObject({ version: 2, style: { preset: 'box' } });
    expect(await json(call('GET', '/v1/styles/listed@1'), 200)).toEqual(first);
    const { styles } = await json<{ styles: Saved[] }>(call('GET', '/v1/styles'), 200);
    expect(styles.filter(({ name }) => name === 'listed')).toMatchObject([{ version: 2 }]);
    expect((await call('DELETE', '/v1/styles/listed')).status).toBe(204);
    expect(await json(call('GET', '/v1/styles/listed'), 404)).toMatchObject({ code: 'style_not_found' });
    expect(await save('listed', {})).toMatchObject({ version: 3 });
  });

  it('draws the same image as its keys, in synchronous, asynchronous and batch renders and in a layout', async () => {
    await save('look', { preset: 'box-light', size: 1.5, position: 20 });
    const plain = { ...CANVAS, style: { preset: 'box-light', size: 1.5 }, position: 20 };
    const expected = await png(plain);
    expect(await png({ ...CANVAS, style: 'look' })).toEqual(expected);
    expect(await png({ ...CANVAS, style: { preset: 'look@1' } })).toEqual(expected);
    expect(await png({ ...CANVAS, style: { preset: 'look', size: 1 } })).not.toEqual(expected);
    const { requests } = { requests: [{ ...CANVAS, style: 'look' }] };
    const batch = await json<{ renders: { id: string }[] }>(call('POST', '/v1/batches', { requests }), 202);
    const single = await json<{ id: string }>(
      call('POST', '/v1/overlay', { ...CANVAS, style: 'look', async: true }),
      202,
    );
    for (const { id } of [...batch.renders, single]) {
      const url = await until(async () => {
        const render = await json<{ output: { url: string } | null }>(call('GET', `/v1/renders/${id}`), 200);
        return render.output?.url;
      });
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(expected);
    }
    const layout = async (body: unknown): Promise<unknown> => await json(call('POST', '/v1/layout', body), 200);
    expect(await layout({ ...CANVAS, style: 'look' })).toEqual(await layout(plain));
  });

  it('stays as it was in an accepted render, whatever happens to its name', async () => {
    await save('moving', { preset: 'plain' });
    const before = await png({ ...CANVAS, style: 'plain' });
    const accepted = await json<{ id: string }>(
      call('POST', '/v1/overlay', { ...CANVAS, style: 'moving', async: true }),
      202,
    );
    await save('moving', { preset: 'bar' });
    await call('DELETE', '/v1/styles/moving');
    const url = await until(async () => {
      const render = await json<{ output: { url: string } | null }>(call('GET', `/v1/renders/${accepted.id}`), 200);
      return render.output?.url;
    });
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(before);
  });

  it('is part of what an idempotency key stands for', async () => {
    await save('keyed', { preset: 'plain' });
    const headers = { 'idempotency-key': 'style-key' };
    const first = await png({ ...CANVAS, style: 'keyed' }, headers);
    expect(await png({ ...CANVAS, style: 'keyed' }, headers)).toEqual(first);
    await save('keyed', { preset: 'box' });
    const changed = call('POST', '/v1/overlay', { ...CANVAS, style: 'keyed' }, { headers });
    expect(await json(changed, 422)).toMatchObject({ code: 'idempotency_mismatch' });
    expect(await png({ ...CANVAS, style: 'keyed@1' }, headers)).toEqual(first);
    const requests = [{ ...CANVAS, style: 'keyed' }];
    const batch = { headers: { 'idempotency-key': 'style-batch' } };
    const one = await json<{ id: string }>(call('POST', '/v1/batches', { requests }, batch), 202);
    expect(await json(call('POST', '/v1/batches', { requests }, batch), 202)).toMatchObject({ id: one.id });
    await save('keyed', { preset: 'bar' });
    expect(await json(call('POST', '/v1/batches', { requests }, batch), 422)).toMatchObject({
      code: 'idempotency_mismatch',
    });
  });

  it('is unknown in other accounts, and an unknown one is reported with similar names', async () => {
    await save('private-look', {});
    const key = await newKey('--plan', 'business');
    const request = { ...CANVAS, style: 'private-look' };
    const elsewhere = await json<Problem>(call('POST', '/v1/overlay', request, { key }), 400);
    expect(elsewhere.errors).toMatchObject([{ pointer: '#/style', code: 'unknown_style' }]);
    expect(JSON.stringify(elsewhere)).not.toContain('Did you mean');
    const typo = await json<Problem>(call('POST', '/v1/overlay', { ...request, style: 'privat-look' }), 400);
    expect(typo.errors?.[0]?.detail).toContain('Did you mean private-look?');
    const requests = [{ ...CANVAS }, { ...CANVAS, style: 'privat-look' }, 5];
    const batch = await json<Problem>(call('POST', '/v1/batches', { requests }), 400);
    expect(batch.errors).toMatchObject([
      { pointer: '#/requests/1/style', code: 'unknown_style' },
      { pointer: '#/requests/2', code: 'wrong_type' },
    ]);
  });

  it('is rejected with all faults of its name and keys', async () => {
    const problem = await json<Problem>(call('PUT', '/v1/styles/box', { size: 9, text: 'x' }), 400);
    expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/name conflict',
      '#/text unknown_field',
      '#/size out_of_range',
    ]);
  });
});

describe('who may save styles', () => {
  it('test keys and keys of web pages can use and list styles, and change none', async () => {
    await save('shared', { preset: 'plain' });
    const test = await newKey('--account', server.account, '--test');
    const created = await server.cli('keys', 'create', '--account', server.account, '--json');
    const page = JSON.parse(created) as { id: string; key: string };
    await server.cli('keys', 'origins', page.id, 'https://page.example');
    for (const [key, headers] of [
      [test, {}],
      [page.key, { origin: 'https://page.example' }],
    ] as const) {
      for (const refused of [
        call('PUT', '/v1/styles/shared', {}, { key, headers }),
        call('DELETE', '/v1/styles/shared', undefined, { key, headers }),
      ]) {
        expect(await json(refused, 403)).toMatchObject({ code: 'server_key_required' });
      }
      expect((await call('GET', '/v1/styles/shared', undefined, { key, headers })).status).toBe(200);
      expect((await call('POST', '/v1/overlay', { ...CANVAS, style: 'shared' }, { key, headers })).status).toBe(200);
    }
  });

  it('changes are in the audit log with the key', async () => {
    await save('audited', {});
    const log = JSON.parse(await server.cli('audit', '--account', server.account, '--json')) as {
      action: string;
      subject: string;
      actor: string;
    }[];
    const entry = log.find(({ action, subject }) => action === 'style.saved' && subject === 'audited');
    expect(entry?.actor).toMatch(/^key:/u);
  });
});

describe('storybar styles', () => {
  const run = async (...args: string[]) =>
    await runCommand(['styles', ...args], { env: { STORYBAR_URL: server.url, STORYBAR_API_KEY: server.key } });

  it('keeps styles in a folder', async () => {
    await save('in-git', { preset: 'box', color: '#ff0000' });
    await run('pull', folder);
    expect(readdirSync(folder)).toContain('in-git.json');
    const file = path.join(folder, 'in-git.json');
    expect(readFileSync(file, 'utf8')).toBe('{\n  "preset": "box",\n  "color": "#ff0000"\n}\n');
    expect((await run('push', folder)).stdout).toContain('unchanged in-git@1');
    writeFileSync(file, '{"preset": "plain"}');
    writeFileSync(path.join(folder, 'added.json'), '{}');
    const pushed = await run('push', folder);
    expect(pushed.stdout).toContain('saved in-git@2');
    expect(pushed.stdout).toContain('saved added@1');
    rmSync(path.join(folder, 'added.json'));
    expect((await run('push', folder, '--delete')).stdout).toContain('deleted added@1');
    writeFileSync(file, '{"preset": "none"}');
    const refused = await run('push', folder);
    expect(refused.code).toBe(65);
    expect(refused.stderr).toContain('in-git.json: ');
    writeFileSync(file, '[]');
    expect((await run('push', folder)).stderr).toContain("isn't valid JSON");
  });
});
