// Builds HEIF files box by box, to test files that no encoder writes.

export function box(type: string, ...parts: readonly (Buffer | number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

export function fullBox(
  type: string,
  version: number,
  flags: number,
  ...parts: readonly (Buffer | number[])[]
): Buffer {
  return box(type, [version, 0, 0, flags], ...parts);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export interface TestItem {
  readonly id: number;
  readonly type: string;
  readonly isEncrypted?: boolean;
  /** Numbers of properties, from 1. */
  readonly properties?: readonly number[];
  /** Extents in the `idat` box. */
  readonly extents?: readonly (readonly [offset: number, length: number])[];
  readonly isExternal?: boolean;
  readonly method?: number;
}

export interface TestFile {
  readonly items: readonly TestItem[];
  readonly properties?: readonly Buffer[];
  readonly references?: readonly (readonly [type: string, from: number, to: readonly number[]])[];
  readonly data?: Buffer;
  readonly primary?: number;
}

export function ispe(width: number, height: number): Buffer {
  return fullBox('ispe', 0, 0, u32(width), u32(height));
}

/** The data of a grid item. */
export function grid(rows: number, columns: number, width: number, height: number): Buffer {
  return Buffer.concat([Buffer.from([0, 1, rows - 1, columns - 1]), u32(width), u32(height)]);
}

export function heifFile({
  items,
  properties = [],
  references = [],
  data = Buffer.alloc(0),
  primary = 1,
}: TestFile): Buffer {
  const entries = items.map(({ id, type, isEncrypted }) =>
    fullBox('infe', 2, 0, u16(id), u16(isEncrypted ? 1 : 0), Buffer.from(`${type}\0`, 'latin1')),
  );
  const associations = items.map(({ id, properties: own = [] }) =>
    Buffer.concat([u16(id), Buffer.from([own.length, ...own])]),
  );
  const locations = items.map(({ id, extents = [], isExternal, method = 1 }) =>
    Buffer.concat([
      u16(id),
      u16(method),
      u16(isExternal ? 1 : 0),
      u16(extents.length),
      ...extents.flatMap(([offset, length]) => [u32(offset), u32(length)]),
    ]),
  );
  const meta = fullBox(
    'meta',
    0,
    0,
    fullBox('pitm', 0, 0, u16(primary)),
    fullBox('iinf', 0, 0, u16(items.length), ...entries),
    box('iprp', box('ipco', ...properties), fullBox('ipma', 0, 0, u32(items.length), ...associations)),
    fullBox(
      'iref',
      0,
      0,
      ...references.map(([type, from, to]) => box(type, u16(from), u16(to.length), ...to.map(u16))),
    ),
    fullBox('iloc', 1, 0, [0x44, 0x00], u16(items.length), ...locations),
    box('idat', data),
  );
  return Buffer.concat([box('ftyp', Buffer.from('heic\0\0\0\0mif1heic', 'latin1')), meta]);
}
