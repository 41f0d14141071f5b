// Reads all scans of a JPEG into stored blocks: sequential and progressive ones, with any number of components each.

import { must } from '../../../shared/must.ts';
import type { JpegCodec } from './codec.ts';
import type { JpegHeaders } from './headers.ts';
import type { Scan, Segments } from './segments.ts';
import { type ComponentFrame, mcuGrid } from './turn.ts';

/**
 * How often a block may be visited, on average. Encoders describe each coefficient in one to three of about ten scans, while a
 * small file with hundreds of scans would keep a worker busy.
 */
const MAX_VISITS = 40;
const UNKNOWN = -1;
const MAX_SHIFT = 13;

export interface ScanSource {
  readonly headers: JpegHeaders;
  readonly segments: Segments;
  /** What is stored. It may have components that the file doesn't have. */
  readonly frame: ComponentFrame;
  readonly fileAddress: number;
}

/**
 * Returns the quantization steps of each component, or `undefined` if the file is damaged or isn't complete. Decoders smooth
 * an image that lacks coefficients, so it must be decoded.
 */
export function readScans(codec: JpegCodec, source: ScanSource): Uint16Array[] | undefined {
  const reader = new ScanReader(codec, source);
  const { headers, segments } = source;
  let scan: Scan | 'end' | undefined = headers.firstScan;
  while (scan !== undefined && scan !== 'end') {
    const next = reader.read(scan);
    scan = next === undefined ? undefined : segments.next(next);
  }
  return scan === 'end' ? reader.finish() : undefined;
}

class ScanReader {
  readonly #codec: JpegCodec;
  readonly #source: ScanSource;
  /** For each component, the lowest known bit of each coefficient. */
  readonly #known: readonly Int8Array[];
  readonly #steps: (Uint16Array | undefined)[] = [];
  readonly #blocks: readonly number[];
  #visits = 0;

  constructor(codec: JpegCodec, source: ScanSource) {
    this.#codec = codec;
    this.#source = source;
    this.#known = source.headers.components.map(() => new Int8Array(64).fill(UNKNOWN));
    const { columns, rows } = mcuGrid(source.frame);
    this.#blocks = source.frame.components.map(({ horizontal, vertical }) => columns * rows * horizontal * vertical);
  }

  /** Returns where the file goes on. */
  read(scan: Scan): number | undefined {
    const { headers, segments, fileAddress } = this.#source;
    const { wasm } = this.#codec;
    if (!this.#isExpected(scan) || !this.#isAffordable(scan) || !this.#setTables(scan)) return undefined;
    wasm.setRestartInterval(segments.restartInterval);
    wasm.startScan(fileAddress + scan.dataStart, headers.isProgressive, scan.start, scan.end, scan.high, scan.low);
    const end = wasm.readScan();
    if (end === 0) return undefined;
    for (const { component } of scan.members) this.#known[component]?.fill(scan.low, scan.start, scan.end + 1);
    if (scan.start === 0 && scan.high === 0) this.#fillMargin(scan);
    return end - fileAddress;
  }

  finish(): Uint16Array[] | undefined {
    const isComplete = this.#known.every((bits) => bits.every((bit) => bit === 0));
    const steps = this.#steps.filter((table) => table !== undefined);
    return isComplete && steps.length === this.#known.length ? steps : undefined;
  }

  /** Returns true if the scan continues what is known of its coefficients. */
  #isExpected({ members, start, end, high, low }: Scan): boolean {
    const isDc = start === 0;
    const isPossible = this.#source.headers.isProgressive
      ? low <= MAX_SHIFT && end < 64 && (isDc ? end === 0 : members.length === 1 && end >= start)
      : isDc && end === 63 && high === 0 && low === 0;
    if (!isPossible || (high !== 0 && high !== low + 1)) return false;
    const before = high === 0 ? UNKNOWN : high;
    return members.every(({ component }) =>
      this.#known[component]?.subarray(start, end + 1).every((bit) => bit === before),
    );
  }

  #isAffordable({ members }: Scan): boolean {
    for (const { component } of members) this.#visits += this.#blocks[component] ?? 0;
    return this.#visits <= MAX_VISITS * this.#blocks.reduce((sum, blocks) => sum + blocks, 0);
  }

  /** Quantization tables are those at the start of the component's first scan. */
  #setTables({ members, start, end, high }: Scan): boolean {
    const { segments } = this.#source;
    const { wasm } = this.#codec;
    const { columns, rows } = mcuGrid(this.#source.frame);
    wasm.setFrame(columns, rows);
    for (const { component, dc, ac } of members) {
      this.#steps[component] ??= segments.quantization[segments.frame?.components[component]?.table ?? 0];
      const needsDc = start === 0 && high === 0;
      const isReady =
        (!needsDc || this.#setTable('dc', dc)) && (end === 0 || this.#setTable('ac', ac)) && dc < 4 && ac < 4;
      if (!isReady) return false;
      wasm.addToScan(component, dc, ac);
    }
    return true;
  }

  #setTable(kind: 'dc' | 'ac', index: number): boolean {
    const spec = this.#source.segments[kind][index];
    return spec !== undefined && this.#codec.setReadTable(kind, index, spec);
  }

  #fillMargin({ members }: Scan): void {
    const { frame } = this.#source;
    if (members.length !== 1 || frame.components.length === 1) return;
    const { columns, rows } = mcuGrid(frame);
    for (const { component } of members) {
      const { horizontal, vertical } = must(frame.components[component], 'the component of a scan');
      this.#codec.wasm.fillMargin(component, columns * horizontal, rows * vertical);
    }
  }
}
