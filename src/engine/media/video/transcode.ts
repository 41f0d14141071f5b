// The render loop: read, decode, filter, encode and write one packet at a time. Memory stays constant, whatever the
// length of the video.

import type { Packet } from 'node-av/lib';
import type { TimedBars } from './frames/bar-blender.ts';
import { VideoTrack } from './frames/track.ts';
import { MediaOutput } from './output.ts';
import { forEachPacket } from './packet-loop.ts';
import { Container } from './probe/container.ts';
import { openAudioTrack } from './sound/sound.ts';
import type { AudioTrack } from './sound/track.ts';
import type { TranscodeFacts, TranscodeOptions, TranscodePlan } from './transcode-plan.ts';
import { undecodable } from './undecodable.ts';

export async function transcode(
  plan: TranscodePlan,
  path: string,
  outPath: string,
  bars: TimedBars,
  options: TranscodeOptions = {},
): Promise<TranscodeFacts> {
  const container = new Container(path, plan.format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    container.select([plan.video.index, ...(plan.audio === null ? [] : [plan.audio.index])]);
    const output = new MediaOutput(outPath);
    closers.push(() => output.close());
    const videoTrack = new VideoTrack(plan, container.streamAt(plan.video.index), bars, output);
    closers.push(() => videoTrack.free());
    const audioTrack =
      plan.audio && openAudioTrack(plan.audio, container.streamAt(plan.audio.index), output, plan.offset);
    if (audioTrack !== null) closers.push(() => audioTrack.free());
    output.writeHeader();
    await processPackets(plan, { container, videoTrack, audioTrack, output }, options);
    videoTrack.finish();
    audioTrack?.finish();
    if (videoTrack.frames === 0) throw undecodable('none of its frames can be decoded');
    output.finish();
    options.onProgress?.({ frames: videoTrack.frames, totalFrames: videoTrack.frames });
    return videoTrack.facts;
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

interface OpenTracks {
  readonly container: Container;
  readonly videoTrack: VideoTrack;
  readonly audioTrack: AudioTrack | null;
  readonly output: MediaOutput;
}

async function processPackets(
  { video, audio, bounds, frameStep }: TranscodePlan,
  { container, videoTrack, audioTrack, output }: OpenTracks,
  { signal, onProgress }: TranscodeOptions,
): Promise<void> {
  const handle = (packet: Packet): boolean => {
    if (packet.streamIndex === video.index) videoTrack.process(packet);
    else if (packet.streamIndex === audio?.index) audioTrack?.process(packet);
    if (videoTrack.frames > bounds.frames || output.bytes > bounds.bytes) {
      throw undecodable('it contains more data than its index declares');
    }
    return true;
  };
  const onYield = (): void =>
    onProgress?.({ frames: videoTrack.frames, totalFrames: Math.ceil(video.frames / frameStep) });
  await forEachPacket(container, handle, { signal, onYield });
}
