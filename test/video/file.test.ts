// The output file: data that players need in it, and data that it must not contain.

import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

/** The names of the top-level boxes, in order. */
function boxes(file: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at + 8 <= file.length; ) {
    names.push(file.toString('latin1', at + 4, at + 8));
    const size = file.readUInt32BE(at);
    at += size === 1 ? Number(file.readBigUInt64BE(at + 8)) : size;
  }
  return names;
}

describe('the output file', () => {
  it('the output file has its index before its data and contains H.264 High', async () => {
    const output = work.path('out.mp4');
    await renderClip(plainClip(work.path('in.mp4')), output);
    const file = readFileSync(output);
    const order = boxes(file);
    expect(order[0]).toBe('ftyp');
    expect(order.indexOf('moov')).toBeGreaterThan(0);
    expect(order.indexOf('moov')).toBeLessThan(order.indexOf('mdat'));
    // ISO 14496-15: version 1, then the profile. 100 is High, which is 8-bit 4:2:0.
    const configuration = file.indexOf('avcC', 0, 'latin1') + 4;
    expect([file[configuration], file[configuration + 1]]).toEqual([1, 100]);
  });
});

describe('a Matroska file', () => {
  it.each([
    ['libx264', 'libopus', 'encode'],
    ['libx264', 'aac', 'copy'],
    ['libx265', 'aac', 'copy'],
  ])('a Matroska file from a browser, OBS or a phone is rendered: %s with %s', async (codec, audio, action) => {
    const path = plainClip(work.path(`${codec}-${audio}.webm`), {
      container: 'matroska',
      codec,
      frames: 30,
      encoderOptions: {
        preset: 'ultrafast',
        ...(codec === 'libx265' && { 'x265-params': 'log-level=none:bframes=0' }),
      },
      audio: { codec: audio, seconds: 1, sampleRate: 48_000 },
    });
    const { probe, clip } = await renderClip(path, work.path(`${codec}-${audio}.mp4`));
    expect(probe.audio?.action).toBe(action);
    expect([clip.codec, clip.audio?.codec, clip.frames.length]).toEqual(['h264', 'aac', 30]);
    expect(clip.seconds).toBeCloseTo(1, 1);
  });
});

describe.skipIf(!hasSharedMedia)('the output file of a real clip (skipped without ../shared/media)', () => {
  it.each([
    ['video_hdr/media__dolbyVision-hdr.MOV', ['+51.5334-000.1255', 'iPhone', 'com.apple.quicktime']],
    ['video_mp4/media__sample_with_chapters.mp4', ['loci']],
  ])('the output file has no location, camera or other metadata: %s', async (name, secrets) => {
    const output = work.path('stripped.mp4');
    await renderClip(sharedMedia(name), output);
    const [before, after] = [sharedMedia(name), output].map((file) => readFileSync(file).toString('latin1'));
    for (const secret of secrets) expect([before?.includes(secret), after?.includes(secret)]).toEqual([true, false]);
  });
});
