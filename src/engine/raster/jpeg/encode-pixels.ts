// Encodes pixels with the quantization tables and the color resolution of another JPEG, the one they were decoded from: the
// finest file that doesn't spend bytes on details which the source never had. To the codec, the pixels are an opaque overlay.

import type { Size } from '../../layout/geometry.ts';
import type { RawImage } from '../blend.ts';
import { wordsOf } from '../band.ts';
import { withCodec } from './codec.ts';
import { isTooCoarse } from './coarseness.ts';
import { type JpegHeaders, largestFactors, readHeaders } from './headers.ts';
import { ImageMemory, isStorable } from './image-memory.ts';
import type { Strips } from './overlay-strips.ts';
import { END_OF_IMAGE } from './segments.ts';
import { writeStored } from './stored-image.ts';
import { type ComponentFrame, mcuGrid, NO_TURN, turnFor, turnFrame } from './turn.ts';
import { PLAIN_JFIF, writeHeaders } from './write-headers.ts';

/** The most a color sample can cover in each direction. */
const MAX_SCALE = 2;

/**
 * `source`: the JPEG of an upright opaque image, which its EXIF `orientation` turned. Returns `undefined` if it isn't a JPEG with
 * 8 bits, or is so coarse that its tables shouldn't be used.
 */
export function encodeLike(source: Uint8Array, image: RawImage, orientation: number): Buffer | undefined {
  const headers = readHeaders(source);
  const turn = turnFor(orientation);
  if (headers === undefined || turn === undefined || headers.precision !== 8 || isTooCoarse(headers)) return undefined;
  const { components } = turnFrame(frameLike(headers), turn);
  const frame = { width: image.width, height: image.height, components };
  if (!isStorable(frame)) return undefined;
  return withCodec((codec) => {
    const file = new Uint8Array();
    const storedRows = mcuGrid(frame).rows;
    const memory = new ImageMemory(codec, { source: frame, turn: NO_TURN, file, storedRows });
    memory.clearBlocks();
    memory.setSteps(components.map(({ steps }) => steps));
    const output = writeStored(codec, memory, { frame, strips: new PixelStrips(image), needsTurn: false });
    if (output === undefined) return undefined;
    const segments = { jfif: PLAIN_JFIF, adobe: undefined, profile: undefined };
    return Buffer.concat([...writeHeaders({ ...frame, ...segments, ...output }), output.data, END_OF_IMAGE]);
  });
}

/** Luma and chroma with the tables and the resolution of the first two components. */
function frameLike({ width, height, components }: JpegHeaders): ComponentFrame {
  const [first, second = first] = components;
  if (first === undefined || second === undefined) throw new Error('an image without components');
  const largest = largestFactors(components);
  const horizontal = Math.min(MAX_SCALE, Math.floor(largest.width / second.horizontal));
  const vertical = Math.min(MAX_SCALE, Math.floor(largest.height / second.vertical));
  const chroma = { horizontal: 1, vertical: 1, steps: second.steps };
  const luma = { id: 1, horizontal, vertical, steps: first.steps };
  return { width, height, components: [luma, { ...chroma, id: 2 }, { ...chroma, id: 3 }] };
}

const OPAQUE = 255 << 24;

class PixelStrips implements Strips {
  readonly #image: RawImage;

  constructor(image: RawImage) {
    this.#image = image;
  }

  touches(): boolean {
    return true;
  }

  fill(words: Int32Array, top: number, { width, height }: Size): void {
    for (let row = 0; row < height; row += 1) {
      const y = Math.min(top + row, this.#image.height - 1);
      const line = words.subarray(row * width, (row + 1) * width);
      fillLine(line, this.#image, y);
      line.fill(line[this.#image.width - 1] ?? 0, this.#image.width);
    }
  }
}

function fillLine(line: Int32Array, { data, width, channels }: RawImage, y: number): void {
  if (channels === 4) {
    line.set(wordsOf(data).subarray(y * width, (y + 1) * width));
    return;
  }
  for (let x = 0, at = y * width * 3; x < width; x += 1, at += 3) {
    line[x] = OPAQUE | ((data[at + 2] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at] ?? 0);
  }
}
