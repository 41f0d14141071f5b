// Draws an overlay on a JPEG without recompressing it. Only the blocks that the overlay touches are decoded and quantized
// again, with the tables of the source; all others keep their coefficients. An upright photo with one scan goes through row by
// row, and most of its bits are copied. Of all others, the coefficients are stored and written with the shortest codes.

import { isGrayBand } from '../band.ts';
import { type JpegCodec, withCodec } from './codec.ts';
import { type JpegHeaders, readSegments } from './headers.ts';
import { type ExtendedSpec, extend } from './huffman.ts';
import { blocksOf, ImageMemory, isStorable } from './image-memory.ts';
import { type WrittenImage, writeStored } from './stored-image.ts';
import { type JpegOverlay, OverlayStrips, type Strips } from './overlay-strips.ts';
import { readScans } from './scans.ts';
import { END_OF_IMAGE, type Segments } from './segments.ts';
import { type ComponentFrame, isTurnable, mcuGrid, NO_TURN, type Turn, turnFor, turnFrame } from './turn.ts';
import { type NumberedSpec, PLAIN_JFIF, swapDensities, writeHeaders } from './write-headers.ts';

export interface SpliceOptions {
  /** As in EXIF. */
  readonly orientation?: number;
  /** The color profile of the output. */
  readonly profile?: Uint8Array | undefined;
}

interface Splice {
  readonly file: Uint8Array;
  readonly headers: JpegHeaders;
  readonly segments: Segments;
  /** As it is stored in the file, with the components of the output. */
  readonly frame: ComponentFrame;
  readonly turn: Turn;
  readonly strips: Strips;
  readonly profile: Uint8Array | undefined;
}

/** A code for the DC value and, in a sequential image, one for the end of the block. */
const MIN_BITS_PER_BLOCK = { sequential: 2, progressive: 1 };

/**
 * Returns `undefined` for every file that isn't an undamaged Huffman-coded JPEG with 8 bits in YCbCr or gray, or that can't be
 * turned without decoding it.
 */
export function spliceBands(
  file: Uint8Array,
  overlay: JpegOverlay,
  { orientation = 1, profile }: SpliceOptions = {},
): Buffer | undefined {
  const read = readSegments(file);
  const turn = turnFor(orientation);
  if (read === undefined || turn === undefined || !read.headers.isCarriable) return undefined;
  const { headers } = read;
  const isColored = headers.colorModel === 'gray' && !overlay.bands.every(isGrayBand);
  const frame = isColored ? withChroma(headers, turn) : headers;
  const { width } = turn.swapsAxes ? { width: headers.height } : headers;
  if (!isTurnable(frame, turn) || overlay.bands.some((band) => band.width !== width)) return undefined;
  const minBits = headers.isProgressive ? MIN_BITS_PER_BLOCK.progressive : MIN_BITS_PER_BLOCK.sequential;
  // Without this, a small file with a large size in its header would allocate memory for it.
  if (blocksOf(headers, mcuGrid(headers).rows) * minBits > file.length * 8) return undefined;
  const height = turn.swapsAxes ? headers.width : headers.height;
  const strips = new OverlayStrips({ width, height }, overlay);
  const splice = { file, ...read, frame, turn, strips, profile };
  return withCodec((codec) => {
    const tables = extendedTables(codec, splice);
    return tables ? spliceRows(codec, splice, tables) : spliceStored(codec, splice);
  });
}

/** Color of a quarter of the resolution, as in most photos, unless the image couldn't be turned with it. */
function withChroma({ width, height, components }: JpegHeaders, turn: Turn): ComponentFrame {
  const [luma] = components;
  if (luma === undefined) throw new Error('an image without components');
  const frameWith = (factor: number): ComponentFrame => {
    const chroma = { horizontal: 1, vertical: 1, steps: luma.steps };
    const factors = { horizontal: factor, vertical: factor };
    return {
      width,
      height,
      components: [
        { ...luma, ...factors, id: 1 },
        { ...chroma, id: 2 },
        { ...chroma, id: 3 },
      ],
    };
  };
  return isTurnable(frameWith(2), turn) ? frameWith(2) : frameWith(1);
}

type ExtendedTable = NumberedSpec & Pick<ExtendedSpec, 'keepsCodes'>;

/**
 * The tables of the source, for reading and for writing. Returns `undefined` if the image has several scans or is turned, or if
 * a table has no room for all codes.
 */
function extendedTables(codec: JpegCodec, { headers, segments, frame, turn }: Splice): ExtendedTable[] | undefined {
  const { members, start, end, high, low } = headers.firstScan;
  const isWhole = start === 0 && end === 63 && high === 0 && low === 0;
  const hasOneScan = !headers.isProgressive && isWhole && members.length === frame.components.length;
  const hasSteps = segments.frame?.components.every(({ table }) => segments.quantization[table] !== undefined) ?? false;
  if (turn !== NO_TURN || !hasOneScan || !hasSteps) return undefined;
  const tables: ExtendedTable[] = [];
  for (const kind of ['dc', 'ac'] as const) {
    for (const index of new Set(members.map((member) => member[kind]))) {
      const spec = segments[kind][index];
      const extended = spec && extend(spec, kind);
      if (spec === undefined || extended === undefined || !codec.setReadTable(kind, index, spec)) return undefined;
      codec.setWriteTable(kind, index, extended);
      tables.push({ kind, index, ...extended });
    }
  }
  return tables;
}

function spliceRows(codec: JpegCodec, splice: Splice, tables: readonly ExtendedTable[]): Buffer | undefined {
  const { headers, segments, frame, turn, file } = splice;
  const { members, dataStart } = headers.firstScan;
  const { wasm } = codec;
  const memory = new ImageMemory(codec, { source: frame, turn, file, storedRows: 1 });
  memory.setSteps(frame.components.map(({ steps }) => steps));
  for (const { component, dc, ac } of members) {
    wasm.addToScan(component, dc, ac);
    wasm.setWriteTables(component, dc, ac);
  }
  wasm.setRestartInterval(segments.restartInterval);
  wasm.startScan(memory.fileAddress + dataStart, false, 0, 63, 0, 0);
  wasm.startPass();
  wasm.startOutput(memory.outputAddress);
  const keepsCodes = tables.every((table) => table.keepsCodes);
  const { rows } = mcuGrid(frame);
  for (let row = 0; row < rows; row += 1) {
    const isChanged = memory.fillStrip(splice.strips, row);
    if (wasm.carryRow(row, isChanged, keepsCodes, memory.blocksAddress, memory.blockBytes) === 0) return undefined;
  }
  const end = wasm.finishScan();
  if (end === 0 || wasm.hasCodes() === 0 || segments.next(end - memory.fileAddress) !== 'end') return undefined;
  const data = memory.output(wasm.finishOutput());
  return assemble(splice, frame, { tables, selectors: members, data });
}

function spliceStored(codec: JpegCodec, splice: Splice): Buffer | undefined {
  const { headers, segments, frame, turn, file, strips } = splice;
  if (!isStorable(frame)) return undefined;
  const memory = new ImageMemory(codec, { source: frame, turn, file, storedRows: mcuGrid(frame).rows });
  memory.clearBlocks();
  const steps = readScans(codec, { headers, segments, frame, fileAddress: memory.fileAddress });
  if (steps === undefined) return undefined;
  // The chroma that a gray image gets has the steps of its luma.
  const components = frame.components.map((component, index) => ({
    ...component,
    steps: steps[index] ?? steps[0] ?? component.steps,
  }));
  const upright = turnFrame({ ...frame, components }, turn);
  memory.setSteps(upright.components.map((component) => component.steps));
  const output = writeStored(codec, memory, { frame: upright, strips, needsTurn: turn !== NO_TURN });
  return output && assemble(splice, upright, output);
}

function assemble(
  { headers, segments, frame, turn, profile }: Splice,
  upright: ComponentFrame,
  output: WrittenImage,
): Buffer {
  const isColored = frame.components.length > headers.components.length;
  const jfif = segments.jfif ?? (isColored ? PLAIN_JFIF : undefined);
  const start = writeHeaders({
    ...upright,
    jfif: jfif && turn.swapsAxes ? swapDensities(jfif) : jfif,
    adobe: isColored ? undefined : segments.adobe,
    profile,
    tables: output.tables,
    selectors: output.selectors,
  });
  return Buffer.concat([...start, output.data, END_OF_IMAGE]);
}
