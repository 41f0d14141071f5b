// Where the parts of an image are in the memory of the codec: the file, its blocks, one strip of the overlay, and the output.

import type { Size } from '../../layout/geometry.ts';
import type { JpegCodec } from './codec.ts';
import { largestFactors } from './headers.ts';
import type { Strips } from './overlay-strips.ts';
import { scalesOf } from './transform.ts';
import { coefficientMoves, type ComponentFrame, mcuGrid, mcuSize, type Turn, turnFrame } from './turn.ts';

/** 64 coefficients of 16 bits. */
const BLOCK_BYTES = 128;
/** The reader stops at a marker, and reads some bytes at once. */
const FILE_END = Uint8Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? 0xff : 0xd9));
const ALIGNMENT = 64;

/** Red, green and blue as parts of a sample, and the middle of its range. */
const WEIGHTS = [
  [0.299, 0.587, 0.114, -128],
  [-0.168736, -0.331264, 0.5, 0],
  [0.5, -0.418688, -0.081312, 0],
] as const;

export interface ImageParts {
  /** As it is stored. */
  readonly source: ComponentFrame;
  readonly turn: Turn;
  readonly file: Uint8Array;
  /** How many rows of MCUs are stored at a time. */
  readonly storedRows: number;
}

export class ImageMemory {
  readonly #codec: JpegCodec;
  readonly upright: ComponentFrame;
  readonly mcu: Size;
  readonly fileAddress: number;
  readonly blocksAddress: number;
  readonly blockBytes: number;
  readonly #stripAddress: number;
  readonly #stripSize: Size;
  readonly outputAddress: number;

  constructor(codec: JpegCodec, { source, turn, file, storedRows }: ImageParts) {
    this.#codec = codec;
    this.upright = turnFrame(source, turn);
    this.mcu = mcuSize(this.upright);
    this.fileAddress = codec.wasm.HEAP.value;
    this.blocksAddress = align(this.fileAddress + file.length + FILE_END.length);
    this.blockBytes = blocksOf(source, storedRows) * BLOCK_BYTES;
    this.#stripAddress = align(this.blocksAddress + this.blockBytes);
    const { columns } = mcuGrid(this.upright);
    this.#stripSize = { width: columns * this.mcu.width, height: this.mcu.height };
    const pixels = this.#stripSize.width * this.#stripSize.height;
    const cellsAddress = this.#stripAddress + pixels * 4;
    this.outputAddress = align(cellsAddress + pixels / 64);
    codec.reserve(this.outputAddress + file.length);
    codec.bytes(this.fileAddress, file.length).set(file);
    codec.bytes(this.fileAddress + file.length, FILE_END.length).set(FILE_END);
    codec.wasm.setStrip(this.#stripAddress, this.#stripSize.width, cellsAddress);
    this.#setComponents(source, turn, storedRows);
  }

  #setComponents(source: ComponentFrame, turn: Turn, storedRows: number): void {
    const { wasm } = this.#codec;
    const grid = mcuGrid(source);
    const upright = mcuGrid(this.upright);
    const largest = largestFactors(source.components);
    wasm.setFrame(grid.columns, grid.rows);
    wasm.setOutputs(source.components.length, upright.columns);
    let address = this.blocksAddress;
    for (const [index, { horizontal, vertical }] of source.components.entries()) {
      const columns = Math.ceil(Math.ceil((source.width * horizontal) / largest.width) / 8);
      const rows = Math.ceil(Math.ceil((source.height * vertical) / largest.height) / 8);
      const all = { width: grid.columns * horizontal, height: storedRows * vertical };
      const rowBytes = all.width * BLOCK_BYTES;
      wasm.setSource(index, horizontal, vertical, columns, rows, address, rowBytes);
      const { first, perRow, perColumn } = uprightBlocks(address, all, turn);
      const [across, down] = turn.swapsAxes ? [vertical, horizontal] : [horizontal, vertical];
      const scaleX = this.mcu.width / (8 * across);
      const scaleY = this.mcu.height / (8 * down);
      wasm.setOutput(index, across, down, first, perRow, perColumn, scaleX, scaleY);
      address += all.height * rowBytes;
    }
    const { places, signs } = coefficientMoves(turn);
    this.#codec.bytes(wasm.MOVES.value, places.length).set(places);
    this.#codec.bytes(wasm.SIGNS.value, signs.length).set(signs);
  }

  /** Sets the quantization steps of the upright image. */
  setSteps(steps: readonly Uint16Array[]): void {
    const { wasm } = this.#codec;
    for (const [index, table] of steps.entries()) {
      const { toSamples, toCoefficients } = scalesOf(table);
      this.#codec.floats(wasm.TO_SAMPLES.value + index * 256, 64).set(toSamples);
      this.#codec.floats(wasm.TO_COEFFICIENTS.value + index * 256, 64).set(toCoefficients);
      const [red, green, blue, middle] = WEIGHTS[index] ?? WEIGHTS[0];
      wasm.setColor(index, red, green, blue, middle, table[0] ?? 1);
    }
  }

  clearBlocks(): void {
    this.#codec.bytes(this.blocksAddress, this.blockBytes).fill(0);
  }

  /** Puts the overlay of a row of MCUs into the strip. Returns false if there is none. */
  fillStrip(strips: Strips, row: number): boolean {
    const top = row * this.mcu.height;
    if (!strips.touches(top, this.mcu.height)) return false;
    const { width, height } = this.#stripSize;
    strips.fill(this.#codec.words(this.#stripAddress, width * height), top, this.#stripSize);
    this.#codec.wasm.classifyStrip(height);
    return true;
  }

  /** The written data up to this address. */
  output(end: number): Uint8Array {
    return this.#codec.bytes(this.outputAddress, end - this.outputAddress);
  }
}

/** The codec may have a gigabyte. The rest is for the file, and for the output. */
const MAX_STORED_BYTES = 700_000_000;

/** Returns true if all blocks of an image can be in memory at once: up to 110 megapixels with full color resolution. */
export function isStorable(frame: ComponentFrame): boolean {
  return blocksOf(frame, mcuGrid(frame).rows) * BLOCK_BYTES <= MAX_STORED_BYTES;
}

/** The blocks of this many rows of MCUs. */
export function blocksOf(frame: ComponentFrame, rows: number): number {
  const perMcu = frame.components.reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0);
  return perMcu * mcuGrid(frame).columns * rows;
}

/** How to step through stored blocks in the order of the upright image. */
function uprightBlocks(
  address: number,
  { width, height }: Size,
  { swapsAxes, mirrorsX, mirrorsY }: Turn,
): { readonly first: number; readonly perRow: number; readonly perColumn: number } {
  const rowBytes = width * BLOCK_BYTES;
  const [columns, rows] = swapsAxes ? [height, width] : [width, height];
  const [perColumn, perRow] = swapsAxes ? [rowBytes, BLOCK_BYTES] : [BLOCK_BYTES, rowBytes];
  return {
    first: address + (mirrorsX ? (columns - 1) * perColumn : 0) + (mirrorsY ? (rows - 1) * perRow : 0),
    perRow: mirrorsY ? -perRow : perRow,
    perColumn: mirrorsX ? -perColumn : perColumn,
  };
}

function align(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT;
}
