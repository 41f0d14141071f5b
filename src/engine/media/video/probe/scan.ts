// Reads every packet once and decodes only the first frame and some keyframes. Headers can be wrong about duration, frame rate and size,
// by mistake or on purpose; the packets show what a render will process.

import { AV_NOPTS_VALUE, AV_PKT_DATA_ENCRYPTION_INFO, AV_PKT_FLAG_DISCARD } from 'node-av/constants';
import { Frame, Packet, type Stream } from 'node-av/lib';
import { assertMaxSide } from '../dimensions.ts';
import type { Decoder } from '../frames/decoder.ts';
import type { PacketInfo } from './keyframes.ts';
import type { LargestFrame } from './largest-frame.ts';
import type { AudioTrial } from '../sound/trial.ts';
import { encrypted, undecodable } from '../undecodable.ts';
import type { Container } from './container.ts';

/** The packets of a track in numbers; times are presentation times in seconds. */
export interface TrackScan {
  readonly packets: number;
  readonly bytes: number;
  readonly start: number;
  /** The start of the last frame. */
  readonly lastStart: number;
  readonly end: number;
  readonly encrypted: boolean;
}

export interface ScanResult {
  readonly tracks: ReadonlyMap<number, TrackScan>;
  /** The packets of the video stream, in file order. */
  readonly packets: readonly PacketInfo[];
  /** The caller must free it. */
  readonly firstFrame: Frame;
}

/** No accepted clip has nearly as many packets. A longer file is judged by its first packets. */
const MAX_PACKETS = 400_000;
/** A decoder without a frame after this many packets won't produce one. */
const MAX_PACKETS_BEFORE_FRAME = 600;

/** The decoder of the video, and the audio tracks to try out. */
interface Scanned {
  readonly video: Stream;
  readonly decoder: Decoder;
  readonly largest: LargestFrame;
  readonly trials: readonly AudioTrial[];
}

export function scan(container: Container, scanned: Scanned, maxSide: number): ScanResult {
  const { video, decoder, largest, trials } = scanned;
  const stats = new Map<number, TrackStats>(container.streams.map((stream) => [stream.index, new TrackStats(stream)]));
  const packet = new Packet();
  packet.alloc();
  const search = new FirstFrameSearch(decoder);
  const packets: PacketInfo[] = [];
  try {
    for (let read = 0; read < MAX_PACKETS && container.read(packet); read += 1) {
      stats.get(packet.streamIndex)?.add(packet);
      if (packet.streamIndex === video.index) {
        search.send(packet);
        largest.add(packet);
        packets.push(packetInfo(packet));
      }
      for (const trial of trials) if (packet.streamIndex === trial.track.stream.index) trial.send(packet);
      packet.unref();
    }
    return {
      tracks: new Map([...stats].map(([index, track]) => [index, track.result])),
      packets,
      firstFrame: search.finish(maxSide),
    };
  } finally {
    packet.free();
  }
}

function packetInfo(packet: Packet): PacketInfo {
  return {
    pts: packet.pts === AV_NOPTS_VALUE ? undefined : Number(packet.pts),
    isKey: packet.isKeyframe,
    isShown: !packet.hasFlags(AV_PKT_FLAG_DISCARD),
  };
}

class FirstFrameSearch {
  readonly #decoder: Decoder;
  readonly #frame = new Frame();
  #isFound = false;
  #packets = 0;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
    this.#frame.alloc();
  }

  send(packet: Packet): void {
    if (this.#isFound || this.#packets > MAX_PACKETS_BEFORE_FRAME) return;
    if (packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null) {
      this.#frame.free();
      throw encrypted();
    }
    this.#packets += 1;
    this.#decoder.send(packet);
    this.#isFound = this.#decoder.receive(this.#frame);
  }

  finish(maxSide: number): Frame {
    if (!this.#isFound) {
      this.#decoder.send(null);
      this.#isFound = this.#decoder.receive(this.#frame);
    }
    if (this.#isFound) return this.#frame;
    this.#frame.free();
    assertMaxSide(maxSide, this.#decoder.size);
    throw undecodable(this.#packets === 0 ? 'its video track is empty' : 'none of its frames can be decoded');
  }
}

class TrackStats {
  readonly #secondsPerTick: number;
  #packets = 0;
  #bytes = 0;
  #start = Number.POSITIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  #encrypted = false;

  constructor(stream: Stream) {
    this.#secondsPerTick = stream.timeBase.num / stream.timeBase.den;
  }

  add(packet: Packet): void {
    if (this.#packets === 0) this.#encrypted = packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null;
    // The packet is outside the edit list: it is decoded because later frames depend on it, but never shown.
    if (packet.hasFlags(AV_PKT_FLAG_DISCARD)) return;
    this.#packets += 1;
    this.#bytes += packet.size;
    const timestamp = packet.pts === AV_NOPTS_VALUE ? packet.dts : packet.pts;
    if (timestamp === AV_NOPTS_VALUE) return;
    const start = Number(timestamp) * this.#secondsPerTick;
    this.#start = Math.min(this.#start, start);
    this.#lastStart = Math.max(this.#lastStart, start);
    this.#end = Math.max(this.#end, start + Number(packet.duration) * this.#secondsPerTick);
  }

  get result(): TrackScan {
    const hasTimestamps = Number.isFinite(this.#start);
    return {
      packets: this.#packets,
      bytes: this.#bytes,
      start: hasTimestamps ? this.#start : 0,
      lastStart: hasTimestamps ? this.#lastStart : 0,
      end: hasTimestamps ? this.#end : 0,
      encrypted: this.#encrypted,
    };
  }
}
