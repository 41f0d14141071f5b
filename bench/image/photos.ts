// Measures three bars on one photo: the time and file size of each contender, relative to ours.

import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Timings } from '../../src/engine/render/timing.ts';
import { type Apart, type ApartResult, startApart } from './apart.ts';
import type { Contender, Output } from './contender.ts';
import { nativeEncoder } from './native-peer.ts';
import { floor, OURS, ourPipeline } from './own.ts';
import type { Photo } from './pictures.ts';
import {
  best,
  interleave,
  median,
  medianRatio,
  type Runner,
  type Series,
  seriesNamed,
  type Timed,
  type TimedRunner,
} from './rounds.ts';
import { layOut, PEER_FONT, PEER_FONT_NAME, type Scene } from './scene.ts';
import { stepMedians } from './steps.ts';
import { fixed, formatTable } from './table.ts';

export interface PhotoRow {
  readonly name: string;
  readonly rounds: number;
  readonly ms: number;
  readonly bestMs: number;
  readonly timeRatio: number;
  /** `NaN` for programs. */
  readonly cpuMs: number;
  readonly cpuRatio: number;
  readonly bytes: number;
  readonly sizeRatio: number;
}

export interface PhotoResult {
  readonly rows: readonly PhotoRow[];
  /** Our time relative to the floor, from the same rounds. */
  readonly overFloor: number;
  readonly steps: string;
}

export interface PhotoOptions {
  readonly peers: readonly Contender[];
  readonly rounds: number;
  /** A directory for the last output of each contender. */
  readonly keep: string | undefined;
}

export async function measurePhoto(photo: Photo, { peers, rounds, keep }: PhotoOptions): Promise<PhotoResult> {
  const directory = await mkdtemp(path.join(tmpdir(), 'storybar-bench-'));
  const timings: Timings[] = [];
  const contenders = [ourPipeline(() => undefined), floor, nativeEncoder, ...peers];
  const processes: Apart[] = [];
  try {
    const scene = await setScene(photo, directory);
    const runners: (Runner<Output> | TimedRunner<Output>)[] = [];
    for (const contender of contenders) {
      const { name } = contender;
      if (contender.isProgram) {
        runners.push({ name, run: await contender.prepare(scene) });
        continue;
      }
      const apart = await startApart(contender, scene, photoFile(scene));
      processes.push(apart);
      runners.push({ name, runTimed: async () => toOutput(await apart.run(), timings) });
    }
    const all = await interleave(runners, rounds);
    if (keep !== undefined) await keepOutputs(keep, photo, all);
    return {
      rows: await toRows(all, new Set(contenders.filter(({ isProgram }) => isProgram).map(({ name }) => name))),
      overFloor: medianRatio(seriesNamed(all, OURS), seriesNamed(all, floor.name)),
      steps: stepMedians(timings.slice(-rounds)),
    };
  } finally {
    for (const apart of processes) apart.close();
    await rm(directory, { recursive: true, force: true });
  }
}

export function formatPhoto(photo: Photo, { rows, steps }: PhotoResult): string {
  const header = [`3 bars on ${photo.name} (JPEG, ${megabytes(photo.jpeg.length)} MB)`];
  const table = formatTable([
    [...header, 'rounds', 'best ms', 'median ms', 'x ours', 'CPU ms', 'x ours', 'MB', 'x ours'],
    ...rows.map((row) => [
      row.name,
      String(row.rounds),
      fixed(row.bestMs, 1),
      fixed(row.ms, 1),
      fixed(row.timeRatio, 2),
      fixed(row.cpuMs, 1),
      fixed(row.cpuRatio, 2),
      megabytes(row.bytes),
      fixed(row.sizeRatio, 2),
    ]),
  ]);
  return `${table}\nour steps (median ms): ${steps}`;
}

async function setScene(photo: Photo, directory: string): Promise<Scene> {
  const scene = { photo, directory, bars: layOut(photo) };
  await writeFile(photoFile(scene), photo.jpeg);
  await copyFile(PEER_FONT, path.join(directory, PEER_FONT_NAME));
  return scene;
}

function photoFile({ directory, photo }: Scene): string {
  return path.join(directory, `${photo.name}.jpg`);
}

function toOutput({ result, ...times }: Timed<ApartResult>, timings: Timings[]): Timed<Output> {
  if (result.timings) timings.push(result.timings);
  return { ...times, result: result.output };
}

async function toRows(all: readonly Series<Output>[], programs: ReadonlySet<string>): Promise<PhotoRow[]> {
  const ours = seriesNamed(all, OURS);
  const ourBytes = await sizeOf(ours.last);
  return await Promise.all(
    all.map(async (series) => {
      const bytes = await sizeOf(series.last);
      return {
        name: series.name,
        rounds: series.times.filter((ms) => ms !== undefined).length,
        ms: median(series.times),
        bestMs: best(series.times),
        timeRatio: medianRatio(series, ours),
        cpuMs: programs.has(series.name) ? Number.NaN : median(series.cpuTimes),
        cpuRatio: programs.has(series.name) ? Number.NaN : medianRatio(series, ours, 'cpuTimes'),
        bytes,
        sizeRatio: bytes / ourBytes,
      };
    }),
  );
}

async function keepOutputs(folder: string, photo: Photo, all: readonly Series<Output>[]): Promise<void> {
  for (const { name, last } of all) {
    const bytes = typeof last === 'string' ? await readFile(last) : last;
    await writeFile(path.join(folder, `${photo.name} ${name.replaceAll(/\W+/gu, '-')}.png`), bytes);
  }
}

async function sizeOf(output: Output): Promise<number> {
  return typeof output === 'string' ? (await stat(output)).size : output.length;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2);
}
