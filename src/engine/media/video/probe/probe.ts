// Describes a video before a render is planned: opens the file, reads its packets and decodes a few frames. The result is
// plain JSON, because the recipe may be composed in another process.

import { AV_FRAME_FLAG_INTERLACED, AV_PKT_DATA_DISPLAYMATRIX } from 'node-av/constants';
import { avGetPixFmtName, type Frame, type Stream } from 'node-av/lib';
import { AppError } from '../../../../shared/errors.ts';
import type { Size } from '../../../layout/geometry.ts';
import type { VideoFormat } from '../../sniff.ts';
import { assertMaxSide, decoderPixels } from '../dimensions.ts';
import { effectiveTags } from '../frames/color.ts';
import { Decoder } from '../frames/decoder.ts';
import { frameGeometry, type Ratio } from '../frames/geometry.ts';
import type { AudioSource, VideoProbe, VideoSource } from '../../probe-schema.ts';
import { describeAudio } from '../sound/source.ts';
import { CONVERT_TO_H264, encrypted, undecodable } from '../undecodable.ts';
import { AudioTrial } from '../sound/trial.ts';
import { Container } from './container.ts';
import { isEncryptedFile } from './encryption.ts';
import { keyframeTimes, type PacketInfo } from './keyframes.ts';
import { needsDolbyVision, peakNitsOf } from './hdr.ts';
import { LargestFrame } from './largest-frame.ts';
import { readOrientation } from './orientation.ts';
import { scan, type TrackScan } from './scan.ts';
import { readColorTags } from './tags.ts';
import { audioCandidates, type DecodableTrack, audioStreams, selectVideoTrack } from './tracks.ts';

export interface ProbeOptions {
  /** Larger frames are rejected before they are decoded. */
  readonly maxSide: number;
}

export function probeVideo(path: string, format: VideoFormat, options: ProbeOptions): VideoProbe {
  try {
    return probeOpened(path, format, options);
  } catch (error) {
    const isUnreadable = error instanceof AppError && error.code === 'asset_undecodable';
    throw isUnreadable && isEncryptedFile(path, format) ? encrypted() : error;
  }
}

function probeOpened(path: string, format: VideoFormat, { maxSide }: ProbeOptions): VideoProbe {
  const container = new Container(path, format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    const video = selectVideoTrack(container.streams);
    const trials = audioCandidates(container.streams).flatMap((track) => AudioTrial.open(track) ?? []);
    closers.push(...trials.map((trial) => () => trial.free()));
    container.select([video, ...trials.map(({ track }) => track)].map(({ stream }) => stream.index));
    assertMaxSide(maxSide, video.stream.codecpar);
    const decoder = new Decoder(video.decoder, video.stream, { maxPixels: decoderPixels(maxSide), threads: 1 });
    closers.push(() => decoder.free());
    const largest = new LargestFrame(video, maxSide);
    closers.push(() => largest.free());
    const scanned = { video: video.stream, decoder, largest, trials };
    const { tracks, packets, firstFrame } = scan(container, scanned, maxSide);
    closers.push(() => firstFrame.free());
    const frameSize = largest.orFirst({ width: firstFrame.width, height: firstFrame.height });
    const audible = trials.filter((trial) => trial.isDecodable).map(({ track }) => track);
    const audio = describeAudio(audible, tracks);
    const isEmpty = (index: number): boolean =>
      trials.some(({ track }) => track.stream.index === index) && tracks.get(index)?.packets === 0;
    const isAudioDropped = audio === null && audioStreams(container.streams).some(({ index }) => !isEmpty(index));
    return toProbe({ container, format, video, tracks, packets, firstFrame, frameSize, audio, isAudioDropped });
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

interface ProbeParts {
  readonly container: Container;
  readonly format: VideoFormat;
  readonly video: DecodableTrack;
  readonly tracks: ReadonlyMap<number, TrackScan>;
  readonly packets: readonly PacketInfo[];
  readonly firstFrame: Frame;
  /** The largest size of the frames. */
  readonly frameSize: Size;
  readonly audio: AudioSource | null;
  readonly isAudioDropped: boolean;
}

function toProbe(parts: ProbeParts): VideoProbe {
  const { container, format, video, tracks, packets, firstFrame, frameSize, audio, isAudioDropped } = parts;
  const track = tracks.get(video.stream.index);
  if (track === undefined || track.packets === 0) throw undecodable('its video track is empty');
  const claimedSeconds = container.claimedSeconds ?? 0;
  const whole = { ...track, end: endOf(track, claimedSeconds) };
  const { source, canvas } = describeVideo(video, whole, firstFrame, frameSize);
  const start = Math.min(source.start, audio?.start ?? source.start);
  const durationSeconds = Math.max(source.end, audio?.end ?? source.end) - start;
  if (!(durationSeconds > 0)) throw undecodable('its duration is zero');
  return {
    kind: 'video',
    format,
    ...canvas,
    durationSeconds,
    claimedSeconds: Math.max(durationSeconds, claimedSeconds),
    frameRate: frameRateOf(track),
    video: source,
    audio,
    ...(isAudioDropped && { isAudioDropped }),
    // Each frame of an animation changes the one before it.
    keyframes: format === 'animation' ? [0] : keyframeTimes(packets, source),
  };
}

function describeVideo({ stream, codec, decoder }: DecodableTrack, track: TrackScan, frame: Frame, decoded: Size) {
  const orientation = readOrientation(stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX));
  const { square, canvas } = frameGeometry(decoded, pixelAspect(stream, frame), orientation);
  const pixelFormat = pixelFormatOf(frame);
  const { end } = track;
  const source: VideoSource = {
    index: stream.index,
    codec,
    decoder,
    timeBase: { num: stream.timeBase.num, den: stream.timeBase.den },
    start: track.start,
    lastStart: track.lastStart,
    end,
    frames: track.packets,
    bitRate: end > track.start ? (track.bytes * 8) / (end - track.start) : 0,
    decoded,
    square,
    orientation,
    pixelFormat,
    tags: effectiveTags(readColorTags(stream.codecpar, frame), pixelFormat, codec, decoded),
    interlaced: frame.hasFlags(AV_FRAME_FLAG_INTERLACED),
    peakNits: peakNitsOf(frame),
    needsDolbyVision: needsDolbyVision(stream),
  };
  return { source, canvas };
}

/** A last frame without a duration ends with the file if the header says when, and after an average frame at the latest. */
function endOf({ packets, start, lastStart, end }: TrackScan, claimedSeconds: number): number {
  if (packets <= 1 || end > lastStart) return end;
  const average = lastStart + (lastStart - start) / (packets - 1);
  return claimedSeconds > lastStart ? Math.min(average, claimedSeconds) : average;
}

function frameRateOf({ packets, start, lastStart, end }: TrackScan): number {
  if (packets > 1 && lastStart > start) return (packets - 1) / (lastStart - start);
  return end > start ? packets / (end - start) : 0;
}

/** The aspect ratio of the container takes precedence over that of the decoder. */
function pixelAspect(stream: Stream, frame: Frame): Ratio {
  const { sampleAspectRatio } = stream;
  const { num, den } = sampleAspectRatio.num > 0 ? sampleAspectRatio : frame.sampleAspectRatio;
  return { num, den };
}

function pixelFormatOf(frame: Frame): string {
  const name = avGetPixFmtName(frame.format as Parameters<typeof avGetPixFmtName>[0]);
  if (name === null) throw undecodable('its pixel format is unknown', CONVERT_TO_H264);
  return name;
}
