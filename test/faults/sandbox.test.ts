// How well workers are locked away, at every level this machine offers: attacked from inside, and seen from outside.

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
import { findPlaces } from '../../src/dispatch/sandbox/places.ts';
import { Sandbox, type SandboxLevel } from '../../src/dispatch/sandbox/sandbox.ts';
import { ManagedProcess } from '../../src/media/process.ts';
import { plainPng } from '../pictures.ts';
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
let largePicture: Buffer;
/** What `storybar doctor` says of a mode. */
const offered = new Map<SandboxLevel, string>();
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-sandbox-'));
  mkdirSync(path.join(folder, 'data/work/other-render'), { recursive: true });
  for (const file of ['data/storybar.db', 'data/work/other-render/asset', 'outside']) {
    writeFileSync(path.join(folder, file), 'secret');
  }
  listener = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  largePicture = await plainPng(7000, 7000, '#fff');
  for (const [level, mode] of Object.entries(MODES) as [SandboxLevel, string][]) {
    const findings = await doctor({ STORYBAR_SANDBOX: mode });
    offered.set(level, findings.find(({ what }) => what === 'sandbox')?.detail ?? '');
  }
});
afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

async function doctor(env: Record<string, string>): Promise<{ what: string; ok: boolean; detail: string }[]> {
  const args = [PROGRAM, 'doctor', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  }).catch((error: { stdout: string }) => error);
  return JSON.parse(stdout) as { what: string; ok: boolean; detail: string }[];
}

/** What a hijacked worker might do; each line tells whether it worked. Plain code: it must need nothing of ours. */
const ATTACK = String.raw`
const fs = require('node:fs'), net = require('node:net'), dgram = require('node:dgram'), { spawnSync } = require('node:child_process');
const t = JSON.parse(process.argv[1]);
const can = (attack) => { try { return attack() !== false; } catch { return false; } };
const linkPast = () => { fs.symlinkSync(t.database, t.cell + '/link'); try { return fs.readFileSync(t.cell + '/link') } finally { fs.unlinkSync(t.cell + '/link') } };
const grow = () => { const kept = []; for (let n = 0; n < 64; n += 1) kept.push(Buffer.alloc(64 * 1024 ** 2)); };
const big = () => { try { fs.writeFileSync(t.cell + '/big', Buffer.alloc(2 * 1024 ** 2)); } finally { fs.unlinkSync(t.cell + '/big') } };
const tcp = () => new Promise((resolve) => { try { net.connect(t.port, '127.0.0.1').once('connect', () => resolve(true)).once('error', () => resolve(false)); } catch { resolve(false); } });
const udp = () => new Promise((resolve) => { try { const s = dgram.createSocket('udp4'); s.once('error', () => resolve(false)); s.send('x', t.port, '127.0.0.1', (e) => { s.close(); resolve(!e); }); } catch { resolve(false); } });
(async () => {
  const did = {
    writeToCell: can(() => fs.writeFileSync(t.cell + '/own', 'x')),
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

interface Loot {
  readonly did: Record<string, boolean>;
  readonly environment: readonly string[];
}

async function attack(level: SandboxLevel): Promise<Loot> {
  const dataDirectory = path.join(folder, 'data');
  const cell = path.join(dataDirectory, 'work', randomUUID());
  mkdirSync(cell);
  const sandbox = new Sandbox(level, tools, findPlaces({ packageRoot: ROOT, dataDirectory, prlimit: tools.prlimit }));
  const targets = {
    cell: sandbox.cellInside(cell),
    database: path.join(dataDirectory, 'storybar.db'),
    otherRender: path.join(dataDirectory, 'work/other-render/asset'),
    outside: path.join(folder, 'outside'),
    code: path.join(ROOT, 'dist/main/worker.js'),
    unique: randomUUID(),
    server: process.pid,
    port: (listener.address() as AddressInfo).port,
  };
  const program = { file: process.execPath, args: ['-e', ATTACK, JSON.stringify(targets)] };
  const attacker = new ManagedProcess(sandbox.start(program, cell, LIMITS));
  const report = new Promise<Loot>((resolve) => attacker.onMessage((message) => resolve(message as Loot)));
  const failure = attacker.exited.then((exit) => {
    throw new Error(`the attacker never reported: ${JSON.stringify(exit)}`);
  });
  return await Promise.race([report, failure]);
}

describe.each(['bubblewrap', 'limits', 'process'] as const)('at level %s', (level) => {
  let server: RunningServer;
  const isOffered = (skip: (note: string) => void): void => {
    const detail = offered.get(level) ?? '';
    if (!detail.startsWith(level)) skip(`this machine does not offer it: ${detail}`);
  };
  beforeAll(async () => {
    if (!offered.get(level)?.startsWith(level)) return;
    server = await startServer({ STORYBAR_SANDBOX: MODES[level], STORYBAR_WORKERS: '1' });
  });
  afterAll(async () => {
    await server?.stop();
  });

  it('an attacker gets only what the level does not guard', async ({ skip }) => {
    isOffered(skip);
    const { did, environment } = await attack(level);
    const open = level !== 'bubblewrap';
    expect(did).toEqual({
      writeToCell: true,
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

  it('pictures and videos are rendered, and the level is told', async ({ skip }) => {
    isOffered(skip);
    expect((await health(server)).sandbox).toMatchObject({ level, guards: expect.arrayContaining(['environment']) });
    expect(server.output().stderr).toContain(`sandbox level ${level}`);
    const picture = await post(server, form({ asset: await plainPng(64, 64, '#fff'), text: 'a' }));
    expect([picture.status, (await picture.arrayBuffer()).byteLength]).toEqual([200, expect.any(Number)]);
    const clip = readFileSync(plainClip(path.join(folder, `${level}.mp4`)));
    const video = await post(server, form({ asset: clip, text: 'a' }));
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await video.arrayBuffer();
    expect(cellsOf(server).flatMap((cell) => readdirSync(cell))).toEqual([]);
  });

  it('real workers are what they are said to be', async ({ skip }) => {
    isOffered(skip);
    const [own, ...others] = ['self', ...server.workerPids()].map(facts);
    expect(others).toHaveLength(2);
    for (const worker of others) {
      expect(worker.limits.includes(String(2048 * 1024 ** 2))).toBe(level !== 'process');
      expect(worker.oomScoreAdjustment).toBe('1000');
      if (level !== 'bubblewrap') continue;
      expect(worker).toMatchObject({ capabilities: '0000000000000000', noNewPrivileges: '1', systemCallFilter: '2' });
      expect(worker.namespaces.filter((name, index) => name === own?.namespaces[index])).toEqual([]);
      const ours = [ROOT, process.execPath].map((file) => file.split('/')[1] ?? '');
      const allowed = new Set(['cell', 'dev', 'etc', 'lib', 'lib64', 'usr', ...ours]);
      expect(worker.root.filter((name) => !allowed.has(name))).toEqual([]);
    }
  });

  it('no worker survives, and no cell remains', async ({ skip }) => {
    isOffered(skip);
    const other = await startServer({ STORYBAR_SANDBOX: MODES[level], STORYBAR_WORKERS: '1' });
    const [before, cells] = [other.workerPids(), cellsOf(other)];
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await until(() => !cellsOf(other).some((cell) => cells.includes(cell)));
    await until(() => health(other).then(({ renderer }) => renderer.images.ready + renderer.videos.ready === 2));
    expect(cellsOf(other)).toHaveLength(2);
    other.signal('SIGTERM');
    expect(await other.exited).toEqual({ code: 0, signal: null });
    expect(readdirSync(path.join(other.dataDirectory, 'work'))).toEqual([]);
    expect(before.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    await other.stop();
  });

  it('a picture that takes too much memory is refused, and the next one served', async ({ skip }) => {
    isOffered(skip);
    const small = await startServer({
      STORYBAR_SANDBOX: MODES[level],
      STORYBAR_WORKERS: '1',
      STORYBAR_WORKER_MEMORY_MB: '256',
    });
    try {
      const large = await post(small, form({ asset: largePicture, text: 'a' }));
      expect(await problemOf(large)).toMatchObject({ status: 422, code: 'asset_undecodable' });
      expect(small.output().stderr).toContain('took too much memory');
      const next = await post(small, form({ width: '64', height: '64', text: 'a' }));
      expect(next.status).toBe(200);
      await next.arrayBuffer();
    } finally {
      await small.stop();
    }
  });
});

/** Where the program belongs to somebody else, nobody here can change it. */
function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function cellsOf({ dataDirectory, pid }: RunningServer): string[] {
  const area = path.join(dataDirectory, 'work', `${pid}-cells`);
  return readdirSync(area).map((name) => path.join(area, name));
}

/** From the kernel. */
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

describe('STORYBAR_SANDBOX', () => {
  const serve = async (env: Record<string, string>) =>
    await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], {
      env: { PORT: '0', STORYBAR_DATA_DIR: path.join(folder, randomUUID()), ...env },
    }).catch((error: { code: number; stderr: string }) => error);

  it('required does not start where bubblewrap is absent, and says why', async () => {
    const failure = await serve({ STORYBAR_SANDBOX: 'required', PATH: '/nowhere' });
    expect(failure).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/STORYBAR_SANDBOX is required.*no program bwrap \(package bubblewrap\)/u),
    });
  });

  it('auto starts there all the same, and says so', async () => {
    const server = await startServer({ STORYBAR_SANDBOX: 'auto', STORYBAR_WORKERS: '1', PATH: '/nowhere' });
    expect((await health(server)).sandbox).toEqual({ level: 'process', guards: ['environment'] });
    expect(server.output().stderr).toContain('there is no program bwrap');
    await server.stop();
  });

  it('does not believe a bubblewrap that only pretends', async ({ skip }) => {
    const { prlimit } = tools;
    if (prlimit === undefined) return skip('there is no prlimit');
    const pretender = path.join(folder, 'pretender');
    mkdirSync(pretender);
    const file = path.join(pretender, 'bwrap');
    writeFileSync(file, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n');
    chmodSync(file, 0o755);
    const PATH = `${pretender}:${path.dirname(prlimit)}`;
    const failure = await serve({ STORYBAR_SANDBOX: 'required', PATH });
    expect(failure).toMatchObject({ code: 78, stderr: expect.stringMatching(/does not hold here.*files.*network/u) });
    const finding = (await doctor({ PATH })).find(({ what }) => what === 'sandbox');
    expect(finding).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/^limits.*not bubblewrap: it does not hold/u),
    });
  });

  it('gives every task a fresh process when told to', async () => {
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
