// Reads every packet once, without decoding more than the first frame. Headers lie about duration, frame rate and size,
// some by mistake and some on purpose; packets are what a render will really meet.

import { AV_NOPTS_VALUE, AV_PKT_DATA_ENCRYPTION_INFO, AV_PKT_FLAG_DISCARD } from 'node-av/constants';
import { Frame, Packet, type Stream } from 'node-av/lib';
import type { Container } from './container.ts';
import type { PacketInfo } from '../segments/cuts.ts';
import type { Decoder } from '../frames/decoder.ts';
import { assertMaxSide } from '../dimensions.ts';
import { undecodable } from '../undecodable.ts';

/** What a track holds, in seconds on the presentation clock. */
export interface TrackScan {
  readonly packets: number;
  readonly bytes: number;
  readonly start: number;
  /** When the last frame begins. */
  readonly lastStart: number;
  readonly end: number;
  readonly encrypted: boolean;
}

export interface ScanResult {
  readonly tracks: ReadonlyMap<number, TrackScan>;
  /** Those of the video, in the order of the file. */
  readonly packets: readonly PacketInfo[];
  /** The first picture. The caller frees it. */
  readonly firstFrame: Frame;
}

/** Far beyond any clip we take; a file that goes on is judged by what was seen so far. */
const MAX_PACKETS = 400_000;
/** A decoder that has seen this much and shown nothing will not. */
const MAX_PACKETS_BEFORE_FRAME = 600;

export function scan(container: Container, video: Stream, decoder: Decoder, maxSide: number): ScanResult {
  const tallies = new Map<number, TrackStats>(
    container.streams.map((stream) => [stream.index, new TrackStats(stream)]),
  );
  const packet = new Packet();
  packet.alloc();
  const search = new FirstFrameSearch(decoder);
  const packets: PacketInfo[] = [];
  try {
    for (let read = 0; read < MAX_PACKETS && container.read(packet); read += 1) {
      tallies.get(packet.streamIndex)?.add(packet);
      if (packet.streamIndex === video.index) {
        search.offer(packet);
        packets.push(packetInfo(packet));
      }
      packet.unref();
    }
    return {
      tracks: new Map([...tallies].map(([index, tally]) => [index, tally.result])),
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
  #found = false;
  #offered = 0;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
    this.#frame.alloc();
  }

  offer(packet: Packet): void {
    if (this.#found || this.#offered > MAX_PACKETS_BEFORE_FRAME) return;
    if (packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null) {
      this.#frame.free();
      throw undecodable('it is encrypted');
    }
    this.#offered += 1;
    this.#decoder.send(packet);
    this.#found = this.#decoder.receive(this.#frame);
  }

  finish(maxSide: number): Frame {
    if (!this.#found) {
      this.#decoder.send(null);
      this.#found = this.#decoder.receive(this.#frame);
    }
    if (this.#found) return this.#frame;
    this.#frame.free();
    assertMaxSide(maxSide, this.#decoder.size);
    throw undecodable(this.#offered === 0 ? 'its video stream is empty' : 'no frame of it can be decoded');
  }
}

class TrackStats {
  readonly #tick: number;
  #packets = 0;
  #bytes = 0;
  #start = Number.POSITIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  #encrypted = false;

  constructor(stream: Stream) {
    this.#tick = stream.timeBase.num / stream.timeBase.den;
  }

  add(packet: Packet): void {
    if (this.#packets === 0) this.#encrypted = packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null;
    // Outside the edit list: decoded for the sake of its successors, never shown.
    if (packet.hasFlags(AV_PKT_FLAG_DISCARD)) return;
    this.#packets += 1;
    this.#bytes += packet.size;
    const stamp = packet.pts === AV_NOPTS_VALUE ? packet.dts : packet.pts;
    if (stamp === AV_NOPTS_VALUE) return;
    const begins = Number(stamp) * this.#tick;
    this.#start = Math.min(this.#start, begins);
    this.#lastStart = Math.max(this.#lastStart, begins);
    this.#end = Math.max(this.#end, begins + Number(packet.duration) * this.#tick);
  }

  get result(): TrackScan {
    const timed = Number.isFinite(this.#start);
    return {
      packets: this.#packets,
      bytes: this.#bytes,
      start: timed ? this.#start : 0,
      lastStart: timed ? this.#lastStart : 0,
      end: timed ? this.#end : 0,
      encrypted: this.#encrypted,
    };
  }
}
