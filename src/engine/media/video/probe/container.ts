// An opened video file. The demuxer is the one that `sniff` selected. FFmpeg never picks it, because a playlist or
// concat list disguised as MP4 could make FFmpeg read other files or URLs.

import { closeSync, openSync, readSync } from 'node:fs';
import { AV_LOG_QUIET, AVDISCARD_ALL, AVDISCARD_DEFAULT, AVERROR_EOF, AVSEEK_FLAG_BACKWARD } from 'node-av/constants';
import { FormatContext, InputFormat, Log, type Packet, type Stream } from 'node-av/lib';
import type { VideoFormat } from '../../sniff.ts';
import { check } from './check.ts';
import { ALLOWED_DECODERS } from './decoders.ts';
import { claimedMovieSeconds } from './movie-header.ts';
import { undecodable } from '../undecodable.ts';

const DEMUXERS = { mp4: 'mov', mov: 'mov', webm: 'matroska' } as const;
const MAX_STREAMS = 64;
/** Some read errors are normal in a damaged file. With more than this, reading stops. */
const MAX_READ_ERRORS = 64;

export class Container {
  readonly #context = new FormatContext();
  readonly #path: string;
  readonly #format: VideoFormat;
  #readErrors = 0;
  /** The start of the next frame of an animation. */
  #clock = 0n;

  constructor(path: string, format: VideoFormat) {
    const demuxer = demuxerFor(path, format);
    this.#path = path;
    this.#format = format;
    // FFmpeg would otherwise log its complaints about the file to stderr.
    Log.setLevel(AV_LOG_QUIET);
    this.#context.allocContext();
    check(this.#context.setOption('format_whitelist', demuxer), 'set format_whitelist');
    check(this.#context.setOption('codec_whitelist', ALLOWED_DECODERS.join(',')), 'set codec_whitelist');
    check(this.#context.setOption('protocol_whitelist', 'file'), 'set protocol_whitelist');
    check(this.#context.setOption('max_streams', MAX_STREAMS), 'set max_streams');
    const result = this.#context.openInputSync(`file:${path}`, InputFormat.findInputFormat(demuxer));
    if (result < 0) throw undecodable('its header is damaged or missing');
  }

  get streams(): readonly Stream[] {
    return this.#context.streams;
  }

  /** The duration in the header, in seconds; undefined when the header has none. */
  get claimedSeconds(): number | undefined {
    const { duration } = this.#context;
    if (duration > 0n) return Number(duration) / 1e6;
    return this.#format === 'mp4' || this.#format === 'mov' ? claimedMovieSeconds(this.#path) : undefined;
  }

  streamAt(index: number): Stream {
    const stream = this.#context.streams[index];
    if (stream === undefined) throw undecodable('the file changed after it was probed');
    return stream;
  }

  /** Skips the packets of all other streams. */
  select(indexes: readonly number[]): void {
    for (const stream of this.#context.streams) {
      stream.discard = indexes.includes(stream.index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
  }

  /**
   * Continues with the keyframe at this time or an earlier one, if the file has an index. Where it continues is up to the file, so
   * the caller has to check what it reads.
   */
  seek(streamIndex: number, pts: bigint): void {
    this.#context.seekFrameSync(streamIndex, pts, AVSEEK_FLAG_BACKWARD);
  }

  /** Returns false at the end of the file, or where the file is truncated. */
  read(packet: Packet): boolean {
    for (;;) {
      const result = this.#context.readFrameSync(packet);
      if (result >= 0) {
        if (this.#format === 'animation') this.#slowDown(packet);
        return true;
      }
      this.#readErrors += 1;
      if (result === AVERROR_EOF || this.#readErrors > MAX_READ_ERRORS) return false;
    }
  }

  /** Raises delays of up to a hundredth of a second, which are meaningless, to a tenth of a second, as browsers do. */
  #slowDown(packet: Packet): void {
    const ticksPerSecond = BigInt(this.streamAt(packet.streamIndex).timeBase.den);
    packet.pts = this.#clock;
    packet.dts = this.#clock;
    if (packet.duration * 100n <= ticksPerSecond) packet.duration = ticksPerSecond / 10n;
    this.#clock += packet.duration;
  }

  close(): void {
    this.#context.closeInputSync();
  }
}

/** A WebP starts with `RIFF`, which distinguishes it from a GIF. */
function demuxerFor(path: string, format: VideoFormat): string {
  if (format !== 'animation') return DEMUXERS[format];
  const head = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  return head.toString('latin1') === 'RIFF' ? 'webp_anim' : 'gif';
}
