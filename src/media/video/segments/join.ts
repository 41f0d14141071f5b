// Joins segments to the MP4 that a single render would have produced. Video packets are copied unchanged, and the audio
// of the source is processed as in a whole render. The video track takes its headers from an encoder that is opened
// with the same settings but encodes nothing; segments with other headers are rejected.

import { Packet } from 'node-av/lib';
import { must } from '../../../primitives/must.ts';
import { openVideoEncoder } from '../frames/encoder.ts';
import type { Ratio } from '../frames/geometry.ts';
import { MediaOutput } from '../output.ts';
import { forEachPacket } from '../packet-loop.ts';
import { Container } from '../probe/container.ts';
import { outputTimeBase, toFrameRate } from '../probe/timing.ts';
import { openAudioTrack } from '../sound/sound.ts';
import type { TranscodeFacts, TranscodeOptions, TranscodePlan } from '../transcode-plan.ts';
import type { VideoSegment } from './plan.ts';
import { encoderHeaders, SegmentReader, type StoredPacket, type StoredSegment } from './segment-file.ts';

export interface JoinPaths {
  readonly asset: string;
  /** A file with all segments, concatenated. */
  readonly segments: string;
  readonly output: string;
}

export async function joinSegments(
  plan: TranscodePlan,
  segments: readonly VideoSegment[],
  paths: JoinPaths,
  { signal, onProgress }: TranscodeOptions = {},
): Promise<TranscodeFacts> {
  const container = new Container(paths.asset, plan.format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    container.select([plan.video.index, ...(plan.audio === null ? [] : [plan.audio.index])]);
    const reader = new SegmentReader(paths.segments);
    closers.push(() => reader.close());
    const timeBase = outputTimeBase(plan.video.timeBase);
    const encoder = openVideoEncoder(plan.canvas, plan.encoder, { timeBase, frameRate: toFrameRate(plan.frameRate) });
    closers.push(() => encoder.free());
    const packets = readSegments(reader, segments, encoderHeaders(encoder));
    const output = new MediaOutput(paths.output);
    closers.push(() => output.close());
    const index = output.addEncodedTrack(encoder);
    const videoTrack = new StoredVideoTrack({
      packets,
      reader,
      output,
      index,
      timeBase,
      delay: encoder.context.hasBFrames,
    });
    closers.push(() => videoTrack.free());
    const audioTrack =
      plan.audio && openAudioTrack(plan.audio, container.streamAt(plan.audio.index), output, plan.offset);
    if (audioTrack !== null) closers.push(() => audioTrack.free());
    output.writeHeader();
    // Writes one video packet for each of the source's, so that video and audio are interleaved as in a whole render.
    const handle = (packet: Packet): boolean => {
      if (packet.streamIndex === plan.video.index) videoTrack.writeNext();
      else audioTrack?.process(packet);
      return true;
    };
    // The server considers a worker without progress hung, and encoding the audio of a long video takes a while.
    const onYield = (): void => onProgress?.({ frames: videoTrack.written, totalFrames: videoTrack.frames });
    await forEachPacket(container, handle, { signal, onYield });
    while (videoTrack.writeNext());
    audioTrack?.finish();
    output.finish();
    // Videos with a limit of their size aren't shared among workers.
    return { frames: videoTrack.frames, durationSeconds: videoTrack.seconds, videoBytes: output.bytes, quantizer: 0 };
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

/** Checks that all segments are present and that each can follow the one before it. Returns all their packets. */
function readSegments(
  reader: SegmentReader,
  segments: readonly VideoSegment[],
  headers: Buffer,
): readonly StoredPacket[] {
  const stored: StoredSegment[] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) stored.push(next);
  if (stored.length !== segments.length) throw new Error(`found ${stored.length} of ${segments.length} segments`);
  let lastPts: bigint | undefined;
  for (const [index, segment] of stored.entries()) {
    const { packets } = segment;
    if (!segment.headers.equals(headers)) throw new Error('segment comes from an encoder with other settings');
    if (packets.length !== segments[index]?.frames) throw new Error('segment has an unexpected number of frames');
    const times = packets.map(({ pts }) => pts).toSorted(ascending);
    const isInOrder = lastPts === undefined || times[0] === undefined || times[0] > lastPts;
    if (packets[0]?.isKey !== true || !isInOrder) throw new Error('segment does not start where it should');
    // ITU-T H.264, 7.4.3: two IDR frames in a row must differ in idr_pic_id, which every encoder starts at 0.
    const isLast = index === stored.length - 1;
    if (!isLast && packets.length > 1 && packets.at(-1)?.isKey) throw new Error('segment ends with a keyframe');
    lastPts = times.at(-1);
  }
  return stored.flatMap(({ packets }) => packets);
}

interface StoredVideoTrackOptions {
  readonly packets: readonly StoredPacket[];
  readonly reader: SegmentReader;
  readonly output: MediaOutput;
  /** The index of the track in the output. */
  readonly index: number;
  readonly timeBase: Ratio;
  /** The number of frames that the encoder can hold back for reordering. */
  readonly delay: number;
}

class StoredVideoTrack {
  readonly #packets: readonly StoredPacket[];
  readonly #times: readonly bigint[];
  readonly #reader: SegmentReader;
  readonly #output: MediaOutput;
  readonly #index: number;
  readonly #timeBase: Ratio;
  readonly #delay: number;
  readonly #packet = new Packet();
  #written = 0;

  constructor({ packets, reader, output, index, timeBase, delay }: StoredVideoTrackOptions) {
    this.#packets = packets;
    this.#times = packets.map(({ pts }) => pts).toSorted(ascending);
    this.#reader = reader;
    this.#output = output;
    this.#index = index;
    this.#timeBase = timeBase;
    this.#delay = delay;
    this.#packet.alloc();
  }

  get frames(): number {
    return this.#packets.length;
  }

  get written(): number {
    return this.#written;
  }

  get seconds(): number {
    const last = this.#packets.reduce((latest, packet) => (packet.pts > latest.pts ? packet : latest));
    const ticks = last.pts + last.duration - this.#timeAt(0);
    return (Number(ticks) * this.#timeBase.num) / this.#timeBase.den;
  }

  /** Returns false when all packets are written. */
  writeNext(): boolean {
    const next = this.#packets[this.#written];
    if (next === undefined) return false;
    this.#packet.data = this.#reader.load(next);
    this.#packet.pts = next.pts;
    this.#packet.dts = this.#decodingTime(this.#written);
    this.#packet.duration = next.duration;
    this.#packet.isKeyframe = next.isKey;
    this.#output.write(this.#packet, this.#index, this.#timeBase);
    this.#written += 1;
    return true;
  }

  free(): void {
    this.#packet.free();
  }

  /**
   * The result is the same as from a single encoder: the sorted presentation times, delayed by the frames that it can
   * hold back.
   */
  #decodingTime(index: number): bigint {
    if (index >= this.#delay) return this.#timeAt(index - this.#delay);
    return this.#timeAt(index) - (this.#timeAt(this.#delay) - this.#timeAt(0));
  }

  #timeAt(index: number): bigint {
    return must(this.#times[Math.min(index, this.#times.length - 1)], 'the time of a frame');
  }
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
