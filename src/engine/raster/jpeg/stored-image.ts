// Writes stored blocks: first the overlay is blended into them and their symbols are counted, then they are written with the
// shortest codes.

import type { JpegCodec } from './codec.ts';
import { optimalSpec } from './huffman.ts';
import type { ImageMemory } from './image-memory.ts';
import type { Strips } from './overlay-strips.ts';
import { type ComponentFrame, mcuGrid } from './turn.ts';
import type { NumberedSpec, OutputHeaders } from './write-headers.ts';

export interface WrittenImage extends Pick<OutputHeaders, 'tables' | 'selectors'> {
  /** Entropy-coded data, valid until the codec is used again. */
  readonly data: Uint8Array;
}

interface StoredImage {
  /** The upright image. */
  readonly frame: ComponentFrame;
  readonly strips: Strips;
  /** True if the blocks still lie as in the file, and must be turned. */
  readonly needsTurn: boolean;
}

/** Returns `undefined` if an image has values that baseline JPEGs can't have. */
export function writeStored(codec: JpegCodec, memory: ImageMemory, image: StoredImage): WrittenImage | undefined {
  const { wasm } = codec;
  const { frame, strips, needsTurn } = image;
  // One pair of tables for luma, and one for chroma.
  const selectors = frame.components.map((_, index) => ({ dc: Math.min(1, index), ac: Math.min(1, index) }));
  for (const [index, { dc, ac }] of selectors.entries()) wasm.setWriteTables(index, dc, ac);
  const { rows } = mcuGrid(frame);
  wasm.startPass();
  wasm.clearCounts();
  for (let row = 0; row < rows; row += 1) {
    wasm.prepareRow(row, memory.fillStrip(strips, row), needsTurn);
  }
  const tables = [...new Set(selectors.map(({ dc }) => dc))].flatMap((index) => optimalTables(codec, index));
  wasm.startPass();
  wasm.startOutput(memory.outputAddress);
  for (let row = 0; row < rows; row += 1) if (wasm.writeRow(row) === 0) return undefined;
  return wasm.hasCodes() === 0 ? undefined : { tables, selectors, data: memory.output(wasm.finishOutput()) };
}

function optimalTables(codec: JpegCodec, index: number): NumberedSpec[] {
  return (['dc', 'ac'] as const).map((kind) => {
    const spec = optimalSpec(codec.counts(kind, index));
    codec.setWriteTable(kind, index, spec);
    return { kind, index, ...spec };
  });
}
