// Segments laid end to end in the MP4 that one render would have made: the packets as they are, the sound of the source
// treated as ever. The track is described by the same encoder, opened but not used; so headers cannot differ, and segments
// of an encoder that would have written others are refused.

import { Packet } from 'node-av/lib';
import { Container } from '../probe/container.ts';
import type { VideoSegment } from './cuts.ts';
import { openVideoEncoder } from '../frames/encoder.ts';
import type { Ratio } from '../frames/geometry.ts';
import { Mp4Output } from '../output.ts';
import { forEachPacket } from '../packet-loop.ts';
import { SegmentReader, type StoredPacket, type StoredSegment } from './segment-file.ts';
import { openAudioTrack } from '../sound/sound.ts';
import { outputTimeBase, toFrameRate } from '../probe/timing.ts';
import { streamAt, type TranscodeFacts, type TranscodeOptions, type TranscodePlan } from '../transcode.ts';

export interface JoinPaths {
  readonly asset: string;
  /** All segments, end to end. */
  readonly segments: string;
  readonly output: string;
}

export async function joinSegments(
  plan: TranscodePlan,
  segments: readonly VideoSegment[],
  paths: JoinPaths,
  { signal }: TranscodeOptions = {},
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
    const stored = readAll(reader, segments, encoder.context.extraData ?? Buffer.alloc(0));
    const output = new Mp4Output(paths.output);
    closers.push(() => output.close());
    const picture = new StoredTrack(
      stored,
      encoder.context.hasBFrames,
      reader,
      output,
      output.addEncodedTrack(encoder),
      timeBase,
    );
    closers.push(() => picture.free());
    const sound = plan.audio && openAudioTrack(plan.audio, streamAt(container, plan.audio.index), output, plan.offset);
    if (sound !== null) closers.push(() => sound.free());
    output.begin();
    // One packet for every one of the source: so picture and sound lie beside each other, as in a whole render.
    const take = (packet: Packet): boolean => {
      if (packet.streamIndex === plan.video.index) picture.writeNext();
      else sound?.take(packet);
      return true;
    };
    await forEachPacket(container, take, { signal });
    while (picture.writeNext());
    sound?.finish();
    output.finish();
    return { frames: picture.frames, durationSeconds: picture.seconds };
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

/** All of them, and each such that it can follow the one before. */
function readAll(reader: SegmentReader, segments: readonly VideoSegment[], headers: Buffer): readonly StoredPacket[] {
  const stored: StoredSegment[] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) stored.push(next);
  if (stored.length !== segments.length) throw new Error(`${stored.length} segments of ${segments.length}`);
  let end: bigint | undefined;
  for (const [index, { headers: own, packets }] of stored.entries()) {
    if (!own.equals(headers)) throw new Error('segments of encoders that differ cannot be joined');
    if (packets.length !== segments[index]?.frames) throw new Error('a segment does not have the frames it should');
    const times = packets.map(({ pts }) => pts).toSorted(ascending);
    if (packets[0]?.isKey !== true || (end !== undefined && (times[0] ?? end) <= end)) {
      throw new Error('a segment does not begin where it should');
    }
    // ITU-T H.264, 7.4.3: two such frames in a row would have to differ in a number that every encoder begins with 0.
    const isLast = index === stored.length - 1;
    if (!isLast && packets.length > 1 && packets.at(-1)?.isKey) throw new Error('a segment ends with a keyframe');
    end = times.at(-1);
  }
  return stored.flatMap(({ packets }) => packets);
}

class StoredTrack {
  readonly #packets: readonly StoredPacket[];
  readonly #times: readonly bigint[];
  readonly #reader: SegmentReader;
  readonly #output: Mp4Output;
  readonly #track: number;
  readonly #timeBase: Ratio;
  readonly #delay: number;
  readonly #packet = new Packet();
  #written = 0;

  constructor(
    packets: readonly StoredPacket[],
    delay: number,
    reader: SegmentReader,
    output: Mp4Output,
    track: number,
    timeBase: Ratio,
  ) {
    this.#packets = packets;
    this.#times = packets.map(({ pts }) => pts).toSorted(ascending);
    this.#delay = delay;
    this.#reader = reader;
    this.#output = output;
    this.#track = track;
    this.#timeBase = timeBase;
    this.#packet.alloc();
  }

  get frames(): number {
    return this.#packets.length;
  }

  get seconds(): number {
    const last = this.#packets.reduce((latest, packet) => (packet.pts > latest.pts ? packet : latest));
    const ticks = last.pts + last.duration - (this.#times[0] ?? 0n);
    return (Number(ticks) * this.#timeBase.num) / this.#timeBase.den;
  }

  /** False when there is none left. */
  writeNext(): boolean {
    const next = this.#packets[this.#written];
    if (next === undefined) return false;
    this.#packet.data = this.#reader.load(next);
    this.#packet.pts = next.pts;
    this.#packet.dts = this.#decodingTime(this.#written);
    this.#packet.duration = next.duration;
    this.#packet.isKeyframe = next.isKey;
    this.#output.write(this.#packet, this.#track, this.#timeBase);
    this.#written += 1;
    return true;
  }

  free(): void {
    this.#packet.free();
  }

  /** As one encoder would have given them: the times of all frames in order, later by as many as may be held back. */
  #decodingTime(index: number): bigint {
    const time = (at: number): bigint => this.#times[Math.min(at, this.#times.length - 1)] ?? 0n;
    if (index >= this.#delay) return time(index - this.#delay);
    return time(index) - (time(this.#delay) - time(0));
  }
}

function ascending(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
