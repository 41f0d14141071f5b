// S3-compatible services for tests. `s3rver` comes with npm and starts in a moment. Swift, from Debian's packages, is a real
// one; it checks signatures and lists unfinished uploads. Tests that need it are skipped where it isn't installed.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { AwsV4Signer } from 'aws4fetch';
import { S3Client } from '../src/service/storage/s3/s3-client.ts';
import { S3Error } from '../src/service/storage/s3/s3-error.ts';
import type { S3StorageOptions } from '../src/service/storage/s3/s3-storage.ts';
import { freePort } from './free-port.ts';
import { until } from './running-server.ts';

export interface RunningS3 {
  readonly options: S3StorageOptions;
  /** Settings for a server. */
  readonly env: Readonly<Record<string, string>>;
  /** Kills the service. Its objects stay. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const S3RVER = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js');
const BUCKET = 'storybar-tests';

export async function startS3rver(): Promise<RunningS3> {
  return await start('S3RVER', 'S3RVER', (folder, port) => {
    mkdirSync(path.join(folder, BUCKET), { recursive: true });
    const args = ['--directory', folder, '--address', '127.0.0.1', '--port', String(port), '--silent'];
    return [process.execPath, S3RVER, ...args];
  });
}

/** The Python that Debian's packages belong to. Where they are is checked without starting it, which takes a while. */
const PYTHON = '/usr/bin/python3';
export const hasSwift = existsSync(PYTHON) && existsSync('/usr/lib/python3/dist-packages/swift/__init__.py');
export const NO_SWIFT = 'OpenStack Swift is not installed (apt-get install python3-swift)';

export async function startSwift(): Promise<RunningS3> {
  const program = path.resolve(import.meta.dirname, 'storage/start-swift.py');
  const service = await start('test:tester', 'testing', (folder, port) => [PYTHON, program, folder, String(port)]);
  const { prefix: _prefix, ...options } = service.options;
  await new S3Client(options).sendForText({ method: 'PUT', key: '' });
  return service;
}

async function start(
  accessKeyId: string,
  secretAccessKey: string,
  commandFor: (folder: string, port: number) => readonly string[],
): Promise<RunningS3> {
  const port = await freePort();
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-s3-'));
  const endpoint = `http://127.0.0.1:${port}`;
  let kill = await launch(commandFor(folder, port), endpoint);
  return {
    options: {
      endpoint,
      accessKeyId,
      secretAccessKey,
      bucket: BUCKET,
      prefix: 'some/folder/',
      region: 'us-east-1',
      isPathStyle: true,
      sessionToken: '',
    },
    env: {
      STORYBAR_STORAGE: `s3://${BUCKET}/some/folder`,
      STORYBAR_S3_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    kill: async () => await kill(),
    restart: async () => {
      kill = await launch(commandFor(folder, port), endpoint);
    },
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function launch([program = '', ...args]: readonly string[], endpoint: string): Promise<() => Promise<void>> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'] ?? '' } });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the S3 service exited with ${child.exitCode}: ${printed}`);
    return await fetch(endpoint).then(
      () => true,
      () => false,
    );
  });
  return async () => {
    child.kill('SIGKILL');
    await exited;
  };
}

/** Returns a URL that allows one PUT of the key, without any other credentials. `endpoint` is where clients reach the service. */
export async function presignPut(
  { options }: RunningS3,
  key: string,
  { endpoint = options.endpoint, expiresSeconds = 3_600 } = {},
): Promise<string> {
  const { accessKeyId, secretAccessKey, region, bucket } = options;
  const url = new URL(`${endpoint}/${bucket}/${key}`);
  url.searchParams.set('X-Amz-Expires', String(expiresSeconds));
  const credentials = { accessKeyId, secretAccessKey, region, service: 's3' };
  const signer = new AwsV4Signer({ method: 'PUT', url: url.href, ...credentials, signQuery: true });
  return (await signer.sign()).url.href;
}

/** Returns the content of an object, whatever its place in the bucket. Undefined if there is none. */
export async function readObject({ options }: RunningS3, key: string): Promise<Buffer | undefined> {
  const { prefix: _prefix, ...client } = options;
  try {
    return await buffer(await new S3Client(client).send({ method: 'GET', key }));
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return undefined;
    throw error;
  }
}
