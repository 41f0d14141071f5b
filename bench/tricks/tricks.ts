// Every trick in the product, with the change that removes it. docs/tricks.md lists them with their figures.

/** A change of a compiled file, so that both versions run exactly as they are shipped. */
export interface Patch {
  readonly file: string;
  readonly replace: string;
  readonly by: string;
}

export interface Trick {
  readonly name: string;
  readonly workload: 'photo' | 'large-photo' | 'jpeg' | 'overlay' | 'large-overlay' | 'uploads' | 'replays';
  /** CPU time and memory include garbage collection. The steps of a render, such as `blend`, don't, and are more precise. */
  readonly measure: 'CPU' | 'memory' | readonly string[];
  readonly without: readonly Patch[] | 'flags';
}

const PLAIN_CHECKSUM = `let low = 1;
    let high = 0;
    for (let index = 0; index < bytes.length; ) {
        for (const end = Math.min(bytes.length, index + 5552); index < end; index += 1) {
            low += bytes[index];
            high += low;
        }
        low %= 65521;
        high %= 65521;
    }
    return { low, high };`;

export const TRICKS: readonly Trick[] = [
  // Nothing is removed, so this measures the noise.
  { name: 'control', workload: 'photo', measure: 'CPU', without: [] },
  { name: 'heap flag of the server', workload: 'uploads', measure: 'CPU', without: 'flags' },
  { name: 'heap flag of image workers', workload: 'photo', measure: 'CPU', without: 'flags' },
  {
    name: 'pool of response buffers',
    workload: 'replays',
    measure: 'CPU',
    without: [patch('shared/buffer-pool.js', 'this.#spare.push(buffer)', 'void buffer')],
  },
  {
    name: 'kept PNG encoder',
    workload: 'photo',
    measure: 'CPU',
    without: [patch('engine/raster/png/encoder.js', 'MAX_IDLE = 1', 'MAX_IDLE = 0')],
  },
  {
    name: 'estimated length of a PNG',
    workload: 'large-photo',
    measure: 'CPU',
    // Without the trick, parts of unknown number are collected in a buffer that doubles.
    without: [
      patch('engine/raster/png/photo.js', 'file.expectMore((bytes.length * (height - top)) / rows);', ''),
      patch('engine/raster/png/growing-buffer.js', 'MARGIN = 1.05', 'MARGIN = 2'),
    ],
  },
  {
    name: 'four bytes of a bar at once',
    workload: 'photo',
    measure: ['blend'],
    without: [patch('engine/raster/blend.js', 'to - from < MIN_WORD_RUN_BYTES ? 0 : (to - aligned) >> 2', '0')],
  },
  {
    name: 'kept JPEG codec',
    workload: 'jpeg',
    measure: 'CPU',
    without: [patch('engine/raster/jpeg/codec.js', 'idle ?? new JpegCodec()', 'new JpegCodec()')],
  },
  {
    name: 'checksum of stored deflate',
    workload: 'overlay',
    measure: ['encode'],
    without: [
      patch(
        'engine/raster/png/deflate.js',
        'const stored = deflateSync(bytes, { level: 0, chunkSize: bytes.length + 1024 });',
        PLAIN_CHECKSUM,
      ),
    ],
  },
  {
    name: 'cache of compressed zeros',
    workload: 'overlay',
    measure: ['encode'],
    without: [patch('engine/raster/png/deflate.js', 'this.#pieces.set(length, piece);', '')],
  },
  {
    name: 'repeated rows of a palette',
    workload: 'overlay',
    measure: ['encode'],
    without: [patch('engine/raster/png/transparent.js', 'row > 0 && bytes.compare', 'false && bytes.compare')],
  },
  {
    name: 'last entry of the palette',
    workload: 'overlay',
    measure: ['encode'],
    without: [patch('engine/raster/png/transparent.js', 'if (word !== previous) {', '{')],
  },
  {
    name: 'turn before an overlay is encoded',
    workload: 'overlay',
    measure: 'memory',
    without: [patch('engine/render/render.js', 'await setImmediate();', '')],
  },
  {
    name: 'drawInSteps',
    workload: 'large-overlay',
    measure: 'memory',
    without: [patch('engine/render/bands.js', 'await setImmediate();', '')],
  },
];

function patch(file: string, replace: string, by: string): Patch {
  return { file, replace, by };
}
