// Reads the items of a HEIF file (ISO/IEC 23008-12): their types, references, and the location of their bytes. Reads
// only the boxes that a still image needs.

import { must } from '../../../shared/must.ts';
import { type Box, boxesIn, boxesUpTo, ByteReader } from './byte-reader.ts';
import { damagedHeif, undecodableHeif } from './refusal.ts';

interface Extent {
  readonly offset: number;
  /** 0 means up to the end of the file. */
  readonly length: number;
}

interface ItemLocation {
  /** 0 means offsets into the file, and 1 offsets into the `idat` box. */
  readonly method: number;
  readonly isExternal: boolean;
  readonly extents: readonly Extent[];
}

export interface HeifItem {
  readonly id: number;
  /** For example `hvc1` or `grid`. */
  readonly type: string;
  readonly isEncrypted: boolean;
  /** The order is that of the file, in which transformations apply. */
  readonly properties: readonly Box[];
}

interface Reference {
  readonly type: string;
  readonly from: number;
  readonly to: readonly number[];
}

/** For comparison, a photo of 50 megapixels in tiles of 256x256 pixels, with as many tiles of a gain map, has 1,600. */
const MAX_ITEMS = 8_192;
const MAX_REFERENCES = 32_768;
const MAX_EXTENTS = 32_768;
const MAX_ASSOCIATIONS = 65_536;

export class HeifFile {
  readonly #bytes: Buffer;
  readonly #itemData: Buffer;
  readonly #items: ReadonlyMap<number, HeifItem>;
  readonly #locations: ReadonlyMap<number, ItemLocation>;
  readonly #references: readonly Reference[];
  readonly primary: HeifItem;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const boxes = boxesUpTo('meta', bytes);
    const meta = boxes.find(({ type }) => type === 'meta');
    if (meta === undefined) throw noStillImage(boxes);
    const parts = new Map(boxesIn(afterVersion(meta.body)).map(({ type, body }) => [type, body]));
    this.#itemData = parts.get('idat') ?? Buffer.alloc(0);
    this.#items = readItems(parts.get('iinf'), readProperties(parts.get('iprp')));
    this.#locations = readLocations(parts.get('iloc'));
    this.#references = readReferences(parts.get('iref'));
    const primaryId = parts.get('pitm');
    if (primaryId === undefined) throw noStillImage(boxes);
    this.primary = this.item(readPrimaryId(primaryId));
  }

  item(id: number): HeifItem {
    const item = this.#items.get(id);
    if (item === undefined) throw undecodableHeif('it refers to an image that it does not contain');
    if (item.isEncrypted) throw undecodableHeif('it is encrypted', 'Upload an unencrypted copy.');
    return item;
  }

  /** Returns the items that this one is derived from, in order. */
  sourcesOf({ id }: HeifItem): readonly number[] {
    return this.#references.find(({ type, from }) => type === 'dimg' && from === id)?.to ?? [];
  }

  /** Returns the items with auxiliary images of this one, such as alpha and depth. */
  auxiliariesOf({ id }: HeifItem): readonly HeifItem[] {
    return this.#references
      .filter(({ type, to }) => type === 'auxl' && to.includes(id))
      .flatMap(({ from }) => this.#items.get(from) ?? []);
  }

  /** Returns the EXIF metadata of this item, if it has any. */
  exifOf({ id }: HeifItem): Buffer | undefined {
    const describing = this.#references.filter(({ type, to }) => type === 'cdsc' && to.includes(id));
    const exif = describing.map(({ from }) => this.#items.get(from)).find((item) => item?.type === 'Exif');
    return exif === undefined || exif.isEncrypted ? undefined : this.dataOf(exif);
  }

  /** Returns true when the colors of an image are multiplied by this alpha image. */
  isPremultiplied({ id }: HeifItem, alpha: HeifItem): boolean {
    return this.#references.some(({ type, from, to }) => type === 'prem' && from === id && to.includes(alpha.id));
  }

  dataOf({ id }: HeifItem, maxBytes = Number.POSITIVE_INFINITY): Buffer {
    const location = this.#locations.get(id);
    if (location === undefined) throw undecodableHeif('it contains no pixels');
    const { method, isExternal, extents } = location;
    if (isExternal) throw undecodableHeif('its pixels are in another file');
    if (method > 1) throw undecodableHeif('it stores its pixels in an unsupported way');
    const source = method === 0 ? this.#bytes : this.#itemData;
    let total = 0;
    const parts = extents.map(({ offset, length }) => {
      const end = length === 0 ? source.length : offset + length;
      if (end > source.length || offset > end) throw undecodableHeif('it is truncated');
      total += end - offset;
      // Extents that overlap could make a small file large.
      if (total > Math.min(source.length, maxBytes)) throw damagedHeif();
      return source.subarray(offset, end);
    });
    return parts.length === 1 ? must(parts[0], 'the only part') : Buffer.concat(parts);
  }
}

function noStillImage(boxes: readonly Box[]): Error {
  if (!boxes.some(({ type }) => type === 'moov')) return undecodableHeif('it contains no image');
  return undecodableHeif(
    'it is an image sequence without a still image',
    'Convert it to an MP4, or export one image of it, and upload that file.',
  );
}

function afterVersion(body: Buffer): Buffer {
  const reader = new ByteReader(body);
  reader.versionAndFlags();
  return reader.rest;
}

function readPrimaryId(body: Buffer): number {
  const reader = new ByteReader(body);
  return reader.number(reader.versionAndFlags().version === 0 ? 2 : 4);
}

function readItems(body: Buffer | undefined, properties: ReadonlyMap<number, Box[]>): Map<number, HeifItem> {
  const items = new Map<number, HeifItem>();
  if (body === undefined) return items;
  const reader = new ByteReader(body);
  reader.number(reader.versionAndFlags().version === 0 ? 2 : 4);
  for (const box of boxesIn(reader.rest)) {
    if (box.type !== 'infe') continue;
    const entry = new ByteReader(box.body);
    const { version } = entry.versionAndFlags();
    // Earlier versions describe files, not images.
    if (version < 2) continue;
    const id = entry.number(version === 2 ? 2 : 4);
    const isEncrypted = entry.number(2) !== 0;
    const type = entry.text(4);
    items.set(id, { id, type, isEncrypted, properties: properties.get(id) ?? [] });
    if (items.size > MAX_ITEMS) throw damagedHeif();
  }
  return items;
}

/** Reads the properties of each item. */
function readProperties(body: Buffer | undefined): Map<number, Box[]> {
  const associations = new Map<number, Box[]>();
  const boxes = body === undefined ? [] : boxesIn(body);
  const container = boxes.find(({ type }) => type === 'ipco');
  const properties = container === undefined ? [] : boxesIn(container.body);
  let count = 0;
  for (const { type, body: entries } of boxes) {
    if (type !== 'ipma') continue;
    const reader = new ByteReader(entries);
    const { version, flags } = reader.versionAndFlags();
    for (let left = countOfItems(reader, 4); left > 0; left -= 1) {
      const id = reader.number(version < 1 ? 2 : 4);
      const own = associations.get(id) ?? [];
      for (let more = reader.number(1); more > 0; more -= 1) {
        const index = (flags & 1) === 1 ? reader.number(2) & 0x7f_ff : reader.number(1) & 0x7f;
        // Indexes start at 1; 0 means none.
        const property = properties[index - 1];
        if (property) own.push(property);
        count += 1;
        if (count > MAX_ASSOCIATIONS) throw damagedHeif();
      }
      associations.set(id, own);
    }
  }
  return associations;
}

function countOfItems(reader: ByteReader, size: number): number {
  const count = reader.number(size);
  if (count > MAX_ITEMS) throw damagedHeif();
  return count;
}

function readReferences(body: Buffer | undefined): Reference[] {
  if (body === undefined) return [];
  const reader = new ByteReader(body);
  const idSize = reader.versionAndFlags().version === 0 ? 2 : 4;
  let total = 0;
  return boxesIn(reader.rest).map(({ type, body: entry }) => {
    const fields = new ByteReader(entry);
    const from = fields.number(idSize);
    const count = fields.number(2);
    total += count;
    if (total > MAX_REFERENCES) throw damagedHeif();
    return { type, from, to: Array.from({ length: count }, () => fields.number(idSize)) };
  });
}

function readLocations(body: Buffer | undefined): Map<number, ItemLocation> {
  const locations = new Map<number, ItemLocation>();
  if (body === undefined) return locations;
  const reader = new ByteReader(body);
  const { version } = reader.versionAndFlags();
  if (version > 2) throw damagedHeif();
  const sizes = reader.number(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexSize = version === 0 ? 0 : sizes & 15;
  if ([offsetSize, lengthSize, baseSize, indexSize].some((size) => ![0, 4, 8].includes(size))) throw damagedHeif();
  let total = 0;
  for (let left = countOfItems(reader, version < 2 ? 2 : 4); left > 0; left -= 1) {
    const id = reader.number(version < 2 ? 2 : 4);
    const method = version === 0 ? 0 : reader.number(2) & 15;
    const isExternal = reader.number(2) !== 0;
    const base = reader.number(baseSize);
    const count = reader.number(2);
    total += count;
    if (total > MAX_EXTENTS) throw damagedHeif();
    const extents = Array.from({ length: count }, () => {
      reader.number(indexSize);
      return { offset: base + reader.number(offsetSize), length: reader.number(lengthSize) };
    });
    locations.set(id, { method, isExternal, extents });
  }
  return locations;
}
