import { describe, expect, it } from 'vitest';
import { isSrgbProfile } from './icc.ts';

/** A profile with only a description tag: `desc` as in ICC v2, or `mluc` as in v4. */
function profile(name: string, kind: 'desc' | 'mluc'): Buffer {
  const header = Buffer.alloc(144);
  header.writeUInt32BE(1, 128);
  header.write('desc', 132, 'latin1');
  header.writeUInt32BE(144, 136);
  const text = kind === 'desc' ? Buffer.from(`${name}\0`, 'latin1') : Buffer.from(name, 'utf16le').swap16();
  const tag = Buffer.alloc(kind === 'desc' ? 12 : 28);
  tag.write(kind, 0, 'latin1');
  tag.writeUInt32BE(kind === 'desc' ? text.length : 1, 8);
  if (kind === 'mluc') {
    tag.writeUInt32BE(text.length, 20);
    tag.writeUInt32BE(28, 24);
  }
  return Buffer.concat([header, tag, text, Buffer.alloc(16)]);
}

describe('isSrgbProfile', () => {
  it.each(['sRGB IEC61966-2.1', 'sRGB built-in', 'sRGB', 'sRGB2014', 'c2', 'uRGB'])('recognizes %s as sRGB', (name) => {
    expect([isSrgbProfile(profile(name, 'desc')), isSrgbProfile(profile(name, 'mluc'))]).toEqual([true, true]);
  });

  it.each([
    'Display P3',
    'Adobe RGB (1998)',
    'sRGB Linear',
    'sRGB-elle-V2-g10.icc',
    'sRGB v4 ICC preference',
    'ProPhoto RGB',
    '',
  ])('does not take %j for sRGB', (name) => {
    expect([isSrgbProfile(profile(name, 'desc')), isSrgbProfile(profile(name, 'mluc'))]).toEqual([false, false]);
  });

  it('returns false for a truncated profile and for random bytes', () => {
    const whole = profile('sRGB', 'mluc');
    for (let length = 0; length < 172; length += 1) expect(isSrgbProfile(whole.subarray(0, length))).toBe(false);
    expect(isSrgbProfile(Buffer.alloc(500, 0xff))).toBe(false);
  });
});
