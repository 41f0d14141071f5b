// The components of the image that is read, and of the one that is written.

// @ts-ignore: AssemblyScript allows decorators on classes.
@unmanaged
export class Source {
  /** Sampling factors. */
  horizontal: i32;
  vertical: i32;
  /** The blocks with pixels. A scan of this component alone has only these. */
  columns: i32;
  rows: i32;
  /** Where its blocks are stored, and the bytes of a row of them. */
  blocks: usize;
  rowBytes: i32;
  /** Tables of the scan. */
  dcTable: usize;
  acTable: usize;
  /** The last DC value of the scan. */
  dc: i32;
}

// @ts-ignore: AssemblyScript allows decorators on classes.
@unmanaged
export class Output {
  horizontal: i32;
  vertical: i32;
  /** Where the block at the top left is, and how far it is to the next one in each direction. */
  first: usize;
  perRow: i32;
  perColumn: i32;
  /** How many pixels a sample covers. */
  scaleX: i32;
  scaleY: i32;
  /** What a color adds to a sample. */
  red: f32;
  green: f32;
  blue: f32;
  middle: f32;
  /** The numbers of the Huffman tables. */
  dcTable: i32;
  acTable: i32;
  /** The last DC value. */
  dc: i32;
  /** The quantization step of the DC value. */
  step: f32;
}

const SOURCES: usize = memory.data(3 * 64);
const OUTPUTS: usize = memory.data(3 * 64);

/** For each component: factors from coefficients to what the transform takes, and back; 64 each, in zigzag order. */
export const TO_SAMPLES: usize = memory.data(3 * 64 * 4, 16);
export const TO_COEFFICIENTS: usize = memory.data(3 * 64 * 4, 16);

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function sourceAt(index: i32): Source {
  return changetype<Source>(SOURCES + <usize>index * 64);
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function outputAt(index: i32): Output {
  return changetype<Output>(OUTPUTS + <usize>index * 64);
}

export let outputs: i32 = 0;
/** The size of the written image in MCUs. */
export let mcuColumns: i32 = 0;
/** The row of MCUs at `Output.first`. */
export let firstMcuRow: i32 = 0;

export function setOutputs(components: i32, columns: i32): void {
  outputs = components;
  mcuColumns = columns;
  firstMcuRow = 0;
}

export function setFirstMcuRow(row: i32): void {
  firstMcuRow = row;
}

/** The block of an MCU of the written image. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function blockAt(output: Output, mcuRow: i32, mcuColumn: i32, row: i32, column: i32): usize {
  const down = (mcuRow - firstMcuRow) * output.vertical + row;
  const across = mcuColumn * output.horizontal + column;
  return output.first + down * output.perRow + across * output.perColumn;
}
