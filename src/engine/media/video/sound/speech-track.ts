// Decodes the audio of a video to what speech recognition needs: 16-bit samples, one channel, 16 kHz, in a WAV file. A
// sample is where it is heard: the file starts with the video's own clock, and gaps are silence.

import { closeSync, openSync, writeSync } from 'node:fs';
import { AV_NOPTS_VALUE } from 'node-av/constants';
import { avRescaleQ, Frame, type Packet, Rational, type Stream } from 'node-av/lib';
import { Decoder } from '../frames/decoder.ts';
import type { Ratio } from '../frames/geometry.ts';
import { forEachPacket } from '../packet-loop.ts';
import { Container } from '../probe/container.ts';
import type { TranscodeOptions } from '../transcode-plan.ts';
import { undecodable } from '../undecodable.ts';
import type { VideoFormat } from '../../sniff.ts';
import { AudioFilterGraph, type AudioFormat } from './filter-graph.ts';
import type { AudioSource } from '../../probe-schema.ts';
import type { AudioTrack } from './track.ts';
import { BYTES_PER_SAMPLE, SPEECH_RATE, WAV_HEADER_BYTES, WINDOW_SAMPLES, windowsIn } from './wav-format.ts';

const FORMAT: AudioFormat = { sampleRate: SPEECH_RATE, channels: 1, sampleFormat: 's16', frameSamples: 4_096 };
const TIME_BASE = new Rational(1, SPEECH_RATE);
const SILENCE = Buffer.alloc(64 * 1024);
const AUDIBLE = '1'.charCodeAt(0);
/** -50 dBFS. Speech is far louder, and the noise of a silent track is below. */
const AUDIBLE_LEVEL = 32_768 * 10 ** (-50 / 20);

/** Every decision about the extraction, made in advance. */
export interface SpeechPlan {
  readonly format: VideoFormat;
  readonly audio: AudioSource;
  /** Seconds to subtract from every timestamp, as in the rendered video. */
  readonly offset: number;
  /** The length of the result. More samples are left out. */
  readonly seconds: number;
}

/** Returns one character per window of the sound: 1 where it reaches -50 dBFS, 0 elsewhere. */
export async function extractSpeech(
  plan: SpeechPlan,
  path: string,
  outPath: string,
  { signal, onProgress }: TranscodeOptions = {},
): Promise<string> {
  const container = new Container(path, plan.format);
  const closers: (() => void)[] = [() => container.close()];
  try {
    const { index } = plan.audio;
    container.select([index]);
    const wav = new WavFile(outPath, plan.seconds);
    closers.push(() => wav.close());
    const track = new SpeechTrack(plan, container.streamAt(index), wav);
    closers.push(() => track.free());
    const handle = (packet: Packet): boolean => {
      if (packet.streamIndex === index) track.process(packet);
      return !wav.isFull;
    };
    const onYield = (): void => onProgress?.({ frames: wav.samples, totalFrames: wav.maxSamples });
    await forEachPacket(container, handle, { signal, onYield });
    track.finish();
    if (wav.samples === 0) throw undecodable('none of its audio can be decoded');
    wav.finish();
    return wav.audible;
  } finally {
    for (const close of closers.toReversed()) close();
  }
}

class SpeechTrack implements AudioTrack {
  readonly #decoder: Decoder;
  readonly #sourceTimeBase: Ratio;
  readonly #offset: number;
  readonly #wav: WavFile;
  readonly #decoded = new Frame();
  readonly #filtered = new Frame();
  #graph: AudioFilterGraph | undefined;

  constructor({ audio, offset }: SpeechPlan, stream: Stream, wav: WavFile) {
    this.#sourceTimeBase = stream.timeBase;
    this.#offset = Math.round(offset * SPEECH_RATE);
    this.#wav = wav;
    this.#decoder = new Decoder(audio.decoder, stream, { maxPixels: 1, threads: 1 });
    for (const buffer of [this.#decoded, this.#filtered]) buffer.alloc();
  }

  /** `null` flushes the decoder. */
  process(packet: Packet | null): void {
    this.#decoder.send(packet);
    while (this.#decoder.receive(this.#decoded)) this.#filter();
  }

  finish(): void {
    this.process(null);
    this.#flush();
  }

  free(): void {
    this.#graph?.free();
    this.#decoder.free();
    for (const buffer of [this.#decoded, this.#filtered]) buffer.free();
  }

  #filter(): void {
    // A filter graph accepts only one format, and some tracks change theirs midway.
    if (this.#graph?.accepts(this.#decoded) === false) this.#flush();
    this.#graph ??= new AudioFilterGraph(this.#decoded, this.#sourceTimeBase, FORMAT);
    this.#graph.push(this.#decoded);
    this.#write();
  }

  #flush(): void {
    this.#graph?.finish();
    this.#write();
    this.#graph?.free();
    this.#graph = undefined;
  }

  #write(): void {
    while (this.#graph?.pull(this.#filtered) === true) {
      const { pts, nbSamples, data } = this.#filtered;
      const at =
        pts === AV_NOPTS_VALUE
          ? this.#wav.samples
          : Number(avRescaleQ(pts, this.#graph.timeBase, TIME_BASE)) - this.#offset;
      const samples = data?.[0]?.subarray(0, nbSamples * BYTES_PER_SAMPLE);
      if (samples) this.#wav.writeAt(at, samples);
      this.#filtered.unref();
    }
  }
}

/** Samples in the order of their time. What is missing between them becomes silence. */
class WavFile {
  readonly maxSamples: number;
  samples = 0;
  readonly #file: number;
  readonly #audible: Buffer;

  constructor(path: string, seconds: number) {
    this.maxSamples = Math.ceil(seconds * SPEECH_RATE);
    this.#audible = Buffer.alloc(windowsIn(seconds), '0');
    this.#file = openSync(path, 'w');
    // The sizes in the header are written at the end.
    writeSync(this.#file, wavHeader(0));
  }

  get isFull(): boolean {
    return this.samples >= this.maxSamples;
  }

  get audible(): string {
    return this.#audible.toString('latin1');
  }

  writeAt(at: number, data: Uint8Array): void {
    this.#writeSilence(Math.min(at, this.maxSamples) - this.samples);
    // Samples that are already written, or before the start, aren't heard.
    const from = Math.max(0, this.samples - at) * BYTES_PER_SAMPLE;
    const samples = data.subarray(from, from + (this.maxSamples - this.samples) * BYTES_PER_SAMPLE);
    this.#measure(samples);
    this.#write(samples);
  }

  finish(): void {
    writeSync(this.#file, wavHeader(this.samples), 0, WAV_HEADER_BYTES, 0);
  }

  close(): void {
    closeSync(this.#file);
  }

  #writeSilence(samples: number): void {
    for (let left = samples * BYTES_PER_SAMPLE; left > 0; left -= SILENCE.length)
      this.#write(SILENCE.subarray(0, left));
  }

  #measure(data: Uint8Array): void {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (let at = 0; at + 1 < data.length; at += BYTES_PER_SAMPLE) {
      if (Math.abs(view.getInt16(at, true)) < AUDIBLE_LEVEL) continue;
      this.#audible[Math.floor((this.samples + at / BYTES_PER_SAMPLE) / WINDOW_SAMPLES)] = AUDIBLE;
    }
  }

  #write(data: Uint8Array): void {
    for (let sent = 0; sent < data.length; ) sent += writeSync(this.#file, data, sent);
    this.samples += data.length / BYTES_PER_SAMPLE;
  }
}

function wavHeader(samples: number): Buffer {
  const bytes = samples * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  // Uncompressed samples of one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SPEECH_RATE, 24);
  header.writeUInt32LE(SPEECH_RATE * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
