// Writes the segments of a baseline JPEG up to its entropy-coded data.

import { type HuffmanSpec, MARKER } from './segments.ts';
import type { ComponentFrame } from './turn.ts';

/** A table with its number. */
export interface NumberedSpec extends HuffmanSpec {
  readonly kind: 'dc' | 'ac';
  readonly index: number;
}

export interface OutputHeaders extends ComponentFrame {
  readonly jfif: Uint8Array | undefined;
  readonly adobe: Uint8Array | undefined;
  readonly profile: Uint8Array | undefined;
  readonly tables: readonly NumberedSpec[];
  /** For each component, the numbers of its Huffman tables. */
  readonly selectors: readonly { readonly dc: number; readonly ac: number }[];
}

const START_OF_IMAGE = Uint8Array.of(0xff, 0xd8);
/** Without a thumbnail, and without a pixel density. */
export const PLAIN_JFIF: Uint8Array = Uint8Array.of(...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0);
const PROFILE_NAME = Buffer.from('ICC_PROFILE\0');
/** The most bytes of a profile in one segment. */
const MAX_PROFILE_PART = 65_519;

export function writeHeaders(headers: OutputHeaders): Uint8Array[] {
  const { jfif, adobe, profile, tables } = headers;
  const steps = [...new Map(headers.components.map((component) => [component.steps.join(), component.steps])).values()];
  return [
    START_OF_IMAGE,
    ...(jfif ? [segment(MARKER.app0, jfif)] : []),
    ...(adobe ? [segment(MARKER.app14, adobe)] : []),
    ...(profile ? profileSegments(profile) : []),
    ...steps.map((table, index) => segment(MARKER.dqt, quantizationTable(table, index))),
    frameSegment(headers, steps),
    ...tables.map(({ kind, index, counts, symbols }) =>
      segment(MARKER.dht, Uint8Array.of((kind === 'dc' ? 0 : 16) | index, ...counts, ...symbols)),
    ),
    scanSegment(headers),
  ];
}

function segment(marker: number, body: Uint8Array): Uint8Array {
  const length = body.length + 2;
  return Buffer.concat([Uint8Array.of(0xff, marker, length >> 8, length & 255), body]);
}

function profileSegments(profile: Uint8Array): Uint8Array[] {
  const count = Math.ceil(profile.length / MAX_PROFILE_PART);
  return Array.from({ length: count }, (_, index) => {
    const part = profile.subarray(index * MAX_PROFILE_PART, (index + 1) * MAX_PROFILE_PART);
    return segment(MARKER.app2, Buffer.concat([PROFILE_NAME, Uint8Array.of(index + 1, count), part]));
  });
}

function isLong(steps: Uint16Array): boolean {
  return steps.some((step) => step > 255);
}

function quantizationTable(steps: Uint16Array, index: number): Uint8Array {
  if (!isLong(steps)) return Uint8Array.of(index, ...steps);
  return Uint8Array.of(16 | index, ...Array.from(steps).flatMap((step) => [step >> 8, step & 255]));
}

function frameSegment(
  { width, height, components, selectors }: OutputHeaders,
  steps: readonly Uint16Array[],
): Uint8Array {
  const isBaseline = !steps.some(isLong) && selectors.every(({ dc, ac }) => dc < 2 && ac < 2);
  const body = [8, height >> 8, height & 255, width >> 8, width & 255, components.length];
  for (const component of components) {
    const table = steps.findIndex((other) => other.join() === component.steps.join());
    body.push(component.id, (component.horizontal << 4) | component.vertical, table);
  }
  return segment(isBaseline ? MARKER.sof0 : MARKER.sof1, Uint8Array.from(body));
}

function scanSegment({ components, selectors }: OutputHeaders): Uint8Array {
  const members = components.flatMap(({ id }, index) => {
    const { dc = 0, ac = 0 } = selectors[index] ?? {};
    return [id, (dc << 4) | ac];
  });
  return segment(MARKER.sos, Uint8Array.of(components.length, ...members, 0, 63, 0));
}

const DENSITY = 8;

/** The same with horizontal and vertical pixel density swapped. */
export function swapDensities(jfif: Uint8Array): Uint8Array {
  const swapped = Uint8Array.from(jfif);
  swapped.set(jfif.subarray(DENSITY + 2, DENSITY + 4), DENSITY);
  swapped.set(jfif.subarray(DENSITY, DENSITY + 2), DENSITY + 2);
  return swapped;
}
