// An opened asset. The demuxer is the one our own sniffing chose, never one FFmpeg guessed: a playlist or a concat list
// posing as MP4 would otherwise make it read other files. One file, no network, no references to elsewhere.

import { AV_LOG_QUIET, AVDISCARD_ALL, AVDISCARD_DEFAULT, AVERROR_EOF } from 'node-av/constants';
import { FormatContext, InputFormat, Log, type Packet, type Stream } from 'node-av/lib';
import type { VideoFormat } from '../../sniff.ts';
import { check } from './check.ts';
import { ALLOWED_DECODERS } from './codecs.ts';
import { claimedMovieSeconds } from './movie-header.ts';
import { undecodable } from '../undecodable.ts';

const DEMUXERS = { mp4: 'mov', mov: 'mov', webm: 'matroska' } as const satisfies Record<VideoFormat, string>;
const MAX_STREAMS = 64;
/** A damaged file may have bad stretches; one that has little but those is given up. */
const MAX_READ_ERRORS = 64;

export class Container {
  readonly #context = new FormatContext();
  readonly #path: string;
  readonly #format: VideoFormat;
  #readErrors = 0;

  constructor(path: string, format: VideoFormat) {
    const demuxer = DEMUXERS[format];
    this.#path = path;
    this.#format = format;
    // The library would write what it thinks of a stranger's file to our standard error.
    Log.setLevel(AV_LOG_QUIET);
    this.#context.allocContext();
    check(this.#context.setOption('format_whitelist', demuxer), 'restrict formats');
    check(this.#context.setOption('codec_whitelist', ALLOWED_DECODERS), 'restrict decoders');
    check(this.#context.setOption('protocol_whitelist', 'file'), 'restrict protocols');
    check(this.#context.setOption('max_streams', MAX_STREAMS), 'restrict streams');
    const result = this.#context.openInputSync(`file:${path}`, InputFormat.findInputFormat(demuxer));
    if (result < 0) throw undecodable('its header cannot be read');
  }

  get streams(): readonly Stream[] {
    return this.#context.streams;
  }

  /** What the header claims, in seconds; undefined when it claims nothing. */
  get claimedSeconds(): number | undefined {
    const { duration } = this.#context;
    if (duration > 0n) return Number(duration) / 1e6;
    return this.#format === 'webm' ? undefined : claimedMovieSeconds(this.#path);
  }

  /** Packets of other streams are not even read. */
  select(indexes: readonly number[]): void {
    for (const stream of this.#context.streams) {
      stream.discard = indexes.includes(stream.index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
  }

  /** False at the end of the file, or where it breaks off. */
  read(packet: Packet): boolean {
    for (;;) {
      const result = this.#context.readFrameSync(packet);
      if (result >= 0) return true;
      this.#readErrors += 1;
      if (result === AVERROR_EOF || this.#readErrors > MAX_READ_ERRORS) return false;
    }
  }

  close(): void {
    this.#context.closeInputSync();
  }
}
