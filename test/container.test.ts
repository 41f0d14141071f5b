// The image itself, under podman: not root, with a read-only root file system and without capabilities. Run with
// `npm run test:container`, which builds the image first.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from './pictures.ts';
import {
  createKey,
  IMAGE,
  podman,
  PODMAN_OPTIONS,
  type RunningContainer,
  startContainer,
} from './running-container.ts';
import { form, health, post, problemOf, until } from './running-server.ts';
import { plainClip } from './video/plain-clip.ts';

const SECCOMP_PROFILE = path.resolve(import.meta.dirname, '../deploy/seccomp.json');
const MAX_INSTALL_BYTES = 340_000_000;

let folder: string;
let containers: RunningContainer[] = [];
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-container-'));
});
afterEach(async () => {
  for (const container of containers) await container.remove();
  containers = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  options: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningContainer & { readonly key: string }> {
  const container = await startContainer({ options, environment });
  containers.push(container);
  return { ...container, key: await createKey(container) };
}

/** A copy of the profile in deploy/ that refuses namespaces and mounts, as Docker's default profile does. */
function profileWithoutNamespaces(): string {
  const profile = JSON.parse(readFileSync(SECCOMP_PROFILE, 'utf8')) as { syscalls: { names: string[] }[] };
  const refused = new Set(['mount', 'pivot_root', 'umount2', 'unshare']);
  for (const rule of profile.syscalls) rule.names = rule.names.filter((name) => !refused.has(name));
  const file = path.join(folder, 'without-namespaces.json');
  writeFileSync(file, JSON.stringify(profile));
  return file;
}

describe.skipIf(IMAGE === '')('container (needs npm run test:container)', () => {
  it.each([
    ['the default seccomp profile of podman', []],
    ['deploy/seccomp.json', [`--security-opt=seccomp=${SECCOMP_PROFILE}`]],
  ])('renders in the bubblewrap sandbox with %s', async (_profile, options) => {
    const container = await run(options, { STORYBAR_SANDBOX: 'required' });
    expect((await health(container)).sandbox.level).toBe('bubblewrap');
    expect(await podman('exec', container.id, 'id', '-u')).toBe('1000');
    const requests = {
      'image/png': form({ asset: await plainPng(640, 480, '#567'), text: 'an image' }),
      'video/mp4': form({ asset: readFileSync(plainClip(path.join(folder, 'short.mp4'))), text: 'a video' }),
    };
    for (const [type, body] of Object.entries(requests)) {
      const response = await post(container, body);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(500);
    }
    const bars = await post(container, form({ width: '320', height: '240', text: 'bars alone' }));
    expect([bars.status, bars.headers.get('x-source-type')]).toEqual([200, 'image']);
    await bars.arrayBuffer();
  });

  it('falls back to resource limits where the seccomp profile refuses namespaces, and says why', async () => {
    const container = await run([`--security-opt=seccomp=${profileWithoutNamespaces()}`]);
    expect((await health(container)).sandbox.level).toBe('limits');
    expect(await container.logs()).toMatch(/stronger sandbox unavailable/u);
    const response = await post(container, form({ width: '64', height: '64', text: 'a' }));
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  it('reduces the memory limits of workers in a small container, and refuses an image that needs more', async () => {
    const container = await run(['--memory=1g'], { STORYBAR_WORKERS: '1' });
    expect(await container.logs()).toMatch(/"containerMb":1024.*container memory limit too small for all workers/u);
    // No other format takes as much memory as a WebP with alpha.
    const transparent = { width: 7_000, height: 7_000, channels: 4, background: '#ff00007f' } as const;
    const large = await sharp({ create: transparent }).webp({ effort: 0 }).toBuffer();
    const response = await post(container, form({ asset: large, text: 'a' }));
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'out_of_memory' });
    const next = await post(container, form({ width: '64', height: '64', text: 'a' }));
    expect(next.status).toBe(200);
    await next.arrayBuffer();
  });

  it('delivers a running video and exits with 0 when the container is stopped', async () => {
    const container = await run([], { STORYBAR_SHUTDOWN_SECONDS: '100' });
    const clip = plainClip(path.join(folder, 'long.mp4'), { width: 640, height: 360, frames: 240 });
    const video = post(container, form({ asset: readFileSync(clip), text: 'a' }));
    await until(async () => (await health(container)).renderer.videos.busy === 1);
    const stopped = podman('stop', '--time', '110', container.id);
    const response = await video;
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect((await response.arrayBuffer()).byteLength).toBe(Number(response.headers.get('content-length')));
    await stopped;
    expect(await podman('inspect', '--format={{.State.ExitCode}}', container.id)).toBe('0');
  });

  it(`contains at most ${MAX_INSTALL_BYTES / 1_000_000} MB of our own files and dependencies`, () => {
    const listed = execFileSync(
      'podman',
      [
        'run',
        '--rm',
        '--no-healthcheck',
        ...PODMAN_OPTIONS,
        '--entrypoint=du',
        IMAGE,
        '--apparent-size',
        '--bytes',
        '--summarize',
        '/app',
      ],
      { encoding: 'utf8' },
    );
    expect(Number(listed.split('\t')[0])).toBeLessThanOrEqual(MAX_INSTALL_BYTES);
  });
});
