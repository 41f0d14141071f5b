// kill -9 of the server while logos and fonts are uploaded. Each of them must be usable afterwards or absent, and one whose upload
// succeeded must be there.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { BANGERS, fontForm } from '../font-samples.ts';
import { plainPng } from '../pictures.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { embeddedDatabase, type RunningDatabase, serverDatabase } from '../running-database.ts';
import { form, health, type RunningServer, startServer, until } from '../running-server.ts';

interface SavedFile {
  readonly id: string;
  readonly bytes: number;
}

const KINDS = ['fonts', 'logos'] as const;
type Kind = (typeof KINDS)[number];

const postgresUrl = inject('postgresUrl');
if (postgresUrl === '') console.warn(`skipped: ${NO_POSTGRES}`);
const DATABASES = [
  ['SQLite', async () => embeddedDatabase()],
  ...(postgresUrl === '' ? [] : [['PostgreSQL', async () => await serverDatabase(postgresUrl)] as const]),
] as const;

describe.each(DATABASES)('logos and fonts on %s', (_name, open) => {
  let database: RunningDatabase;
  let storage: string;
  let server: RunningServer;
  let key: string;
  beforeAll(async () => {
    database = await open();
    storage = mkdtempSync(path.join(tmpdir(), 'storybar-brand-storage-'));
    server = await start();
    ({ key } = server);
  });
  afterAll(async () => {
    await server.stop();
    await database.remove();
    rmSync(storage, { recursive: true, force: true });
  });

  const start = async (): Promise<RunningServer> =>
    await startServer({ ...database.env, STORYBAR_STORAGE: `file:${storage}` });
  const call = async (method: string, address: string, body?: FormData): Promise<Response> =>
    await fetch(server.url + address, { method, headers: { 'x-api-key': key }, ...(body && { body }) });
  const list = async (kind: Kind): Promise<SavedFile[]> =>
    ((await (await call('GET', `/v1/${kind}`)).json()) as Record<Kind, SavedFile[]>)[kind];
  const objects = (): string[] => {
    const folder = path.join(storage, 'brand');
    return readdirSync(storage).includes('brand') ? readdirSync(folder) : [];
  };

  /** Starts an upload. Its id is undefined if the server ended before it responded. */
  async function upload(kind: Kind, onSaved: () => void): Promise<string | undefined> {
    const body = kind === 'fonts' ? fontForm(BANGERS) : form({ asset: await plainPng(60, 40, '#336699') });
    try {
      const response = await call('POST', `/v1/${kind}`, body);
      const { id } = (await response.json()) as SavedFile;
      expect(response.status).toBe(201);
      onSaved();
      return id;
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  async function expectUsable(kind: Kind, { id, bytes }: SavedFile): Promise<void> {
    const style = kind === 'fonts' ? { font: id } : { logo: { id } };
    const body = form({ text: 'Golden hour', width: '300', height: '200', style: JSON.stringify(style) });
    const response = await call('POST', '/v1/overlay', body);
    await response.arrayBuffer();
    expect([id, response.status, response.headers.get('x-warnings')]).toEqual([id, 200, null]);
    expect(statSync(path.join(storage, 'brand', id)).size).toBe(bytes);
  }

  /** Uploads a font and a logo, kills the server at some point, and starts it again. Returns the ids of the uploads that succeeded. */
  async function killDuring(isDue: (saved: number, before: number) => boolean | Promise<boolean>): Promise<string[]> {
    let saved = 0;
    const before = objects().length;
    const uploads = Promise.all(KINDS.map(async (kind) => await upload(kind, () => (saved += 1))));
    await until(async () => saved === KINDS.length || (await isDue(saved, before)));
    server.signal('SIGKILL');
    await server.exited;
    const ids = await uploads;
    server = await start();
    return ids.filter((id) => id !== undefined);
  }

  it.each([
    ['as soon as the first upload succeeds', (saved: number) => saved > 0],
    ['when a file is in storage', (_saved: number, before: number) => objects().length > before],
    ['while a worker writes a file anew', async () => (await health(server)).renderer.images.busy > 0],
    ['when uploads are underway', () => true],
  ])('a file is usable or absent after a kill %s', async (_when, isDue) => {
    const succeeded = await killDuring(isDue);
    const files = { fonts: await list('fonts'), logos: await list('logos') };
    const all = [...files.fonts, ...files.logos];
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(succeeded));
    for (const kind of KINDS) for (const file of files[kind]) await expectUsable(kind, file);
    const [stored] = await database.read(
      'select count(*) as files, coalesce(sum(bytes), 0) as bytes from brand_files where deleted_at is null',
    );
    expect(stored).toEqual({ files: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) });
    for (const kind of KINDS) {
      const id = await upload(kind, () => undefined);
      expect((await list(kind)).map((file) => file.id)).toContain(id);
      expect((await call('DELETE', `/v1/${kind}/${id}`)).status).toBe(204);
    }
  });
});
