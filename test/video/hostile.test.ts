import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/shared/errors.ts';
import { sniff, type VideoFormat } from '../../src/engine/media/sniff.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { randomCases } from '../random-cases.ts';
import { filesOf, hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { makeClip, PLAIN_TAGS } from './clip.ts';
import { BT709, paintYuv } from './painting.ts';
import { CAPTION, renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
const GOOD = work.path('good.mp4');

beforeAll(() => {
  makeClip({
    path: GOOD,
    container: 'mp4',
    codec: 'libx264',
    pixelFormat: 'yuv420p',
    width: 160,
    height: 96,
    frames: 60,
    paint: paintYuv((x, y, frame) => [(x * 3 + frame * 5) % 256, (y * 5) % 256, 99], BT709),
    tags: PLAIN_TAGS,
    encoderOptions: { preset: 'ultrafast' },
    muxerOptions: { movflags: 'faststart' },
    audio: { codec: 'aac', seconds: 2, sampleRate: 44_100 },
  });
});
afterAll(() => work.remove());

/** Returns the error that the probe or the recipe throws. */
function refusal(
  path: string,
  format: VideoFormat = 'mp4',
): { readonly code: string; readonly message: string; readonly limit: unknown } {
  try {
    const probe = probeVideo(path, format, { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
    composeVideoRecipe(probe, CAPTION, DEFAULT_VIDEO_LIMITS);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`${path} was accepted`);
}

/** A Matroska element: its id, four bytes of length, its content. */
function element(id: readonly number[], ...content: readonly (Buffer | string | number)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(0x10000000 + body.length);
  return Buffer.concat([Buffer.from(id), length, body]);
}

/** Returns a WebM whose video track is encrypted, like those of streaming services. */
function encryptedWebm(): Buffer {
  const encryption = element([0x50, 0x35], element([0x47, 0xe1], 5), element([0x47, 0xe2], 'key'));
  const encodings = element([0x6d, 0x80], element([0x62, 0x40], element([0x50, 0x33], 1), encryption));
  const size = element([0xe0], element([0xb0], 64), element([0xba], 64));
  const track = element([0xae], element([0xd7], 1), element([0x83], 1), element([0x86], 'V_VP9'), size, encodings);
  const block = element([0xa3], Buffer.from([0x81, 0, 0, 0x80]), Buffer.alloc(50, 7));
  const cluster = element([0x1f, 0x43, 0xb6, 0x75], element([0xe7], 0), block);
  return Buffer.concat([
    element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], 'webm')),
    element([0x18, 0x53, 0x80, 0x67], element([0x16, 0x54, 0xae, 0x6b], track), cluster),
  ]);
}

function altered(name: string, change: (bytes: Buffer) => Buffer): string {
  const path = work.path(name);
  writeFileSync(path, change(readFileSync(GOOD)));
  return path;
}

describe('hostile and damaged files', () => {
  it('playlists and file lists are refused, and the files in them are never opened', () => {
    const playlist = Buffer.from(`#EXTM3U\n#EXTINF:5,\n${GOOD}\n`);
    expect(sniff(playlist)).toBeUndefined();
    expect(sniff(Buffer.from(`ffconcat version 1.0\nfile ${GOOD}\n`))).toBeUndefined();
    const path = work.path('playlist.mp4');
    writeFileSync(path, playlist);
    expect(refusal(path).code).toBe('asset_undecodable');
    const disguised = work.path('disguised.mp4');
    writeFileSync(disguised, Buffer.concat([Buffer.from('\0\0\0\x10ftypisom\0\0\0\0'), playlist]));
    expect(refusal(disguised).code).toBe('asset_undecodable');
  });

  it('another container named .mp4 is refused', () => {
    const path = work.path('wav.mp4');
    writeFileSync(path, Buffer.concat([Buffer.from('RIFF....WAVEfmt '), Buffer.alloc(5_000)]));
    expect(refusal(path).code).toBe('asset_undecodable');
  });

  it('a file with a duration, frame rate or size over the limit is refused with the limit and the actual value', () => {
    const hours = altered('hours.mp4', (bytes) => {
      const at = bytes.indexOf('mvhd');
      bytes.writeUInt32BE(bytes.readUInt32BE(at + 16) * 36_000, at + 20);
      return bytes;
    });
    expect(refusal(hours)).toMatchObject({ code: 'asset_too_long', limit: { limit: 60, actual: 36_000 } });

    const fast = work.path('fast.mp4');
    const shape = { container: 'mp4', codec: 'libx264', pixelFormat: 'yuv420p', tags: PLAIN_TAGS } as const;
    makeClip({
      ...shape,
      path: fast,
      width: 32,
      height: 32,
      paint: () => 80,
      frames: 100,
      timeBase: { num: 1, den: 1000 },
    });
    expect(refusal(fast)).toMatchObject({ code: 'asset_frame_rate_too_high', limit: { limit: 480, actual: 1000 } });

    const wide = work.path('wide.mp4');
    makeClip({ ...shape, path: wide, width: 4_128, height: 64, paint: () => 80, frames: 1 });
    expect(refusal(wide)).toMatchObject({ code: 'asset_dimensions_too_large', limit: { limit: 4_096, actual: 4_128 } });
    // The same file with a small size in the header; the bitstream still has the real one.
    const bytes = readFileSync(wide);
    bytes.writeUInt16BE(160, bytes.lastIndexOf('avc1') + 28);
    writeFileSync(wide, bytes);
    expect(refusal(wide).code).toBe('asset_dimensions_too_large');
  });

  it('files without a decodable frame are refused with the reason', () => {
    const encrypted = work.path('encrypted.mp4');
    makeClip({
      path: encrypted,
      container: 'mp4',
      codec: 'libx264',
      pixelFormat: 'yuv420p',
      width: 64,
      height: 64,
      paint: () => 100,
      muxerOptions: {
        encryption_scheme: 'cenc-aes-ctr',
        encryption_key: '76a6c65c5ea762046bd749a2e632ccbb',
        encryption_kid: 'a7e61c373e219033c21091fa607bf3b8',
      },
    });
    expect(refusal(encrypted).message).toContain('encrypted');
    const drm = work.path('drm.mp4');
    writeFileSync(drm, Buffer.from(readFileSync(encrypted).toString('latin1').replace('encv', 'drmi'), 'latin1'));
    expect(refusal(drm).message).toContain('it is encrypted');
    const webm = work.path('encrypted.webm');
    writeFileSync(webm, encryptedWebm());
    expect(refusal(webm, 'webm').message).toContain('it is encrypted');
    const unknown = altered('unknown.mp4', (bytes) =>
      bytes.fill('zzz9', bytes.indexOf('avc1', 40), bytes.indexOf('avc1', 40) + 4),
    );
    expect(refusal(unknown).message).toContain("its video codec isn't supported (zzz9)");
    const garbage = altered('garbage.mp4', (bytes) => bytes.fill(0x55, bytes.indexOf('mdat') + 4));
    expect(refusal(garbage).message).toContain('none of its frames can be decoded');
    const empty = altered('empty.mp4', (bytes) => bytes.subarray(0, bytes.indexOf('mdat') + 20));
    expect(refusal(empty).code).toBe('asset_undecodable');
    const headless = altered('headless.mp4', (bytes) => bytes.subarray(0, 200));
    expect(refusal(headless).code).toBe('asset_undecodable');
  });

  it('truncated files are rendered up to the point where they end', async () => {
    const path = altered('half.mp4', (bytes) => bytes.subarray(0, bytes.length * 0.6));
    const { facts, clip } = await renderClip(path, work.path('half-out.mp4'));
    expect(facts.frames).toBeGreaterThan(10);
    expect(facts.frames).toBeLessThan(60);
    expect(clip.frames.length).toBe(facts.frames);
  });

  const ROUNDS = randomCases({ usually: 20, all: 60 });

  it('randomly damaged files are rendered or refused with a documented error', async () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
    const outcomes = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = altered('mutant.mp4', (bytes) => {
        for (let hit = 0; hit < 12; hit += 1) bytes[random(bytes.length)] = random(256);
        return bytes;
      });
      const outcome = await renderClip(path, work.path('mutant-out.mp4')).then(
        () => 'rendered',
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    const documented = new Set([
      'rendered',
      'asset_undecodable',
      'asset_too_long',
      'asset_dimensions_too_large',
      'asset_frame_rate_too_high',
    ]);
    expect([...outcomes.keys()].filter((outcome) => !documented.has(outcome))).toEqual([]);
  });
});

describe.skipIf(!hasSharedMedia)('damaged real files (skipped without ../shared/media)', () => {
  const files = filesOf('video_corrupt');
  const videos = files.filter((name) => sniff(readFileSync(sharedMedia(name)).subarray(0, 256)) !== undefined);

  it.each(videos)('damaged real files are rendered or refused: %s', async (name) => {
    const isReadable = name.includes('mdat_too_long') || name.includes('missing_stsd');
    const outcome = await renderClip(sharedMedia(name), work.path('corrupt-out.mp4')).then(
      () => 'rendered',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    );
    expect(outcome).toBe(isReadable ? 'rendered' : 'asset_undecodable');
  });
});
