// What a video is, before anything is decided about it. Opens the file, reads its packets, decodes one frame. The result
// is plain JSON: the recipe is made from it, perhaps in another process.

import { AV_FRAME_FLAG_INTERLACED, AV_PKT_DATA_DISPLAYMATRIX } from 'node-av/constants';
import { avGetPixFmtName, type Frame, type Stream } from 'node-av/lib';
import { AppError } from '../../../errors.ts';
import type { Size } from '../../../layout/geometry.ts';
import { type AudioSource, describeAudio } from '../sound/source.ts';
import { effectiveTags } from '../frames/color.ts';
import type { VideoFormat } from '../../sniff.ts';
import { Container } from './container.ts';
import { type Cut, findCuts, type PacketInfo } from '../segments/cuts.ts';
import { Decoder } from '../frames/decoder.ts';
import { decoderPixels, assertMaxSide } from '../dimensions.ts';
import { frameGeometry, type Ratio } from '../frames/geometry.ts';
import { readOrientation } from './orientation.ts';
import type { FrameFormat } from '../frames/steps.ts';
import { scan, type TrackScan } from './scan.ts';
import { needsDolbyVision, peakNitsOf } from './hdr.ts';
import { readColorTags } from './tags.ts';
import { audioCandidates, type DecodableTrack, selectVideoTrack } from './tracks.ts';
import { undecodable } from '../undecodable.ts';

export interface VideoSource extends FrameFormat {
  readonly index: number;
  readonly codec: string;
  readonly decoder: string;
  readonly timeBase: Ratio;
  /** Presentation time of the first frame and of the last one's beginning, in seconds. */
  readonly start: number;
  readonly lastStart: number;
  readonly end: number;
  readonly frames: number;
  /** Bits per second of the stream's packets. */
  readonly bitRate: number;
}

/** Width and height are those of the finished picture: upright, square pixels, even. */
export interface VideoProbe extends Size {
  readonly kind: 'video';
  readonly format: VideoFormat;
  readonly durationSeconds: number;
  /** The longer of what the header claims and what the packets hold. */
  readonly claimedSeconds: number;
  readonly frameRate: number;
  readonly video: VideoSource;
  readonly audio: AudioSource | null;
  /** Where it could be cut; empty when it should stay whole. */
  readonly cuts: readonly Cut[];
}

export interface ProbeOptions {
  /** Larger frames are refused before they are decoded. */
  readonly maxSide: number;
}

export function probeVideo(path: string, format: VideoFormat, { maxSide }: ProbeOptions): VideoProbe {
  const container = new Container(path, format);
  try {
    const video = selectVideoTrack(container.streams);
    const sounds = audioCandidates(container.streams).filter(opens);
    container.select([video, ...sounds].map(({ stream }) => stream.index));
    assertMaxSide(maxSide, video.stream.codecpar);
    const decoder = new Decoder(video.decoder, video.stream, { maxPixels: decoderPixels(maxSide), threads: 1 });
    try {
      const { tracks, packets, firstFrame } = scan(container, video.stream, decoder, maxSide);
      const audio = describeAudio(sounds, tracks);
      try {
        return describe({ container, format, video, tracks, packets, firstFrame, audio });
      } finally {
        firstFrame.free();
      }
    } finally {
      decoder.free();
    }
  } finally {
    container.close();
  }
}

/** A track whose configuration is damaged is passed over, as one that nothing can decode. */
function opens({ decoder, stream }: DecodableTrack): boolean {
  try {
    new Decoder(decoder, stream, { maxPixels: 1, threads: 1 }).free();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

interface Findings {
  readonly container: Container;
  readonly format: VideoFormat;
  readonly video: DecodableTrack;
  readonly tracks: ReadonlyMap<number, TrackScan>;
  readonly packets: readonly PacketInfo[];
  readonly firstFrame: Frame;
  readonly audio: AudioSource | null;
}

function describe({ container, format, video, tracks, packets, firstFrame, audio }: Findings): VideoProbe {
  const track = tracks.get(video.stream.index);
  if (track === undefined || track.packets === 0) throw undecodable('its video stream is empty');
  const { source, canvas } = describeVideo(video, track, firstFrame);
  const start = Math.min(source.start, audio?.start ?? source.start);
  const durationSeconds = Math.max(source.end, audio?.end ?? source.end) - start;
  if (durationSeconds <= 0) throw undecodable('its duration is zero');
  return {
    kind: 'video',
    format,
    ...canvas,
    durationSeconds,
    claimedSeconds: Math.max(durationSeconds, container.claimedSeconds ?? 0),
    frameRate: frameRateOf(track),
    video: source,
    audio,
    cuts: isCuttable(source) ? findCuts(packets, cutSpacing(source)) : [],
  };
}

/** More places than anybody needs would only make the report long. */
const MIN_CUT_SPACING_SECONDS = 1;
const MAX_CUTS = 500;

function cutSpacing({ start, end, timeBase }: VideoSource): number {
  const seconds = Math.max(MIN_CUT_SPACING_SECONDS, (end - start) / MAX_CUTS);
  return (seconds * timeBase.den) / timeBase.num;
}

/** One packet, one frame; and their keyframes really are places to begin. */
const CUTTABLE: ReadonlySet<string> = new Set(['h264', 'hevc', 'vp9', 'libdav1d']);

/** Frames that look at their neighbours, or colors that need what earlier frames said, must stay together. */
function isCuttable({ decoder, interlaced, needsDolbyVision: isDolbyVision }: VideoSource): boolean {
  return CUTTABLE.has(decoder) && !interlaced && !isDolbyVision;
}

function describeVideo({ stream, codec, decoder }: DecodableTrack, track: TrackScan, frame: Frame) {
  const decoded = { width: frame.width, height: frame.height };
  const orientation = readOrientation(stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX));
  const { square, canvas } = frameGeometry(decoded, pixelShape(stream, frame), orientation);
  const pixelFormat = pixelFormatOf(frame);
  const end = endOf(track);
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
    tags: effectiveTags(readColorTags(stream.codecpar, frame), pixelFormat, decoded),
    interlaced: frame.hasFlags(AV_FRAME_FLAG_INTERLACED),
    peakNits: peakNitsOf(frame),
    needsDolbyVision: needsDolbyVision(stream),
  };
  return { source, canvas };
}

/** A last frame without a duration lasts as long as the ones before it did on average. */
function endOf({ packets, start, lastStart, end }: TrackScan): number {
  return packets > 1 && end <= lastStart ? lastStart + (lastStart - start) / (packets - 1) : end;
}

function frameRateOf({ packets, start, lastStart, end }: TrackScan): number {
  if (packets > 1 && lastStart > start) return (packets - 1) / (lastStart - start);
  return end > start ? packets / (end - start) : 0;
}

/** The container's word first, then the decoder's. */
function pixelShape(stream: Stream, frame: Frame): Ratio {
  const { sampleAspectRatio } = stream;
  const shape = sampleAspectRatio.num > 0 ? sampleAspectRatio : frame.sampleAspectRatio;
  return { num: shape.num, den: shape.den };
}

function pixelFormatOf(frame: Frame): string {
  const name = avGetPixFmtName(frame.format as Parameters<typeof avGetPixFmtName>[0]);
  if (name === null) throw undecodable('its pixel format is unknown');
  return name;
}
