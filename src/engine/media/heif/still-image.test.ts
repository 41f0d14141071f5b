import { describe, expect, it } from 'vitest';
import { box, fullBox, grid, heifFile, ispe, type TestFile, type TestItem, u32 } from '../../../../test/heif-boxes.ts';
import { HeifFile } from './heif-file.ts';
import { probeHeif } from './still-image.ts';

const [IROT, IMIR] = [(turns: number) => box('irot', [turns]), (axis: number) => box('imir', [axis])];

/** Takes the aperture in whole pixels, and twice the offset of its center. */
const clap = (width: number, height: number, twiceX: number, twiceY: number): Buffer => {
  const signed = (value: number): Buffer => u32(value >>> 0);
  const fractions = [width, 1, height, 1, twiceX, 2, twiceY, 2].map(signed);
  return box('clap', ...fractions);
};

const coded = (id: number, properties: readonly number[] = [1]): TestItem => ({ id, type: 'hvc1', properties });

/** Returns the size of an image of 40x30 pixels after these transformations. */
function sizeWith(...transformations: readonly Buffer[]): string {
  const properties = [ispe(40, 30), ...transformations];
  const items = [
    coded(
      1,
      properties.map((_, index) => index + 1),
    ),
  ];
  const { width, height } = probeHeif(heifFile({ items, properties }));
  return `${width}x${height}`;
}

function detailOf(file: Buffer | TestFile): string {
  try {
    const probe = probeHeif(Buffer.isBuffer(file) ? file : heifFile(file));
    return `${probe.width}x${probe.height}`;
  } catch (error) {
    return String(error);
  }
}

describe('probeHeif', () => {
  it('returns the size after turning and cropping in the order of the properties', () => {
    expect(sizeWith()).toBe('40x30');
    expect(sizeWith(IROT(1))).toBe('30x40');
    expect(sizeWith(IROT(2), IMIR(1))).toBe('40x30');
    expect(sizeWith(clap(20, 10, 0, 0))).toBe('20x10');
    expect(sizeWith(clap(20, 10, -20, 6), IROT(3))).toBe('10x20');
    expect(sizeWith(IROT(3), clap(20, 10, 0, 0))).toBe('20x10');
  });

  it('keeps the crop of a clean aperture inside the image', () => {
    expect(sizeWith(clap(60, 60, 0, 0))).toBe('40x30');
  });

  it('takes the size of a grid from the grid, not from its tiles', () => {
    const tiles = [2, 3, 4, 5].map((id) => coded(id));
    const items = [{ id: 1, type: 'grid', extents: [[0, 12]] } as const, ...tiles];
    const file = { items, properties: [ispe(64, 64)], references: [['dimg', 1, [2, 3, 4, 5]]] } as const;
    expect(detailOf({ ...file, data: grid(2, 2, 100, 70) })).toBe('100x70');
    expect(detailOf({ ...file, data: grid(2, 2, 129, 70) })).toContain('its header is damaged');
    expect(detailOf({ ...file, data: grid(2, 3, 100, 70) })).toContain('tiles of its grid are missing');
  });

  it('resolves an identity-derived image and applies the transformations of both', () => {
    const items = [{ id: 1, type: 'iden', properties: [3] }, coded(2, [1, 2])];
    const properties = [ispe(40, 30), IROT(1), clap(10, 20, 0, 0)];
    expect(detailOf({ items, properties, references: [['dimg', 1, [2]]] })).toBe('10x20');
  });

  it('ignores thumbnails, depth and gain maps', () => {
    const items = [coded(1), coded(2, [2]), coded(3, [2, 3])];
    const properties = [ispe(40, 30), ispe(8, 6), fullBox('auxC', 0, 0, Buffer.from('urn:mpeg:hevc:2015:auxid:2\0'))];
    const references = [
      ['thmb', 2, [1]],
      ['auxl', 3, [1]],
    ] as const;
    expect(detailOf({ items, properties, references })).toBe('40x30');
  });
});

describe('the EXIF orientation of a HEIC', () => {
  const [WIDE, TALL] = ['40x30', '30x40'];

  /** Returns the metadata with one tag, in the byte order `II` or `MM`. */
  function exif(orientation: number, byteOrder: 'II' | 'MM' = 'MM'): Buffer {
    const u16 = (value: number): number[] => (byteOrder === 'MM' ? [0, value] : [value, 0]);
    const length = (value: number): number[] =>
      byteOrder === 'MM' ? [...u16(0), ...u16(value)] : [...u16(value), ...u16(0)];
    const tag = byteOrder === 'MM' ? [0x01, 0x12] : [0x12, 0x01];
    const entry = [...tag, ...u16(3), ...length(1), ...u16(orientation), ...u16(0)];
    const tiff = [...Buffer.from(byteOrder), ...u16(42), ...length(8), ...u16(1), ...entry];
    return Buffer.concat([u32(6), Buffer.from('Exif\0\0'), Buffer.from(tiff)]);
  }

  function withExif(data: Buffer, type = 'hvc1', ...transformations: readonly Buffer[]): string {
    const properties = [ispe(40, 30), ...transformations];
    const items: TestItem[] = [
      { id: 1, type, properties: properties.map((_, index) => index + 1) },
      { id: 2, type: 'Exif', extents: [[0, data.length]] },
    ];
    return detailOf({ items, properties, references: [['cdsc', 2, [1]]], data });
  }

  it('the EXIF orientation turns a HEIC that has neither irot nor imir', () => {
    const sizes = [1, 2, 3, 4, 5, 6, 7, 8].map((orientation) => withExif(exif(orientation)));
    expect(sizes).toEqual([WIDE, WIDE, WIDE, WIDE, TALL, TALL, TALL, TALL]);
    expect(withExif(exif(6, 'II'))).toBe(TALL);
    expect(withExif(exif(6), 'hvc1', clap(20, 10, 0, 0))).toBe('10x20');
  });

  it('the EXIF orientation is ignored beside irot or imir, and in an AVIF', () => {
    expect(withExif(exif(6), 'hvc1', IROT(0))).toBe(WIDE);
    expect(withExif(exif(6), 'hvc1', IMIR(1))).toBe(WIDE);
    expect(withExif(exif(6), 'av01')).toBe(WIDE);
  });

  it('a HEIC whose EXIF metadata is damaged stays as it is', () => {
    const whole = exif(6);
    const cut = Array.from({ length: whole.length }, (_, length) => withExif(whole.subarray(0, length)));
    expect(new Set(cut)).toEqual(new Set([WIDE]));
    expect(withExif(exif(9))).toBe(WIDE);
    const items: TestItem[] = [coded(1), { id: 2, type: 'Exif', extents: [[0, 99]] }];
    const file: TestFile = { items, properties: [ispe(40, 30)], references: [['cdsc', 2, [1]]], data: whole };
    expect(detailOf(file)).toBe(WIDE);
  });
});

describe('probeHeif refuses', () => {
  const properties = [ispe(40, 30)];

  it('an image sequence without a still image, and says so', () => {
    const head = box('ftyp', Buffer.from('msf1\0\0\0\0', 'latin1'));
    expect(detailOf(Buffer.concat([head, box('moov')]))).toContain('it is an image sequence without a still image');
    expect(detailOf(head)).toContain('it contains no image');
  });

  it('encrypted images, and says so', () => {
    expect(detailOf({ items: [{ ...coded(1), isEncrypted: true }], properties })).toContain('it is encrypted');
  });

  it('images in an unsupported compression, and names it', () => {
    expect(detailOf({ items: [{ id: 1, type: 'vvc1' }], properties })).toContain('unsupported way (vvc1)');
    expect(detailOf({ items: [{ id: 1, type: '\0\n<>' }], properties })).toContain('unsupported way (an unknown type)');
  });

  it('images that refer to themselves, directly or in a circle', () => {
    const iden = (id: number) => ({ id, type: 'iden' });
    expect(detailOf({ items: [iden(1)], references: [['dimg', 1, [1]]] })).toContain('in a circle');
    const circle = [
      ['dimg', 1, [2]],
      ['dimg', 2, [1]],
    ] as const;
    expect(detailOf({ items: [iden(1), iden(2)], references: circle })).toContain('in a circle');
  });

  it('grids of grids that multiply beyond all bounds', () => {
    const levels = [1, 2, 3, 4].map((id) => ({ id, type: 'grid', extents: [[0, 12]] }) as const);
    const all = (id: number): readonly number[] => Array.from({ length: 256 }, () => id);
    const references = [1, 2, 3, 4].map((id) => ['dimg', id, all(id + 1)] as const);
    const items = [...levels, coded(5)];
    expect(detailOf({ items, properties, references, data: grid(16, 16, 600, 400) })).toContain(
      'its header is damaged',
    );
  });

  it('references to images that are not there', () => {
    expect(detailOf({ items: [coded(1)], properties, primary: 9 })).toContain('an image that it does not contain');
    const items = [{ id: 1, type: 'iden' }];
    expect(detailOf({ items, references: [['dimg', 1, [7]]] })).toContain('an image that it does not contain');
  });

  it('sizes of zero, and crops that leave nothing', () => {
    expect(detailOf({ items: [coded(1)], properties: [ispe(0, 30)] })).toContain('its header is damaged');
    expect(refusalOf(clap(20, 0, 0, 0))).toContain('its header is damaged');
    expect(refusalOf(clap(20, 10, 4_000, 0))).toContain('its header is damaged');
    expect(refusalOf(box('clap', ...Array.from({ length: 8 }, () => u32(0))))).toContain('damaged');
  });

  it('every truncation of a file', () => {
    const whole = heifFile({ items: [coded(1)], properties });
    for (let length = 0; length < whole.length - 8; length += 1) {
      expect(detailOf(whole.subarray(0, length))).toMatch(/can't be decoded/u);
    }
  });
});

function refusalOf(transformation: Buffer): string {
  return detailOf({ items: [coded(1, [1, 2])], properties: [ispe(40, 30), transformation] });
}

describe('the bytes of an item', () => {
  const dataOf = (item: Partial<TestItem>, data = Buffer.from('0123456789')): string => {
    try {
      const file = new HeifFile(heifFile({ items: [{ ...coded(1), ...item }], properties: [ispe(4, 4)], data }));
      return file.dataOf(file.primary).toString();
    } catch (error) {
      return String(error);
    }
  };

  it('the bytes of an item are those of all its extents, in order', () => {
    const extents = [
      [6, 2],
      [0, 3],
    ] as const;
    expect(dataOf({ extents })).toBe('67012');
    expect(dataOf({ extents: [[4, 0]] })).toBe('456789');
  });

  it('the bytes of an item never lie outside of the file, nor in another one', () => {
    expect(dataOf({ extents: [[8, 3]] })).toContain('it is truncated');
    expect(dataOf({ extents: [[4_294_967_295, 4_294_967_295]] })).toContain('it is truncated');
    expect(dataOf({ extents: [[0, 4]], isExternal: true })).toContain('in another file');
    expect(dataOf({ extents: [[0, 4]], method: 2 })).toContain('in an unsupported way');
  });

  it('an item never has more bytes than the file, however its extents overlap', () => {
    expect(dataOf({ extents: Array.from({ length: 3 }, () => [0, 4] as const) })).toContain('its header is damaged');
  });
});
