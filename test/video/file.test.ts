// The finished file itself: what players need in it, and what must not be in it.

import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

/** The outermost boxes, in order. */
function boxes(file: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at + 8 <= file.length; ) {
    names.push(file.toString('latin1', at + 4, at + 8));
    const size = file.readUInt32BE(at);
    at += size === 1 ? Number(file.readBigUInt64BE(at + 8)) : size;
  }
  return names;
}

describe('the finished file', () => {
  it('begins with its index and holds 4:2:0 H.264 High', async () => {
    const output = work.path('out.mp4');
    await renderClip(plainClip(work.path('in.mp4')), output);
    const file = readFileSync(output);
    const order = boxes(file);
    expect(order[0]).toBe('ftyp');
    expect(order.indexOf('moov')).toBeGreaterThan(0);
    expect(order.indexOf('moov')).toBeLessThan(order.indexOf('mdat'));
    // ISO 14496-15: version 1, then the profile; 100 is High, which is 4:2:0 with 8 bits.
    const configuration = file.indexOf('avcC', 0, 'latin1') + 4;
    expect([file[configuration], file[configuration + 1]]).toEqual([1, 100]);
  });
});

describe.skipIf(!hasSharedMedia)('real clips (skipped where ../shared/media is absent)', () => {
  it.each([
    ['video_hdr/media__dolbyVision-hdr.MOV', ['+51.5334-000.1255', 'iPhone', 'com.apple.quicktime']],
    ['video_mp4/media__sample_with_chapters.mp4', ['loci']],
  ])('%s: place, camera and other metadata are gone', async (name, secrets) => {
    const output = work.path('stripped.mp4');
    await renderClip(sharedMedia(name), output);
    const [before, after] = [sharedMedia(name), output].map((file) => readFileSync(file).toString('latin1'));
    for (const secret of secrets) expect([before?.includes(secret), after?.includes(secret)]).toEqual([true, false]);
  });
});
