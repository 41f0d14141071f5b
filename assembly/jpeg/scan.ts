// Reads the MCUs of a scan into the stored blocks. An MCU of a scan with one component is a single block.

import { at, finishInterval, isPastEnd, skipMarker, startInterval } from './bits-in';
import {
  endRun,
  readAcFirst,
  readAcRefinement,
  readDcFirst,
  readDcRefinement,
  readSequential,
  setBand,
} from './blocks-in';
import { Source, sourceAt } from './components';
import { readTable } from './tables';

const RST0: u8 = 0xd0;

const SEQUENTIAL: i32 = 0;
const DC_FIRST: i32 = 1;
const DC_REFINEMENT: i32 = 2;
const AC_FIRST: i32 = 3;
const AC_REFINEMENT: i32 = 4;

let kind: i32 = SEQUENTIAL;
let members: i32 = 0;
/** The numbers of the scan's components. */
const MEMBERS: usize = memory.data(4 * 4);
/** In MCUs of the scan. */
let columns: i32 = 0;
let total: i32 = 0;
let restartInterval: i32 = 0;
let restarts: i32 = 0;
/** The MCUs of the interleaved image. */
let frameColumns: i32 = 0;
let frameRows: i32 = 0;
/** The row of MCUs at the start of the stored blocks. */
let firstRow: i32 = 0;

export function setFrame(mcuColumns: i32, mcuRows: i32): void {
  frameColumns = mcuColumns;
  frameRows = mcuRows;
  members = 0;
}

export function addToScan(component: i32, dcTable: i32, acTable: i32): void {
  const source = sourceAt(component);
  source.dcTable = readTable(dcTable);
  source.acTable = readTable(4 + acTable);
  store<i32>(MEMBERS + (members << 2), component);
  members += 1;
}

/** Starts a scan whose components were added. `high` and `low` are the bits before and after it, as in its header. */
export function startScan(from: usize, isProgressive: bool, start: i32, end: i32, high: i32, low: i32): void {
  if (!isProgressive) kind = SEQUENTIAL;
  else if (start == 0) kind = high == 0 ? DC_FIRST : DC_REFINEMENT;
  else kind = high == 0 ? AC_FIRST : AC_REFINEMENT;
  setBand(start, end, low);
  const source = sourceAt(load<i32>(MEMBERS));
  columns = members == 1 ? source.columns : frameColumns;
  total = columns * (members == 1 ? source.rows : frameRows);
  firstRow = 0;
  restarts = 0;
  startInterval(from);
  resetPredictions();
}

export function setRestartInterval(mcus: i32): void {
  restartInterval = mcus;
}

/** The stored blocks are those of this row of MCUs from now on. */
export function storeFrom(row: i32): void {
  firstRow = row;
}

function resetPredictions(): void {
  for (let index = 0; index < members; index++) sourceAt(load<i32>(MEMBERS + (index << 2))).dc = 0;
  endRun();
}

/** The first MCU after `mcu` that a restart marker precedes. */
export function nextRestart(mcu: i32): i32 {
  return restartInterval == 0 ? i32.MAX_VALUE : (mcu / restartInterval + 1) * restartInterval;
}

/** Reads a whole scan, and returns the address of the marker behind it, or 0. */
export function readScan(): usize {
  for (let mcu = 0; mcu < total; ) {
    const end = min<i32>(total, nextRestart(mcu));
    if (!readMcus(mcu, end)) return 0;
    mcu = end;
  }
  return finishScan();
}

/** Returns the address of the marker behind the scan, or 0. */
export function finishScan(): usize {
  return finishInterval() ? at : 0;
}

/** All of one restart interval. */
export function readMcus(first: i32, end: i32): bool {
  if (first >= end) return true;
  if (first > 0 && restartInterval > 0 && first % restartInterval == 0 && !restart()) return false;
  let row = first / columns;
  let column = first - row * columns;
  for (let mcu = first; mcu < end; mcu++) {
    if (!(members == 1 ? readSingle(row, column) : readMcu(row, column)) || isPastEnd()) return false;
    column += 1;
    if (column == columns) {
      column = 0;
      row += 1;
    }
  }
  return true;
}

function restart(): bool {
  if (!finishInterval() || load<u8>(at + 1) != RST0 + <u8>(restarts & 7)) return false;
  restarts += 1;
  skipMarker();
  resetPredictions();
  return true;
}

function readSingle(row: i32, column: i32): bool {
  const source = sourceAt(load<i32>(MEMBERS));
  return readBlock(source.blocks + (row - firstRow) * source.rowBytes + (column << 7), source);
}

function readMcu(row: i32, column: i32): bool {
  for (let index = 0; index < members; index++) {
    const source = sourceAt(load<i32>(MEMBERS + (index << 2)));
    const across = source.horizontal;
    const rowBytes = source.rowBytes;
    let line = source.blocks + (row - firstRow) * source.vertical * rowBytes + ((column * across) << 7);
    for (let down = source.vertical; down > 0; down--) {
      for (let step = 0; step < across; step++) if (!readBlock(line + (step << 7), source)) return false;
      line += rowBytes;
    }
  }
  return true;
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function readBlock(block: usize, source: Source): bool {
  switch (kind) {
    case SEQUENTIAL:
      return readSequential(block, source);
    case DC_FIRST:
      return readDcFirst(block, source);
    case DC_REFINEMENT:
      return readDcRefinement(block, source);
    case AC_FIRST:
      return readAcFirst(block, source);
    default:
      return readAcRefinement(block, source);
  }
}

/**
 * Gives the blocks behind the last pixels the DC value of their neighbor, which takes the fewest bits. Scans of a component
 * alone don't have them.
 */
export function fillMargin(component: i32, allColumns: i32, allRows: i32): void {
  const source = sourceAt(component);
  for (let row = 0; row < allRows; row++) {
    const line = source.blocks + row * source.rowBytes;
    for (let column = row < source.rows ? source.columns : 0; column < allColumns; column++) {
      const block = line + (column << 7);
      const neighbor = column > 0 ? block - 128 : block - source.rowBytes;
      store<i16>(block, load<i16>(neighbor));
    }
  }
}
