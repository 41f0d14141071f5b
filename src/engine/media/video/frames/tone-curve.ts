// Tone mapping from HDR to SDR, as one curve for red, green and blue. Shadows and midtones keep their luminance, and
// highlights roll off instead of clipping (ITU-R BT.2390). The shared curve turns very bright colors white, as the eye
// sees them. docs/decisions/0011-tone-mapping.md compares the result with Chromium's.

import type { Transfer } from './color.ts';

/**
 * This luminance becomes white in the output. It is about twice reference white (203 nits, ITU-R BT.2408), to leave
 * room for highlights.
 */
const WHITE_NITS = 400;
/** Highlights roll off from this luminance, below reference white, so that clouds and lamps keep their structure. */
const KNEE_NITS = 160;
/** The usual mastering peak of PQ. */
export const DEFAULT_PEAK_NITS = 1_000;
/** The gamma of the display that the output is for: phones and monitors, not the 2.4 of a dark living room. */
export const SHOWN_GAMMA = 2.2;
const POINTS = 48;

/** Returns points of a spline that maps the input signal to the output signal, both in 0..1. */
export function toneCurve(
  transfer: Exclude<Transfer, 'sdr'>,
  peakNits: number,
): readonly (readonly [number, number])[] {
  return Array.from({ length: POINTS + 1 }, (_, index) => {
    const signal = index / POINTS;
    return [signal, shownSignal(transfer, signal, peakNits)] as const;
  });
}

/** Returns the output signal for one input signal. HLG has no peak in its metadata. */
export function shownSignal(
  transfer: Exclude<Transfer, 'sdr'>,
  signal: number,
  peakNits: number = DEFAULT_PEAK_NITS,
): number {
  const peak = pqSignal(transfer === 'hlg' ? hlgNits(1) : Math.max(peakNits, WHITE_NITS * 1.5));
  const nits = transfer === 'pq' ? pqNits(signal) : hlgNits(signal);
  const shown = pqNits(rollOff(Math.min(pqSignal(nits) / peak, 1), pqSignal(WHITE_NITS) / peak, peak) * peak);
  return Math.min(1, shown / WHITE_NITS) ** (1 / SHOWN_GAMMA);
}

/**
 * The curve is linear up to the knee, then a cubic that reaches `top` when `value` is 1. A knee above BT.2390's would
 * overshoot.
 */
function rollOff(value: number, top: number, peak: number): number {
  const knee = Math.min(1.5 * top - 0.5, pqSignal(KNEE_NITS) / peak);
  if (value <= knee) return value;
  const t = (value - knee) / (1 - knee);
  return (
    (2 * t ** 3 - 3 * t ** 2 + 1) * knee + (t ** 3 - 2 * t ** 2 + t) * (1 - knee) + (3 * t ** 2 - 2 * t ** 3) * top
  );
}

// The constants of SMPTE ST 2084.
const M1 = 2610 / 16384;
const M2 = (2523 / 4096) * 128;
const C1 = 3424 / 4096;
const C2 = (2413 / 4096) * 32;
const C3 = (2392 / 4096) * 32;

function pqNits(signal: number): number {
  const power = Math.max(signal, 0) ** (1 / M2);
  return 10_000 * (Math.max(power - C1, 0) / (C2 - C3 * power)) ** (1 / M1);
}

function pqSignal(nits: number): number {
  const power = (Math.max(nits, 0) / 10_000) ** M1;
  return ((C1 + C2 * power) / (1 + C3 * power)) ** M2;
}

// The constants of ARIB STD-B67. The system gamma applies to each channel, where the 1.2 of BT.2100 would make colors
// too saturated. The scale keeps reference white (75 %) at 203 nits.
const A = 0.17883277;
const B = 1 - 4 * A;
const C = 0.5 - A * Math.log(4 * A);
const HLG_GAMMA = 1.15;
const REFERENCE_NITS = 203;
const REFERENCE_SIGNAL = 0.75;

function hlgNits(signal: number): number {
  return REFERENCE_NITS * (hlgScene(signal) / hlgScene(REFERENCE_SIGNAL)) ** HLG_GAMMA;
}

function hlgScene(signal: number): number {
  return signal <= 0.5 ? signal ** 2 / 3 : (Math.exp((signal - C) / A) + B) / 12;
}
