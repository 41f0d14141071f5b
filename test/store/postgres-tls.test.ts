// TLS between the store and PostgreSQL, and the messages when PostgreSQL refuses the connection.

import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngine } from '../../src/main/open-store.ts';
import type { PostgresOptions } from '../../src/service/store/postgres-connection.ts';
import { PostgresEngine } from '../../src/service/store/postgres-engine.ts';
import { freePort } from '../free-port.ts';
import { createDatabase, createPostgres, NO_POSTGRES, type PostgresServer } from '../postgres-server.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const folder = mkdtempSync(path.join(tmpdir(), 'storybar-tls-'));
const server: PostgresServer | undefined = hasOpenssl ? await createPostgres() : undefined;

/** A certificate that is its own authority, for 127.0.0.1. */
function createCertificate(name: string): { readonly certificate: string; readonly key: string } {
  const [certificate, key] = [path.join(folder, `${name}.pem`), path.join(folder, `${name}.key`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
  execFileSync('openssl', [...args, '-out', certificate, '-keyout', key], { stdio: 'ignore' });
  return { certificate, key };
}

async function execute(url: string, ...statements: string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results.at(-1) as pg.QueryResult;
  } finally {
    await client.end();
  }
}

const why = server === undefined ? (hasOpenssl ? `: ${NO_POSTGRES}` : ': openssl is not installed') : '';

describe.skipIf(server === undefined)(`the connection to PostgreSQL${why}`, () => {
  const adminUrl = server?.url ?? '';
  let url: string;
  let trusted: string;
  let other: string;

  beforeAll(async () => {
    const { certificate, key } = createCertificate('database');
    trusted = certificate;
    other = createCertificate('another').certificate;
    const { rows } = await execute(adminUrl, 'show data_directory');
    const { uid, gid } = statSync((rows[0] as { data_directory: string }).data_directory);
    for (const file of [folder, certificate, key]) chownSync(file, uid, gid);
    await execute(
      adminUrl,
      `alter system set ssl_cert_file = '${certificate}'`,
      `alter system set ssl_key_file = '${key}'`,
      'alter system set ssl = on',
      'select pg_reload_conf()',
    );
    url = await createDatabase(adminUrl);
  });
  afterAll(async () => {
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function isEncrypted(options: PostgresOptions, place = url): Promise<unknown> {
    const engine = await PostgresEngine.open(place, () => undefined, options);
    try {
      const [row] = await engine.all('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return row?.['ssl'];
    } finally {
      await engine.close();
    }
  }

  it('the connection to PostgreSQL uses TLS only if the settings or the URL ask for it', async () => {
    expect(await isEncrypted({})).toBe(false);
    expect(await isEncrypted({ tls: 'require' })).toBe(true);
    expect(await isEncrypted({ tls: 'verify-full', authoritiesFile: trusted })).toBe(true);
    expect(await isEncrypted({ authoritiesFile: trusted })).toBe(true);
    expect(await isEncrypted({}, `${url}?sslmode=verify-full&sslrootcert=${trusted}`)).toBe(true);
    expect(await isEncrypted({ tls: 'disable' }, `${url}?sslmode=verify-full&sslrootcert=${trusted}`)).toBe(false);
  });

  it('the connection is refused, with the reason, when another authority has signed the certificate', async () => {
    await expect(isEncrypted({ authoritiesFile: other })).rejects.toThrow(/self.signed certificate/u);
    await expect(isEncrypted({ tls: 'verify-full' })).rejects.toThrow(/self.signed certificate/u);
  });

  it('the connection is refused, with the reason, when the certificate names another host', async () => {
    const place = url.replace('127.0.0.1', 'localhost');
    await expect(isEncrypted({ authoritiesFile: trusted }, place)).rejects.toThrow(/altnames/iu);
  });

  it('the store opens no more connections than the pool may have', async () => {
    const engine = await PostgresEngine.open(url, () => undefined, { poolSize: 3 });
    await Promise.all(Array.from({ length: 12 }, async () => await engine.all('select pg_sleep(0.05)')));
    const [row] = await engine.all(
      "select count(*) as connections from pg_stat_activity where datname = current_database() and application_name = 'storybar'",
    );
    expect(row?.['connections']).toBe(3);
    await engine.close();
  });

  it.each([
    [
      'a database that does not exist',
      (place: string) => place.replace(/\/\w+$/u, '/nowhere'),
      'database "nowhere" does not exist',
    ],
    [
      'a role that does not exist',
      (place: string) => place.replace('postgres@', 'stranger@'),
      'role "stranger" does not exist',
    ],
    ['a host that does not exist', (place: string) => place.replace('127.0.0.1', 'nowhere.invalid'), 'nowhere.invalid'],
  ])('a connection to %s fails with the cause', async (_what, change, cause) => {
    await expect(openEngine({ dataDirectory: '', databaseUrl: change(url) })).rejects.toThrow(
      new RegExp(`STORYBAR_DATABASE_URL cannot be used: .*${cause}`, 'u'),
    );
  });

  it('a connection to a port where nothing listens fails with the cause', async () => {
    const place = new URL(url);
    place.port = String(await freePort());
    await expect(openEngine({ dataDirectory: '', databaseUrl: place.href })).rejects.toThrow(
      /STORYBAR_DATABASE_URL cannot be used: .*ECONNREFUSED/u,
    );
  });

  it('a connection to a server without free connections fails with the cause', async () => {
    const name = new URL(url).pathname.slice(1);
    await execute(
      adminUrl,
      'drop role if exists guest',
      'create role guest login',
      `alter database ${name} owner to guest`,
    );
    await execute(url, 'alter schema public owner to guest', 'reassign owned by postgres to guest').catch(
      () => undefined,
    );
    await execute(adminUrl, `alter database ${name} connection limit 0`);
    const place = url.replace('postgres@', 'guest@');
    await expect(openEngine({ dataDirectory: '', databaseUrl: place })).rejects.toThrow(
      /STORYBAR_DATABASE_URL cannot be used: too many connections for database/u,
    );
    await execute(adminUrl, `alter database ${name} connection limit -1`);
  });
});
