// Compares the frames of two videos.

import { AVMEDIA_TYPE_VIDEO } from 'node-av/constants';
import { Codec, CodecContext, FormatContext, Frame, Packet } from 'node-av/lib';

/** Returns the lowest luma PSNR in decibels between a frame of one file and the same frame of the other. */
export function lowestPsnr(one: string, other: string): number {
  const [left, right] = [lumaOf(one), lumaOf(other)];
  let lowest = Number.POSITIVE_INFINITY;
  for (let frame = 0; ; frame += 1) {
    const [a, b] = [left.next(), right.next()];
    if (a.done === true || b.done === true) {
      if (a.done !== b.done) throw new Error(`one of the files ends at frame ${frame}`);
      return lowest;
    }
    lowest = Math.min(lowest, psnr(a.value, b.value));
  }
}

function psnr(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += ((one[index] ?? 0) - (other[index] ?? 0)) ** 2;
  return 10 * Math.log10(255 ** 2 / Math.max(sum / one.length, 1e-3));
}

function* lumaOf(path: string): Generator<Buffer, undefined> {
  const input = new FormatContext();
  if (input.openInputSync(path) < 0) throw new Error(`${path} cannot be opened`);
  input.findStreamInfoSync();
  const video = input.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_VIDEO);
  if (!video) throw new Error('the file has no video track');
  const codec = Codec.findDecoder(video.codecpar.codecId);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(video.codecpar);
  context.open2Sync(codec);
  const [packet, frame] = [new Packet(), new Frame()];
  packet.alloc();
  frame.alloc();
  try {
    for (let isMore = true; isMore; ) {
      isMore = input.readFrameSync(packet) >= 0;
      if (isMore && packet.streamIndex !== video.index) continue;
      if (context.sendPacketSync(isMore ? packet : null) < 0) throw new Error('the output cannot be decoded');
      while (context.receiveFrameSync(frame) >= 0) {
        if (frame.decodeErrorFlags !== 0) throw new Error('the output has a damaged frame');
        yield frame.toBuffer().subarray(0, frame.width * frame.height);
      }
    }
  } finally {
    packet.free();
    frame.free();
    context.freeContext();
    input.closeInputSync();
  }
}
