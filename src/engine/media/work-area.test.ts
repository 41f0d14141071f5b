import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WorkArea } from './work-area.ts';

const MINUTE_MS = 60_000;

let root: string;
const areas: WorkArea[] = [];
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'storybar-work-'));
});
afterEach(async () => {
  vi.useRealTimers();
  for (const area of areas.splice(0)) await area.close();
  rmSync(root, { recursive: true, force: true });
});

async function openArea(): Promise<WorkArea> {
  const area = await WorkArea.open(root);
  areas.push(area);
  return area;
}

describe('a work area', () => {
  it('a work area gives each render a private directory and removes it with everything in it', async () => {
    const area = await openArea();
    const directory = await area.directory('render');
    writeFileSync(directory.file('asset'), 'x');
    writeFileSync(path.join(directory.path, 'unexpected'), 'x');
    expect(statSync(directory.path).mode & 0o777).toBe(0o700);
    await directory.remove();
    expect(existsSync(directory.path)).toBe(false);
    await directory.remove();
  });

  it('a work area creates a lazy directory when it is needed, once, and removes only one that was created', async () => {
    const directory = (await openArea()).lazyDirectory('render');
    await directory.remove();
    expect(existsSync(directory.path)).toBe(false);
    await Promise.all([directory.make(), directory.make()]);
    expect(statSync(directory.path).mode & 0o777).toBe(0o700);
    await directory.remove();
    expect(existsSync(directory.path)).toBe(false);
  });

  it('a work area leaves nothing behind when it is closed', async () => {
    const area = await WorkArea.open(root);
    await area.directory('render');
    await area.close();
    expect(readdirSync(root)).toEqual([]);
  });

  it('a work area keeps working after another server has swept it', async () => {
    const area = await openArea();
    for (const name of readdirSync(root)) rmSync(path.join(root, name), { recursive: true });
    const directory = await area.directory('render');
    expect(statSync(directory.path).mode & 0o777).toBe(0o700);
  });
});

describe('the sweep when a work area is opened', () => {
  const deadPid = spawnSync(process.execPath, ['--version']).pid;

  /** The area of another server. Its lock names this PID namespace, unless `namespace` says otherwise. */
  async function otherArea(pid: number, { age = 0, namespace = '' } = {}): Promise<string> {
    const own = await WorkArea.open(root, '-probe');
    const ownLock = readFileSync(path.join(root, `${process.pid}-probe.lock`), 'utf8');
    await own.close();
    const area = path.join(root, String(pid));
    mkdirSync(path.join(area, 'render'), { recursive: true });
    writeFileSync(`${area}.lock`, `${pid} ${namespace === '' ? ownLock.split(' ')[1] : namespace}`);
    setAge(`${area}.lock`, age);
    return area;
  }

  function setAge(file: string, age: number): void {
    const at = new Date(Date.now() - age);
    utimesSync(file, at, at);
  }

  it('the sweep removes the area of a dead process in the same PID namespace immediately', async () => {
    const area = await otherArea(deadPid);
    await openArea();
    expect([existsSync(area), existsSync(`${area}.lock`)]).toEqual([false, false]);
  });

  it('the sweep keeps the area of a live process', async () => {
    const area = await otherArea(process.ppid);
    await openArea();
    expect(existsSync(path.join(area, 'render'))).toBe(true);
  });

  it('the sweep keeps the area of a server in another container, whose PID is not known here', async () => {
    const area = await otherArea(deadPid, { namespace: 'another-boot/pid:[1]', age: 9 * MINUTE_MS });
    await openArea();
    expect(existsSync(path.join(area, 'render'))).toBe(true);
  });

  it('the sweep removes the area of a server in another container after its lock has become stale', async () => {
    const area = await otherArea(process.ppid, { namespace: 'another-boot/pid:[1]', age: 11 * MINUTE_MS });
    await openArea();
    expect(existsSync(area)).toBe(false);
  });

  it('the sweep keeps the area of a server in another container that has the same PID', async () => {
    const area = await otherArea(process.pid, { namespace: 'another-boot/pid:[1]' });
    const directory = await (await openArea()).directory('render');
    expect(existsSync(path.join(area, 'render'))).toBe(true);
    expect(path.dirname(directory.path)).not.toBe(area);
  });

  it('the sweep removes a directory without a lock only when it is old', async () => {
    const [old, recent] = [path.join(root, '1'), path.join(root, '2')];
    for (const area of [old, recent]) mkdirSync(path.join(area, 'render'), { recursive: true });
    setAge(old, 11 * MINUTE_MS);
    await openArea();
    expect([existsSync(old), existsSync(recent)]).toEqual([false, true]);
  });

  it('the sweep happens again later, and the lock of an open area never becomes stale', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await openArea();
    const lock = path.join(root, `${process.pid}.lock`);
    const area = await otherArea(deadPid);
    setAge(lock, 11 * MINUTE_MS);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    await expect.poll(() => existsSync(area)).toBe(false);
    expect(Date.now() - statSync(lock).mtimeMs).toBeLessThan(MINUTE_MS);
  });
});
