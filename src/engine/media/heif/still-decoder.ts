// Decodes single coded images with the decoders for video. One decoder is kept for all tiles that share its
// configuration.

import { AV_LOG_QUIET, AVCOL_RANGE_JPEG, AVERROR_EOF } from 'node-av/constants';
import { CodecContext, Frame, Log, Packet } from 'node-av/lib';
import { must } from '../../../shared/must.ts';
import { check } from '../video/probe/check.ts';
import { findDecoder } from '../video/probe/codecs.ts';
import type { CodePoints } from './color-description.ts';
import type { HeifItem } from './heif-file.ts';
import { damagedHeif, undecodableHeif } from './refusal.ts';

interface CodedType {
  readonly decoder: string;
  /** The property with the decoder's configuration. */
  readonly configuration: string;
}

const HEVC: CodedType = { decoder: 'hevc', configuration: 'hvcC' };
const CODED_TYPES: ReadonlyMap<string, CodedType> = new Map([
  ['hvc1', HEVC],
  ['hev1', HEVC],
  ['av01', { decoder: 'libdav1d', configuration: 'av1C' }],
]);

/** Some decoders repeat the same error forever. */
const MAX_ERRORS = 8;

export class StillDecoder {
  #context: CodecContext | undefined;
  #configuration: Buffer | undefined;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  readonly #maxPixels: number;

  /** The decoder itself rejects larger images before it allocates memory for them. */
  constructor(maxPixels: number) {
    this.#maxPixels = maxPixels;
    // Otherwise FFmpeg would log its complaints about the file to stderr.
    Log.setLevel(AV_LOG_QUIET);
    this.#packet.alloc();
    this.#frame.alloc();
  }

  /** The frame is valid until the next call. */
  decode(item: HeifItem, data: Buffer): Frame {
    const { decoder, configuration } = must(CODED_TYPES.get(item.type), 'the decoder of the item');
    const property = item.properties.find(({ type }) => type === configuration);
    if (property === undefined) throw damagedHeif();
    const context = this.#open(decoder, property.body);
    this.#packet.data = data;
    const sent = context.sendPacketSync(this.#packet);
    this.#packet.unref();
    context.sendPacketSync(null);
    const isDecoded = sent >= 0 && this.#receive(context);
    context.flushBuffers();
    if (!isDecoded) throw undecodableHeif('its pixels are damaged or larger than its header says');
    return this.#frame;
  }

  free(): void {
    this.#frame.free();
    this.#packet.free();
    this.#context?.freeContext();
  }

  #open(name: string, configuration: Buffer): CodecContext {
    if (this.#context !== undefined && this.#configuration?.equals(configuration)) return this.#context;
    this.#context?.freeContext();
    this.#context = undefined;
    const codec = findDecoder(name);
    if (codec === undefined) throw undecodableHeif(`the ${name} decoder isn't available`);
    const context = new CodecContext();
    context.allocContext3(codec);
    context.extraData = Buffer.from(configuration);
    // More threads speed up a single image a little and concurrent renders not at all.
    context.threadCount = 1;
    check(context.setOption('max_pixels', this.#maxPixels), 'set max_pixels');
    if (context.open2Sync(codec) < 0) {
      context.freeContext();
      throw damagedHeif();
    }
    this.#context = context;
    this.#configuration = configuration;
    return context;
  }

  /** A decoder drops data that it can't decode, and may have a frame after it. */
  #receive(context: CodecContext): boolean {
    for (let errors = 0; errors < MAX_ERRORS; errors += 1) {
      const result = context.receiveFrameSync(this.#frame);
      if (result >= 0) return true;
      if (result === AVERROR_EOF) return false;
    }
    return false;
  }
}

/** Reads the color description in the bitstream. Its numbers are those of H.273. */
export function codePointsOf(frame: Frame): CodePoints {
  return {
    primaries: frame.colorPrimaries,
    transfer: frame.colorTrc,
    matrix: frame.colorSpace,
    isFullRange: frame.colorRange === AVCOL_RANGE_JPEG,
  };
}
