// Reads the coefficients of a JPEG, blends an overlay into them and writes them again. A photo with one scan goes through
// memory row by row. Of any other, all coefficients are stored: they are read scan by scan and written with codes of their
// own. Compiled by `npm run generate`; src/engine/raster/jpeg/codec.ts calls it.

import { mark } from './bits-in';
import { copyFromMark, output } from './bits-out';
import { countBlock, expectCodes, lacksCode, marksOf, writeBlock } from './blocks-out';
import { blockAt, mcuColumns, outputAt, outputs, setFirstMcuRow, sourceAt } from './components';
import { blendMcus } from './overlay';
import { nextRestart, readMcus, storeFrom } from './scan';

export { finishOutput, startOutput } from './bits-out';
export { setOutputs, TO_COEFFICIENTS, TO_SAMPLES } from './components';
export { classifyStrip, PLACES, setStrip } from './overlay';
export { addToScan, fillMargin, finishScan, readScan, setFrame, setRestartInterval, startScan } from './scan';
export { clearCounts, loadReadTable, loadWriteTable, SPEC, SYMBOL_COUNTS } from './tables';

/** Everything from here on belongs to the caller. */
export const HEAP: usize = (__heap_base + 63) & ~63;

/** Where the coefficient at each index of the zigzag order goes when the image is turned, and whether its sign changes. */
export const MOVES: usize = memory.data(64);
export const SIGNS: usize = memory.data(64);

/** 64 codes and values of at most 27 bits, with each byte stuffed. */
const MAX_BLOCK_BYTES: i32 = 2 * 64 * 27 / 8;

export function setSource(
  index: i32,
  horizontal: i32,
  vertical: i32,
  columns: i32,
  rows: i32,
  blocks: usize,
  rowBytes: i32,
): void {
  const source = sourceAt(index);
  source.horizontal = horizontal;
  source.vertical = vertical;
  source.columns = columns;
  source.rows = rows;
  source.blocks = blocks;
  source.rowBytes = rowBytes;
}

export function setOutput(
  index: i32,
  horizontal: i32,
  vertical: i32,
  first: usize,
  perRow: i32,
  perColumn: i32,
  scaleX: i32,
  scaleY: i32,
): void {
  const component = outputAt(index);
  component.horizontal = horizontal;
  component.vertical = vertical;
  component.first = first;
  component.perRow = perRow;
  component.perColumn = perColumn;
  component.scaleX = scaleX;
  component.scaleY = scaleY;
}

/** What red, green and blue add to a sample, relative to the middle of its range, and its first quantization step. */
export function setColor(index: i32, red: f32, green: f32, blue: f32, middle: f32, step: f32): void {
  const component = outputAt(index);
  component.red = red;
  component.green = green;
  component.blue = blue;
  component.middle = middle;
  component.step = step;
}

export function setWriteTables(index: i32, dcTable: i32, acTable: i32): void {
  const component = outputAt(index);
  component.dcTable = dcTable;
  component.acTable = acTable;
}

/** Before the first row of a pass. */
export function startPass(): void {
  for (let index = 0; index < outputs; index++) outputAt(index).dc = 0;
  expectCodes();
}

/** Returns true if all symbols so far had a code. */
export function hasCodes(): bool {
  return !lacksCode;
}

function blocksPerRow(): i32 {
  let blocks = 0;
  for (let index = 0; index < outputs; index++) blocks += outputAt(index).horizontal * outputAt(index).vertical;
  return blocks * mcuColumns;
}

/** Makes room for what a row can become. The output is the last thing in memory. */
function reserveRow(): bool {
  const end = output + blocksPerRow() * MAX_BLOCK_BYTES + 64;
  const missing = <i32>((end + 0xffff) >> 16) - memory.size();
  // More than needed, because growing takes long.
  return missing <= 0 || memory.grow(missing + (memory.size() >> 3)) >= 0;
}

/**
 * Reads a row of MCUs of an image with one scan, and writes it. `store` and `bytes`: the stored blocks of the row. If nothing
 * changes and the codes are those of the source, all but the first MCU are copied; its DC values may follow others.
 */
export function carryRow(row: i32, isChanged: bool, keepsCodes: bool, store: usize, bytes: i32): bool {
  if (!reserveRow()) return false;
  memory.fill(store, 0, bytes);
  storeFrom(row);
  setFirstMcuRow(row);
  const start = row * mcuColumns;
  const end = start + mcuColumns;
  for (let mcu = start; mcu < end; ) {
    const runEnd = min<i32>(end, nextRestart(mcu));
    if (!readMcus(mcu, mcu + 1)) return false;
    mark();
    if (!readMcus(mcu + 1, runEnd)) return false;
    if (isChanged) blendMcus(row, mcu - start, runEnd - start);
    if (isChanged || !keepsCodes) {
      writeMcus(row, mcu - start, runEnd - start);
    } else {
      writeMcus(row, mcu - start, mcu - start + 1);
      copyFromMark();
      for (let index = 0; index < outputs; index++) outputAt(index).dc = sourceAt(index).dc;
    }
    mcu = runEnd;
  }
  return true;
}

/** Turns and blends a row of stored MCUs, and counts its symbols. */
export function prepareRow(row: i32, isChanged: bool, isTurned: bool): void {
  if (isTurned) turnRow(row);
  if (isChanged) blendMcus(row, 0, mcuColumns);
  for (let column = 0; column < mcuColumns; column++) {
    for (let index = 0; index < outputs; index++) {
      const component = outputAt(index);
      for (let down = 0; down < component.vertical; down++) {
        for (let across = 0; across < component.horizontal; across++) {
          countBlock(blockAt(component, row, column, down, across), component);
        }
      }
    }
  }
}

/** Writes a row of stored MCUs. */
export function writeRow(row: i32): bool {
  if (!reserveRow()) return false;
  writeMcus(row, 0, mcuColumns);
  return true;
}

function writeMcus(row: i32, first: i32, end: i32): void {
  for (let column = first; column < end; column++) {
    for (let index = 0; index < outputs; index++) {
      const component = outputAt(index);
      for (let down = 0; down < component.vertical; down++) {
        for (let across = 0; across < component.horizontal; across++) {
          writeBlock(blockAt(component, row, column, down, across), component);
        }
      }
    }
  }
}

const TURNED: usize = memory.data(128, 16);

function turnRow(row: i32): void {
  for (let index = 0; index < outputs; index++) {
    const component = outputAt(index);
    for (let down = 0; down < component.vertical; down++) {
      for (let column = 0; column < mcuColumns; column++) {
        for (let across = 0; across < component.horizontal; across++) {
          turnBlock(blockAt(component, row, column, down, across));
        }
      }
    }
  }
}

function turnBlock(block: usize): void {
  for (let at: usize = 0; at < 128; at += 16) v128.store(TURNED + at, i16x8.splat(0));
  for (let marks = marksOf(block); marks != 0; marks &= marks - 1) {
    const index = <usize>ctz<u64>(marks);
    const value = load<i16>(block + (index << 1)) * <i16>load<i8>(SIGNS + index);
    store<i16>(TURNED + (<usize>load<u8>(MOVES + index) << 1), value);
  }
  for (let at: usize = 0; at < 128; at += 16) v128.store(block + at, v128.load(TURNED + at));
}
