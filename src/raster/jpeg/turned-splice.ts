// Draws bands on a JPEG with an EXIF orientation, and writes it upright. Blocks are read in the order of the upright
// image, so all of them are written with new codes, but only those that a band touches are quantized again.

import { BitWriter } from './bit-writer.ts';
import { blendOverlay } from './blend-block.ts';
import { type BlockIndex, type BlockPlaces, blockPlaces, indexBlocks } from './block-index.ts';
import { type CoefficientMoves, readAc, recodeMovedAc, writeAc, writeDifference } from './blocks.ts';
import type { EntropyData } from './entropy-data.ts';
import type { JpegHeaders } from './headers.ts';
import type { HuffmanTable } from './huffman.ts';
import { type McuBlock, mcuGrid, orderOf, type SplicedImage } from './mcu.ts';
import { type OverlayStrip, OverlayStrips } from './overlay-strip.ts';
import { coefficientMoves, type Turn } from './turn.ts';

export class TurnedSplice {
  readonly #source: JpegHeaders;
  readonly #data: EntropyData;
  readonly #image: SplicedImage;
  readonly #places: BlockPlaces;
  readonly #moves: CoefficientMoves;
  readonly #view: DataView;
  readonly #writer: BitWriter;
  /** The last DC value of each component. */
  readonly #dc = new Int32Array(3);
  readonly #coefficients = new Int32Array(64);

  constructor(source: JpegHeaders, turn: Turn, image: SplicedImage, data: EntropyData) {
    this.#source = source;
    this.#data = data;
    this.#image = image;
    this.#places = blockPlaces(source, turn);
    this.#moves = coefficientMoves(turn);
    this.#view = new DataView(data.bytes.buffer, data.bytes.byteOffset, data.bytes.length);
    this.#writer = new BitWriter(data.bytes.length);
  }

  run(): EntropyData | undefined {
    const { headers, blocks } = this.#image;
    const index = indexBlocks(this.#source, orderOf(blocks), this.#data);
    if (index === undefined) return undefined;
    const overlay = new OverlayStrips(this.#image);
    const { columns, rows } = mcuGrid(headers);
    for (let row = 0; row < rows; row += 1) {
      if (!this.#writeRow(index, row, columns, overlay.at(row))) return undefined;
    }
    const end = this.#writer.align();
    return { bytes: this.#writer.bytes, intervals: [{ start: 0, end }] };
  }

  #writeRow({ positions, dcValues }: BlockIndex, row: number, columns: number, strip?: OverlayStrip): boolean {
    const { blocks } = this.#image;
    const { starts, perRow, perColumn } = this.#places;
    for (let column = 0; column < columns; column += 1) {
      for (let number = 0; number < blocks.length; number += 1) {
        const block = blocks[number] as McuBlock;
        const at = (starts[number] ?? 0) + row * (perRow[number] ?? 0) + column * (perColumn[number] ?? 0);
        const position = positions[at] ?? 0;
        const dc = dcValues[at] ?? 0;
        const isDone = strip ? this.#blend(block, position, dc, column, strip) : this.#recode(block, position, dc);
        if (!isDone) return false;
      }
    }
    return true;
  }

  #recode({ component, dc, ac }: McuBlock, position: number, value: number): boolean {
    return (
      this.#writeDc(component, value, dc.output) &&
      recodeMovedAc(this.#view, position, ac.source, this.#moves, this.#coefficients, this.#writer, ac.output) >= 0
    );
  }

  #blend(block: McuBlock, position: number, value: number, column: number, strip: OverlayStrip): boolean {
    const { component, dc, ac } = block;
    const coefficients = this.#coefficients;
    if (readAc(this.#view, position, ac.source, this.#moves, coefficients) < 0) return false;
    coefficients[0] = value;
    blendOverlay(coefficients, block, column, strip);
    return this.#writeDc(component, coefficients[0] ?? 0, dc.output) && writeAc(this.#writer, coefficients, ac.output);
  }

  #writeDc(component: 0 | 1 | 2, value: number, table: HuffmanTable): boolean {
    const difference = value - (this.#dc[component] ?? 0);
    this.#dc[component] = value;
    return writeDifference(this.#writer, difference, table);
  }
}
