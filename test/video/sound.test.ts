import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { mediaWarnings } from '../../src/engine/render/warnings.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { type ClipOptions, readClip } from './clip.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const clip = (name: string, changes: Partial<ClipOptions>): string =>
  plainClip(work.path(name), { frames: 30, ...changes });

describe('audio', () => {
  it.each([
    ['aac', 'aac', 'mp4'],
    ['libmp3lame', 'mp3', 'mp4'],
  ] as const)('audio is copied packet by packet from %s', async (encoder, codec, container) => {
    const path = clip(`${encoder}.mp4`, { container, audio: { codec: encoder, seconds: 1, sampleRate: 44_100 } });
    const source = readClip(path);
    const { clip: rendered, probe } = await renderClip(path, work.path(`${encoder}-out.mp4`));
    expect(probe.audio).toMatchObject({ codec, action: 'copy' });
    expect(rendered.audio?.codec).toBe(codec);
    expect(rendered.audio?.packets.map((packet) => packet.toString('base64'))).toEqual(
      source.audio?.packets.map((packet) => packet.toString('base64')),
    );
    expect(rendered.audio?.start).toBeCloseTo(source.audio?.start ?? Number.NaN, 3);
  });

  it('audio is encoded as AAC when the sample rate of an MP3 is too low for MP4', async () => {
    const path = clip('slow.mov', { container: 'mov', audio: { codec: 'libmp3lame', seconds: 1, sampleRate: 11_025 } });
    const { clip: rendered, probe } = await renderClip(path, work.path('slow-out.mp4'));
    expect(probe.audio).toMatchObject({ codec: 'mp3', action: 'encode' });
    expect(rendered.audio?.codec).toBe('aac');
  });

  it('audio is kept in a video with a single frame', async () => {
    const path = clip('still.webm', {
      container: 'webm',
      codec: 'libvpx',
      encoderOptions: { deadline: 'realtime', 'cpu-used': '8' },
      timeBase: { num: 1, den: 1000 },
      frames: 1,
      audio: { codec: 'libopus', seconds: 1, sampleRate: 48_000 },
    });
    const { clip: rendered } = await renderClip(path, work.path('still-out.mp4'));
    expect(rendered.frames).toHaveLength(1);
    expect(rendered.audio?.codec).toBe('aac');
  });

  it.each([
    ['pcm_s16le', 'mov', 'libx264'],
    ['libopus', 'webm', 'libvpx'],
  ] as const)('audio in %s is encoded as AAC of the same duration', async (encoder, container, codec) => {
    const options = codec === 'libvpx' ? { deadline: 'realtime', 'cpu-used': '8' } : { preset: 'ultrafast' };
    const path = clip(`${encoder}.${container}`, {
      container,
      codec,
      encoderOptions: options,
      timeBase: container === 'webm' ? { num: 33, den: 1000 } : { num: 1, den: 30 },
      audio: { codec: encoder, seconds: 1, sampleRate: 48_000 },
    });
    const { clip: rendered, probe } = await renderClip(path, work.path(`${encoder}-out.mp4`));
    expect(probe.audio?.action).toBe('encode');
    expect(rendered.audio?.codec).toBe('aac');
    expect(Math.abs(rendered.seconds - probe.durationSeconds)).toBeLessThan(0.04);
  });

  it('audio is left out when the configuration of its track is damaged', async () => {
    const path = clip('damaged.mp4', { audio: { codec: 'libopus', seconds: 1, sampleRate: 48_000 } });
    const bytes = readFileSync(path);
    // The track claims to have zero channels.
    bytes[bytes.indexOf('dOps') + 5] = 0;
    writeFileSync(path, bytes);
    const { clip: rendered } = await renderClip(path, work.path('damaged-out.mp4'));
    expect(rendered.audio).toBeUndefined();
    expect(rendered.frames).toHaveLength(30);
  });

  it('audio is left out with a warning when none of its AAC can be decoded', async () => {
    const path = clip('noise.mp4', { audio: { codec: 'aac', seconds: 1, sampleRate: 44_100 } });
    const bytes = readFileSync(path);
    for (const packet of readClip(path).audio?.packets ?? [])
      bytes.fill(0x77, bytes.indexOf(packet), bytes.indexOf(packet) + packet.length);
    writeFileSync(path, bytes);
    const { clip: rendered, recipe } = await renderClip(path, work.path('noise-out.mp4'));
    expect(rendered.audio).toBeUndefined();
    expect(rendered.frames).toHaveLength(30);
    expect(mediaWarnings(recipe)).toEqual(['audio_dropped']);
  });

  it.each(['mp4', 'matroska'] as const)(
    'audio is kept of the track that is flagged as default: %s',
    async (container) => {
      const path = plainClip(work.path(`default.${container === 'mp4' ? 'mp4' : 'webm'}`), {
        container,
        frames: 30,
        audio: { codec: 'aac', seconds: 1, sampleRate: 48_000 },
        defaultAudio: { codec: 'aac', seconds: 1, sampleRate: 44_100 },
      });
      const { probe, clip: rendered } = await renderClip(path, work.path('default-out.mp4'));
      expect([probe.audio?.index, probe.audio?.sampleRate, rendered.streams]).toEqual([2, 44_100, 2]);
    },
  );

  it('no audio is added to a video without audio', async () => {
    const { clip: rendered, probe, recipe } = await renderClip(clip('silent.mp4', {}), work.path('silent-out.mp4'));
    expect(probe.audio).toBeNull();
    expect(rendered.streams).toBe(1);
    expect(mediaWarnings(recipe)).toEqual([]);
  });
});

describe.skipIf(!hasSharedMedia)('tracks of real clips (skipped without ../shared/media)', () => {
  it.each([
    ['video_real/streamioffmpeg__file_with_data_streams.mp4', 2],
    ['video_mp4/media__sample_with_chapters.mp4', 2],
    ['video_hdr/media__dolbyVision-hdr.MOV', 2],
    ['video_mp4/wpt__text.mov', 1],
  ])('tracks with data, subtitles, chapters or cover art are dropped: %s', async (name, streams) => {
    const { clip: rendered } = await renderClip(sharedMedia(name), work.path('tracks.mp4'));
    expect(rendered.streams).toBe(streams);
  });

  it('audio tracks that cannot be read are dropped, while the video is kept', async () => {
    const path = sharedMedia('video_corrupt/media__sample_missing_stsd.mp4');
    const { clip: rendered } = await renderClip(path, work.path('no-stsd.mp4'));
    expect(rendered.audio).toBeUndefined();
    expect(rendered.frames).toHaveLength(30);
  });
});
