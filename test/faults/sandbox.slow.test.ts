// The sandbox of render workers at every level that this machine supports: attacked from inside and inspected from outside.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox, type SandboxLevel } from '../../src/service/dispatch/sandbox/sandbox.ts';
import { findVisiblePaths } from '../../src/service/dispatch/sandbox/visible-paths.ts';
import { ManagedProcess } from '../../src/engine/media/process.ts';
import { plainPng } from '../pictures.ts';
import { runCommand } from '../run-command.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROGRAM = path.join(ROOT, 'bin/storybar.js');
const LIMITS = { memoryBytes: 512 * 1024 ** 2, fileBytes: 1024 ** 2 };
const MODES = { bubblewrap: 'required', limits: 'limits', process: 'off' } as const satisfies Record<
  SandboxLevel,
  string
>;

const findTool = (name: string): string | undefined =>
  ['/usr/bin', '/bin', '/usr/local/bin']
    .map((folder) => path.join(folder, name))
    .find((file) => {
      try {
        return readFileSync(file).length > 0;
      } catch {
        return false;
      }
    });
const tools = { bwrap: findTool('bwrap'), prlimit: findTool('prlimit') };

let folder: string;
let listener: Server;
let largeImage: Buffer;
/** The report of `storybar doctor` for each level. */
const reported = new Map<SandboxLevel, string>();
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-sandbox-'));
  mkdirSync(path.join(folder, 'data/work/other-render'), { recursive: true });
  for (const file of ['data/storybar.db', 'data/work/other-render/asset', 'outside']) {
    writeFileSync(path.join(folder, file), 'secret');
  }
  listener = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  largeImage = await plainPng(7000, 7000, '#fff');
  for (const [level, mode] of Object.entries(MODES) as [SandboxLevel, string][]) {
    const findings = await doctor({ STORYBAR_SANDBOX: mode });
    reported.set(level, findings.find(({ what }) => what === 'sandbox')?.detail ?? '');
  }
});
afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

async function doctor(env: Record<string, string>): Promise<{ what: string; ok: boolean; detail: string }[]> {
  const { stdout } = await runCommand(['doctor', '--json'], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  return JSON.parse(stdout) as { what: string; ok: boolean; detail: string }[];
}

/** Attempts of a compromised worker, with their results. This is plain JavaScript that uses none of our code. */
const ATTACK = String.raw`
const fs = require('node:fs'), net = require('node:net'), dgram = require('node:dgram'), { spawnSync } = require('node:child_process');
const t = JSON.parse(process.argv[1]);
const can = (attack) => { try { return attack() !== false; } catch { return false; } };
const linkPast = () => { fs.symlinkSync(t.database, t.directory + '/link'); try { return fs.readFileSync(t.directory + '/link') } finally { fs.unlinkSync(t.directory + '/link') } };
const grow = () => { const kept = []; for (let n = 0; n < 64; n += 1) kept.push(Buffer.alloc(64 * 1024 ** 2)); };
const big = () => { try { fs.writeFileSync(t.directory + '/big', Buffer.alloc(2 * 1024 ** 2)); } finally { fs.unlinkSync(t.directory + '/big') } };
const tcp = () => new Promise((resolve) => { try { net.connect(t.port, '127.0.0.1').once('connect', () => resolve(true)).once('error', () => resolve(false)); } catch { resolve(false); } });
const udp = () => new Promise((resolve) => { try { const s = dgram.createSocket('udp4'); s.once('error', () => resolve(false)); s.send('x', t.port, '127.0.0.1', (e) => { s.close(); resolve(!e); }); } catch { resolve(false); } });
(async () => {
  const did = {
    writeToDirectory: can(() => fs.writeFileSync(t.directory + '/own', 'x')),
    readDatabase: can(() => fs.readFileSync(t.database)),
    readByLink: can(linkPast),
    readOtherRender: can(() => fs.readFileSync(t.otherRender)),
    readOutside: can(() => fs.readFileSync(t.outside)),
    readPasswords: can(() => fs.readFileSync('/etc/passwd')),
    listProcesses: can(() => fs.readdirSync('/proc').length > 0),
    changeCode: can(() => fs.closeSync(fs.openSync(t.code, 'r+'))),
    writeOutside: can(() => fs.writeFileSync(t.outside + '-made', 'x')),
    writeToTemporary: can(() => { fs.writeFileSync('/tmp/' + t.unique, 'x'); fs.unlinkSync('/tmp/' + t.unique); }),
    signalServer: can(() => process.kill(t.server, 0)),
    startProgram: can(() => spawnSync(process.execPath, ['--version']).status === 0),
    connect: await tcp(), sendDatagram: await udp(),
    writeLargeFile: can(big),
    takeMuchMemory: can(grow),
  };
  fs.writeSync(3, JSON.stringify({ did, environment: Object.keys(process.env).sort() }) + '\n');
  process.exit(0);
})();
`;

interface AttackReport {
  readonly did: Record<string, boolean>;
  readonly environment: readonly string[];
}

async function attack(level: SandboxLevel): Promise<AttackReport> {
  const dataDirectory = path.join(folder, 'data');
  const directory = path.join(dataDirectory, 'work', randomUUID());
  mkdirSync(directory);
  const paths = findVisiblePaths({ packageRoot: ROOT, dataDirectory, prlimit: tools.prlimit });
  const sandbox = new Sandbox(level, tools, paths);
  const targets = {
    directory: sandbox.pathInside(directory),
    database: path.join(dataDirectory, 'storybar.db'),
    otherRender: path.join(dataDirectory, 'work/other-render/asset'),
    outside: path.join(folder, 'outside'),
    code: path.join(ROOT, 'dist/main/worker.js'),
    unique: randomUUID(),
    server: process.pid,
    port: (listener.address() as AddressInfo).port,
  };
  const program = { file: process.execPath, args: ['-e', ATTACK, JSON.stringify(targets)] };
  const attacker = new ManagedProcess(sandbox.start(program, directory, LIMITS));
  const report = new Promise<AttackReport>((resolve) =>
    attacker.onMessage((message) => resolve(message as AttackReport)),
  );
  const failure = attacker.exited.then((exit) => {
    throw new Error(`the attacker exited without a report: ${JSON.stringify(exit)}`);
  });
  return await Promise.race([report, failure]);
}

describe.each(['bubblewrap', 'limits', 'process'] as const)('sandbox level %s', (level) => {
  let server: RunningServer;
  const skipUnlessSupported = (skip: (note: string) => void): void => {
    const detail = reported.get(level) ?? '';
    if (!detail.startsWith(level)) skip(`not supported on this machine: ${detail}`);
  };
  beforeAll(async () => {
    if (!reported.get(level)?.startsWith(level)) return;
    server = await startServer({ STORYBAR_SANDBOX: MODES[level], STORYBAR_WORKER_MEMORY_MB: '256' });
  });
  afterAll(async () => {
    await server?.stop();
  });

  it('lets an attacker reach only what the level does not guard', async ({ skip }) => {
    skipUnlessSupported(skip);
    const { did, environment } = await attack(level);
    const open = level !== 'bubblewrap';
    expect(did).toEqual({
      writeToDirectory: true,
      readDatabase: open,
      readByLink: open,
      readOtherRender: open,
      readOutside: open,
      readPasswords: open,
      listProcesses: open,
      changeCode: open && mayWrite(path.join(ROOT, 'dist/main/worker.js')),
      writeOutside: open,
      writeToTemporary: open,
      signalServer: open,
      startProgram: open,
      connect: open,
      sendDatagram: open,
      writeLargeFile: level === 'process',
      takeMuchMemory: level === 'process',
    });
    expect(environment.filter((name) => !['TMPDIR', 'PWD'].includes(name))).toEqual([]);
  });

  it('renders images and videos, and reports the level', async ({ skip }) => {
    skipUnlessSupported(skip);
    expect((await health(server)).sandbox).toMatchObject({ level, guards: expect.arrayContaining(['environment']) });
    expect(server.output().stderr).toContain(`sandbox level ${level}`);
    const image = await post(server, form({ asset: await plainPng(64, 64, '#fff'), text: 'a' }));
    expect([image.status, (await image.arrayBuffer()).byteLength]).toEqual([200, expect.any(Number)]);
    const clip = readFileSync(plainClip(path.join(folder, `${level}.mp4`)));
    const video = await post(server, form({ asset: clip, text: 'a' }));
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await video.arrayBuffer();
    expect(directoriesOf(server).flatMap((directory) => readdirSync(directory))).toEqual([]);
  });

  it('starts workers with the limits, capabilities and namespaces of the level', async ({ skip }) => {
    skipUnlessSupported(skip);
    // One for images, one for videos and one for short videos, which starts with the first video.
    await until(() => health(server).then(({ renderer }) => renderer.images.ready + renderer.videos.ready === 3));
    const [own, ...others] = ['self', ...server.workerPids()].map(facts);
    expect(others).toHaveLength(3);
    for (const worker of others) {
      expect(worker.limits.includes(String(2048 * 1024 ** 2))).toBe(level !== 'process');
      expect(worker.oomScoreAdjustment).toBe('1000');
      if (level !== 'bubblewrap') continue;
      expect(worker).toMatchObject({ capabilities: '0000000000000000', noNewPrivileges: '1', systemCallFilter: '2' });
      expect(worker.namespaces.filter((name, index) => name === own?.namespaces[index])).toEqual([]);
      const ours = [ROOT, process.execPath].map((file) => file.split('/')[1] ?? '');
      const allowed = new Set(['storybar-worker', 'dev', 'etc', 'lib', 'lib64', 'usr', ...ours]);
      expect(worker.root.filter((name) => !allowed.has(name))).toEqual([]);
    }
  });

  it('refuses an image that takes too much memory and renders the next one', async ({ skip }) => {
    skipUnlessSupported(skip);
    const large = await post(server, form({ asset: largeImage, text: 'a' }));
    expect(await problemOf(large)).toMatchObject({ status: 503, code: 'out_of_memory' });
    await until(() => server.output().stderr.includes('took too much memory'));
    const next = await post(server, form({ width: '64', height: '64', text: 'a' }));
    expect(next.status).toBe(200);
    await next.arrayBuffer();
  });

  // This is the last test, because it ends the server.
  it('leaves no worker process and no directory behind', async ({ skip }) => {
    skipUnlessSupported(skip);
    const [before, directories] = [server.workerPids(), directoriesOf(server)];
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await until(() => !directoriesOf(server).some((directory) => directories.includes(directory)));
    await until(() => health(server).then(({ renderer }) => renderer.images.ready + renderer.videos.ready === 3));
    expect(directoriesOf(server)).toHaveLength(3);
    server.signal('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(readdirSync(path.join(server.dataDirectory, 'work'))).toEqual([]);
    expect(before.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });
});

/** Returns false when the program belongs to another user. */
function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function directoriesOf({ dataDirectory, pid }: RunningServer): string[] {
  const area = path.join(dataDirectory, 'work', `${pid}-workers`);
  return readdirSync(area).map((name) => path.join(area, name));
}

/** Returns the kernel's facts about a process. */
function facts(pid: number | string) {
  const read = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8').trim();
  const status = (name: string): string | undefined => new RegExp(`^${name}:\\s+(.*)$`, 'mu').exec(read('status'))?.[1];
  return {
    capabilities: status('CapBnd') === undefined ? undefined : status('CapEff'),
    noNewPrivileges: status('NoNewPrivs'),
    systemCallFilter: status('Seccomp'),
    oomScoreAdjustment: read('oom_score_adj'),
    limits: read('limits'),
    namespaces: ['user', 'pid', 'net', 'mnt', 'ipc', 'uts'].map((name) => readlinkSync(`/proc/${pid}/ns/${name}`)),
    root: readdirSync(`/proc/${pid}/root`),
  };
}

async function failsToRun(file: string, args: readonly string[]): Promise<boolean> {
  return await promisify(execFile)(file, args).then(
    () => false,
    () => true,
  );
}

describe('STORYBAR_SANDBOX', () => {
  const serve = async (env: Record<string, string>) =>
    await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], {
      env: { PORT: '0', STORYBAR_DATA_DIR: path.join(folder, randomUUID()), ...env },
    }).catch((error: { code: number; stderr: string }) => error);

  it('required refuses to start without bubblewrap and says why', async () => {
    const failure = await serve({ STORYBAR_SANDBOX: 'required', PATH: '/nowhere' });
    expect(failure).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/STORYBAR_SANDBOX is required.*bwrap isn't installed \(package bubblewrap\)/u),
    });
  });

  it('auto starts without bubblewrap and reports the weaker level', async () => {
    const server = await startServer({ STORYBAR_SANDBOX: 'auto', STORYBAR_WORKERS: '1', PATH: '/nowhere' });
    expect((await health(server)).sandbox).toEqual({ level: 'process', guards: ['environment'] });
    expect(server.output().stderr).toContain("bwrap isn't installed");
    await server.stop();
  });

  it('detects a bwrap that does not isolate', async ({ skip }) => {
    const { prlimit } = tools;
    if (prlimit === undefined) return skip('prlimit is not installed');
    const fake = path.join(folder, 'fake');
    mkdirSync(fake);
    const file = path.join(fake, 'bwrap');
    writeFileSync(file, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n');
    chmodSync(file, 0o755);
    const PATH = `${fake}:${path.dirname(prlimit)}`;
    const failure = await serve({ STORYBAR_SANDBOX: 'required', PATH });
    expect(failure).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/doesn't isolate on this machine.*files.*processes.*network/u),
    });
    const finding = (await doctor({ PATH })).find(({ what }) => what === 'sandbox');
    expect(finding).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/^limits.*not bubblewrap: it doesn't isolate/u),
    });
  });

  it('finds bubblewrap usable when the server is process 1, as it is in a container', async ({ skip }) => {
    const { bwrap } = tools;
    if (bwrap === undefined || !reported.get('bubblewrap')?.startsWith('bubblewrap')) return skip('needs bubblewrap');
    const container = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc'];
    const inside = [process.execPath, '-e', 'process.exit(process.pid === 1 ? 0 : 1)'];
    if (await failsToRun('unshare', [...container, ...inside])) return skip('needs unshare and user namespaces');
    const { stdout } = await promisify(execFile)(
      'unshare',
      [...container, process.execPath, PROGRAM, 'doctor', '--json'],
      { env: { PATH: process.env['PATH'] ?? '', STORYBAR_SANDBOX: 'required' } },
    ).catch((error: { stdout: string }) => error);
    const findings = JSON.parse(stdout) as { what: string; detail: string }[];
    expect(findings.find(({ what }) => what === 'sandbox')?.detail).toMatch(/^bubblewrap/u);
  });

  it('starts a new process for every task when STORYBAR_WORKER_TASKS is 1', async () => {
    const server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_WORKER_TASKS: '1' });
    const before = server.workerPids();
    const response = await post(server, form({ asset: await plainPng(64, 64, '#fff'), text: 'a' }));
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await until(() => server.workerPids().filter((pid) => before.includes(pid)).length === 1);
    expect((await health(server)).renderer.images.restarts).toBe(0);
    await server.stop();
  });
});
