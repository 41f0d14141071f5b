// Compares the measurements with our targets. This is a report and not a test, because noise can cause a miss.

import type { PhotoResult, PhotoRow } from './photos.ts';
import { NATIVE_ENCODER } from './native-peer.ts';
import { OURS } from './own.ts';
import { SHARP_DEFAULT } from './sharp-peers.ts';
import { fixed, formatTable } from './table.ts';

const SPEED_UP = 5;
const CPU_OF_NATIVE = 0.75;
const OVER_FLOOR = 1.35;
const OVERLAY_MS = 10;
const SERVER_MS = 15;

export interface Measured {
  readonly photos: readonly { readonly name: string; readonly result: PhotoResult }[];
  readonly overlays: readonly { readonly name: string; readonly ms: number }[];
  /** `undefined` when the server could not be measured. */
  readonly serverOverheadMs: number | undefined;
}

export function formatTargets({ photos, overlays, serverOverheadMs }: Measured): string {
  return formatTable([
    ['target', 'goal', 'measured', ''],
    ...photos.flatMap(({ name, result }) => photoTargets(name, result)),
    ...overlays.map(({ name, ms }) => {
      return [
        `overlay only, warm, 1080x1920, ${name}`,
        `< ${OVERLAY_MS} ms`,
        `${fixed(ms, 1)} ms`,
        verdict(ms < OVERLAY_MS),
      ];
    }),
    serverTarget(serverOverheadMs),
  ]);
}

function photoTargets(name: string, { rows, overFloor }: PhotoResult): string[][] {
  const sharp = rowNamed(rows, SHARP_DEFAULT);
  const size = rowNamed(rows, OURS).bytes / sharp.bytes;
  const native = rowNamed(rows, NATIVE_ENCODER);
  const cpuOfNative = 1 / native.cpuRatio;
  const sizeOfNative = 1 / native.sizeRatio;
  return [
    [
      `speed-up over ${SHARP_DEFAULT}, ${name}`,
      `>= ${SPEED_UP}x`,
      `${fixed(sharp.timeRatio, 2)}x`,
      verdict(sharp.timeRatio >= SPEED_UP),
    ],
    [`file size relative to ${SHARP_DEFAULT}, ${name}`, '< 1x', `${fixed(size, 2)}x`, verdict(size < 1)],
    [
      `processor time relative to ${NATIVE_ENCODER}, ${name}`,
      `<= ${CPU_OF_NATIVE}x`,
      `${fixed(cpuOfNative, 2)}x`,
      verdict(cpuOfNative <= CPU_OF_NATIVE),
    ],
    [
      `file size relative to ${NATIVE_ENCODER}, ${name}`,
      '<= 1x',
      `${fixed(sizeOfNative, 3)}x`,
      verdict(sizeOfNative <= 1),
    ],
    [
      `time relative to the floor, ${name}`,
      `<= ${OVER_FLOOR}x`,
      `${fixed(overFloor, 2)}x`,
      verdict(overFloor <= OVER_FLOOR),
    ],
  ];
}

function serverTarget(ms: number | undefined): string[] {
  const name = 'server overhead over the library call, 1080x1920';
  if (ms === undefined) return [name, `<= ${SERVER_MS} ms`, '-', 'not measured'];
  return [name, `<= ${SERVER_MS} ms`, `${fixed(ms, 1)} ms`, verdict(ms <= SERVER_MS)];
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'missed';
}

function rowNamed(rows: readonly PhotoRow[], name: string): PhotoRow {
  const found = rows.find((row) => row.name === name);
  if (!found) throw new Error(`there is no row for ${name}`);
  return found;
}
