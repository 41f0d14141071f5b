// Turns the primary item into a list of coded images and their places on the canvas. Grids and identity-derived images
// are resolved here, so the decoder gets only coded images.

import type { Size } from '../../layout/geometry.ts';
import { must } from '../../../shared/must.ts';
import { type Box, ByteReader } from './byte-reader.ts';
import {
  combine,
  intersect,
  isEmpty,
  mapRectangle,
  mirroring,
  type PixelMap,
  quarterTurns,
  type Rectangle,
  translation,
  wholeOf,
} from './geometry.ts';
import type { HeifFile, HeifItem } from './heif-file.ts';
import { damagedHeif, undecodableHeif } from './refusal.ts';

/** A coded image and its place on the canvas. */
export interface PlacedImage {
  readonly item: HeifItem;
  readonly size: Size;
  readonly map: PixelMap;
  /** The part of the canvas that the image may cover. */
  readonly clip: Rectangle;
}

export interface ImageLayout extends Size {
  readonly images: readonly PlacedImage[];
}

/** The deepest nesting that the format's profiles allow is a grid of identity-derived tiles. */
const MAX_DEPTH = 4;
const MAX_IMAGES = 8_192;
const MAX_SIDE = 65_535;

const CODED_TYPES: ReadonlySet<string> = new Set(['hvc1', 'hev1', 'av01']);

/** Lays out an item before its own transformations. */
export function layOutSource(file: HeifFile, item: HeifItem): ImageLayout {
  return layOutItem(file, item, 0, { images: 0 });
}

function layOutItem(file: HeifFile, item: HeifItem, depth: number, total: { images: number }): ImageLayout {
  if (depth > MAX_DEPTH) throw undecodableHeif('its images refer to each other in a circle');
  if (CODED_TYPES.has(item.type)) {
    const size = sizeOf(item);
    return { ...size, images: [{ item, size, map: translation(0, 0), clip: wholeOf(size) }] };
  }
  const sources = file.sourcesOf(item);
  const layOut = (id: number): ImageLayout => {
    total.images += 1;
    if (total.images > MAX_IMAGES) throw damagedHeif();
    return layOutItem(file, file.item(id), depth + 1, total);
  };
  switch (item.type) {
    case 'iden': {
      const source = onlySource(sources);
      return transform(layOut(source), file.item(source).properties);
    }
    // Tiles have no transformations of their own. Some encoders repeat those of the image on its tiles, but mean them
    // once.
    case 'grid':
      return layOutGrid(file.dataOf(item, MAX_GRID_BYTES), sources, layOut);
    default:
      throw undecodableHeif(`it is compressed in an unsupported way (${printable(item.type)})`);
  }
}

function onlySource(sources: readonly number[]): number {
  const [source, ...others] = sources;
  if (source === undefined || others.length > 0) throw damagedHeif();
  return source;
}

function layOutGrid(data: Buffer, sources: readonly number[], layOut: (id: number) => ImageLayout): ImageLayout {
  const reader = new ByteReader(data);
  reader.number(1);
  const fieldSize = (reader.number(1) & 1) === 1 ? 4 : 2;
  const rows = reader.number(1) + 1;
  const columns = reader.number(1) + 1;
  const canvas = asSize(reader.number(fieldSize), reader.number(fieldSize));
  if (sources.length !== rows * columns) throw undecodableHeif('tiles of its grid are missing');
  const tiles = sources.map(layOut);
  const { width, height } = must(tiles[0], 'the first tile');
  const isUniform = tiles.every((tile) => tile.width === width && tile.height === height);
  if (!isUniform || width * columns < canvas.width || height * rows < canvas.height) throw damagedHeif();
  const images = tiles.flatMap((tile, index) => {
    const place = translation((index % columns) * width, Math.floor(index / columns) * height);
    return tile.images.map((image) => moved(image, place, canvas));
  });
  return { ...canvas, images };
}

const TRANSFORMATIONS: ReadonlySet<string> = new Set(['irot', 'imir', 'clap']);
const MAX_TRANSFORMATIONS = 8;
/** A grid is described by at most 12 bytes. */
const MAX_GRID_BYTES = 64;

/** Crops, rotates and mirrors in the order of the properties. */
export function transform(layout: ImageLayout, properties: readonly Box[]): ImageLayout {
  const steps = properties.filter(({ type }) => TRANSFORMATIONS.has(type));
  // Each transformation moves every tile.
  if (steps.length > MAX_TRANSFORMATIONS) throw damagedHeif();
  return steps.reduce((current, { type, body }) => {
    const step = stepOf(type, body, current);
    if (step === undefined) return current;
    return { ...step.size, images: current.images.map((image) => moved(image, step.map, step.size)) };
  }, layout);
}

interface TransformStep {
  readonly map: PixelMap;
  readonly size: Size;
}

function stepOf(type: string, body: Buffer, { width, height }: Size): TransformStep | undefined {
  switch (type) {
    case 'irot': {
      const turns = new ByteReader(body).number(1) & 3;
      const size = turns % 2 === 1 ? { width: height, height: width } : { width, height };
      return { map: quarterTurns(turns, { width, height }), size };
    }
    case 'imir': {
      const isLeftRight = (new ByteReader(body).number(1) & 1) === 1;
      return { map: mirroring(isLeftRight, { width, height }), size: { width, height } };
    }
    case 'clap':
      return cropStep(body, { width, height });
    default:
      return undefined;
  }
}

/** Reads the clean aperture: a size and the offset of its center, as fractions. */
function cropStep(body: Buffer, { width, height }: Size): TransformStep {
  const reader = new ByteReader(body);
  const fraction = (): number => reader.signed32() / reader.number(4);
  const [cropWidth, cropHeight, offsetX, offsetY] = [fraction(), fraction(), fraction(), fraction()];
  const [left, right] = cropSpan(width, cropWidth, offsetX);
  const [top, bottom] = cropSpan(height, cropHeight, offsetY);
  return { map: translation(-left, -top), size: asSize(right - left, bottom - top) };
}

function cropSpan(full: number, length: number, offset: number): readonly [number, number] {
  const exact = offset + (full - length) / 2;
  if (!Number.isFinite(exact)) throw damagedHeif();
  const start = Math.max(0, Math.floor(exact));
  return [start, Math.min(full, Math.round(start + length))];
}

function moved({ item, size, map, clip }: PlacedImage, by: PixelMap, canvas: Size): PlacedImage {
  const movedClip = isEmpty(clip) ? clip : intersect(mapRectangle(clip, by), wholeOf(canvas));
  return { item, size, map: combine(map, by), clip: movedClip };
}

function sizeOf({ properties }: HeifItem): Size {
  const property = properties.find(({ type }) => type === 'ispe');
  if (property === undefined) throw damagedHeif();
  const reader = new ByteReader(property.body);
  reader.versionAndFlags();
  return asSize(reader.number(4), reader.number(4));
}

/** Sides over the limit of all images are left to the caller, which names the limit. */
function asSize(width: number, height: number): Size {
  const isSize = width > 0 && height > 0 && Number.isInteger(width) && Number.isInteger(height);
  if (!isSize || width > MAX_SIDE * 16 || height > MAX_SIDE * 16) throw damagedHeif();
  return { width, height };
}

function printable(type: string): string {
  return /^[\x20-\x7e]{4}$/u.test(type) ? type.trim() : 'an unknown type';
}
