// Builds a font that has one glyph, a filled square, for every Unicode code point. At the end of a font list it takes over
// the clusters that the other fonts would draw as missing-glyph boxes, so that a changed image reveals such a box.

const UNITS_PER_EM = 1_000;
const LAST_CODE_POINT = 0x10_ff_ff;
/** Glyph 0 is the missing-glyph box, which stays empty, and glyph 1 is the square. */
const SQUARE = 1;
const GLYPHS = 2;

export function catchAllFont(): Buffer {
  const square = squareGlyph();
  const tables: Readonly<Record<string, Buffer>> = {
    'OS/2': os2Table(),
    cmap: cmapTable(),
    glyf: square,
    head: headTable(),
    hhea: concat([u32(0x1_00_00), u16(800), u16(-200), u16(0), u16(UNITS_PER_EM), zeros(22), u16(GLYPHS)]),
    hmtx: concat([u16(UNITS_PER_EM), u16(0), u16(UNITS_PER_EM), u16(0)]),
    loca: concat([u32(0), u32(0), u32(square.length)]),
    maxp: concat([u32(0x1_00_00), u16(GLYPHS), u16(4), u16(1), zeros(22)]),
    name: concat([u16(0), u16(0), u16(6)]),
    post: concat([u32(0x3_00_00), zeros(28)]),
  };
  return assemble(tables);
}

function squareGlyph(): Buffer {
  const corners = [
    [100, 0],
    [100, 700],
    [800, 700],
    [800, 0],
  ] as const;
  const steps = (axis: 0 | 1): Buffer[] =>
    corners.map((corner, index) => u16(corner[axis] - (corners[index - 1]?.[axis] ?? 0)));
  const bounds = [u16(100), u16(0), u16(800), u16(700)];
  const flags = Buffer.alloc(corners.length, 1);
  return concat([u16(1), ...bounds, u16(corners.length - 1), u16(0), flags, ...steps(0), ...steps(1)]);
}

/** Format 13 maps a range of code points to one glyph. */
function cmapTable(): Buffer {
  const group = [u32(0), u32(LAST_CODE_POINT), u32(SQUARE)];
  const subtable = concat([u16(13), u16(0), u32(28), u32(0), u32(1), ...group]);
  return concat([u16(0), u16(1), u16(3), u16(10), u32(12), subtable]);
}

function headTable(): Buffer {
  const version = [u32(0x1_00_00), u32(0x1_00_00), u32(0), u32(0x5f_0f_3c_f5), u16(0), u16(UNITS_PER_EM)];
  const bounds = [u16(0), u16(0), u16(UNITS_PER_EM), u16(UNITS_PER_EM)];
  const longOffsets = u16(1);
  return concat([...version, zeros(16), ...bounds, u16(0), u16(8), u16(2), longOffsets, u16(0)]);
}

function os2Table(): Buffer {
  const table = Buffer.alloc(96);
  table.writeUInt16BE(4, 0);
  table.writeInt16BE(UNITS_PER_EM, 2);
  table.writeUInt16BE(400, 4);
  table.writeUInt16BE(5, 6);
  return table;
}

function assemble(tables: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(tables);
  const directory: Buffer[] = [u32(0x1_00_00), u16(entries.length), u16(128), u16(3), u16(entries.length * 16 - 128)];
  const bodies: Buffer[] = [];
  let offset = 12 + entries.length * 16;
  for (const [tag, table] of entries) {
    const padded = Buffer.concat([table, zeros(-table.length & 3)]);
    directory.push(Buffer.from(tag, 'latin1'), u32(checksum(padded)), u32(offset), u32(table.length));
    bodies.push(padded);
    offset += padded.length;
  }
  return concat([...directory, ...bodies]);
}

function checksum(padded: Buffer): number {
  let sum = 0;
  for (let at = 0; at < padded.length; at += 4) sum = (sum + padded.readUInt32BE(at)) >>> 0;
  return sum;
}

function concat(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value & 0xff_ff);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function zeros(length: number): Buffer {
  return Buffer.alloc(length);
}
