// The orientation in the EXIF metadata of a HEIC. The standard says that `irot` and `imir` turn an image, but some
// cameras and editors write neither of them, and the viewers of phones then follow EXIF as in a JPEG.

import { AppError } from '../../../shared/errors.ts';
import type { Box } from './byte-reader.ts';
import type { HeifFile, HeifItem } from './heif-file.ts';

const TURNS: ReadonlySet<string> = new Set(['irot', 'imir']);

/**
 * Returns the boxes that turn an image as its EXIF orientation says. There are none if the image has its own boxes. An
 * AVIF has none either, because browsers ignore its EXIF orientation.
 */
export function turnsByExif(file: HeifFile, item: HeifItem, codedType: string | undefined): readonly Box[] {
  if (codedType === 'av01' || hasTurns(file, item)) return [];
  return boxesFor(orientationOf(file, item));
}

function hasTurns(file: HeifFile, item: HeifItem): boolean {
  if (item.properties.some(({ type }) => TURNS.has(type))) return true;
  return item.type === 'iden' && file.sourcesOf(item).some((source) => hasTurns(file, file.item(source)));
}

/** `irot` counts quarter turns counterclockwise. `imir` swaps top and bottom with 0, left and right with 1. */
function boxesFor(orientation: number): readonly Box[] {
  const [turn, mirror] = [boxOf('irot'), boxOf('imir')];
  switch (orientation) {
    case 2:
      return [mirror(1)];
    case 3:
      return [turn(2)];
    case 4:
      return [mirror(0)];
    case 5:
      return [turn(1), mirror(0)];
    case 6:
      return [turn(3)];
    case 7:
      return [turn(3), mirror(0)];
    case 8:
      return [turn(1)];
    default:
      return [];
  }
}

function boxOf(type: string): (value: number) => Box {
  return (value) => ({ type, body: Buffer.from([value]) });
}

const UPRIGHT = 1;
const ORIENTATION_TAG = 0x01_12;
const ENTRY_BYTES = 12;

/** Metadata that can't be read says nothing, because the image itself can still be good. */
function orientationOf(file: HeifFile, item: HeifItem): number {
  const exif = dataOf(file, item);
  if (exif === undefined || exif.length < 4) return UPRIGHT;
  // The first number is the length of what precedes the TIFF header, usually `Exif` and two zeros.
  const tiff = exif.subarray(4 + exif.readUInt32BE(0));
  const byteOrder = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (byteOrder !== 'II' && byteOrder !== 'MM')) return UPRIGHT;
  const isLittle = byteOrder === 'II';
  const directory = tiff.subarray(isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4));
  const u16 = (at: number): number => (isLittle ? directory.readUInt16LE(at) : directory.readUInt16BE(at));
  const announced = directory.length < 2 ? 0 : u16(0);
  const entries = Math.min(announced, Math.floor((directory.length - 2) / ENTRY_BYTES));
  for (let entry = 0; entry < entries; entry += 1) {
    const at = 2 + entry * ENTRY_BYTES;
    if (u16(at) === ORIENTATION_TAG) return u16(at + 8);
  }
  return UPRIGHT;
}

function dataOf(file: HeifFile, item: HeifItem): Buffer | undefined {
  try {
    return file.exifOf(item);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
