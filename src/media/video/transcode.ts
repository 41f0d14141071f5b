// The render loop: read, decode, filter, encode, write, one packet at a time. Holds one frame and one packet of each kind,
// whatever the length of the clip.

import type { Packet, Stream } from 'node-av/lib';
import type { AudioSource } from './sound/source.ts';
import type { VideoFormat } from '../sniff.ts';
import { Container } from './probe/container.ts';
import type { EncoderSettings } from './frames/encoding.ts';
import { Mp4Output } from './output.ts';
import { forEachPacket } from './packet-loop.ts';
import type { BarImage } from './frames/graph.ts';
import type { FilterStep } from './frames/steps.ts';
import { VideoTrack } from './frames/track.ts';
import type { VideoSource } from './probe/probe.ts';
import { openAudioTrack, type AudioTrack } from './sound/sound.ts';
import { undecodable } from './undecodable.ts';
import type { Size } from '../../layout/geometry.ts';

/** Everything decided beforehand; plain JSON. */
export interface TranscodePlan {
  readonly format: VideoFormat;
  readonly canvas: Size;
  readonly video: VideoSource;
  readonly audio: AudioSource | null;
  readonly frameRate: number;
  /** Taken off every timestamp, in seconds: files may begin at any time of the day. */
  readonly offset: number;
  readonly steps: readonly FilterStep[];
  readonly encoder: EncoderSettings;
  /** A file that turns out to hold more than its probe saw is given up. */
  readonly bounds: { readonly frames: number; readonly bytes: number; readonly pixels: number };
}

interface Progress {
  readonly frames: number;
  readonly totalFrames: number;
}

export interface TranscodeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface TranscodeFacts {
  readonly frames: number;
  readonly durationSeconds: number;
}

export async function transcode(
  plan: TranscodePlan,
  path: string,
  outPath: string,
  bars: readonly BarImage[],
  options: TranscodeOptions = {},
): Promise<TranscodeFacts> {
  const container = new Container(path, plan.format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    container.select([plan.video.index, ...(plan.audio === null ? [] : [plan.audio.index])]);
    const output = new Mp4Output(outPath);
    closers.push(() => output.close());
    const picture = new VideoTrack(plan, streamAt(container, plan.video.index), bars, output);
    closers.push(() => picture.free());
    const sound = plan.audio && openAudioTrack(plan.audio, streamAt(container, plan.audio.index), output, plan.offset);
    if (sound !== null) closers.push(() => sound.free());
    output.begin();
    await copyPackets(plan, { container, picture, sound, output }, options);
    picture.finish();
    sound?.finish();
    if (picture.frames === 0) throw undecodable('no frame of it can be decoded');
    output.finish();
    options.onProgress?.({ frames: picture.frames, totalFrames: picture.frames });
    return { frames: picture.frames, durationSeconds: picture.seconds };
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

interface Tracks {
  readonly container: Container;
  readonly picture: VideoTrack;
  readonly sound: AudioTrack | null;
  readonly output: Mp4Output;
}

async function copyPackets(
  { video, audio, bounds }: TranscodePlan,
  { container, picture, sound, output }: Tracks,
  { signal, onProgress }: TranscodeOptions,
): Promise<void> {
  const take = (packet: Packet): boolean => {
    if (packet.streamIndex === video.index) picture.take(packet);
    else if (packet.streamIndex === audio?.index) sound?.take(packet);
    if (picture.frames > bounds.frames || output.bytes > bounds.bytes) {
      throw undecodable('it holds more than its index says');
    }
    return true;
  };
  const onTurn = (): void => onProgress?.({ frames: picture.frames, totalFrames: video.frames });
  await forEachPacket(container, take, { signal, onTurn });
}

export function streamAt(container: Container, index: number): Stream {
  const stream = container.streams[index];
  if (stream === undefined) throw undecodable('it has changed since it was probed');
  return stream;
}
