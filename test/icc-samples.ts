// Color profiles for tests.

/** A gray profile with a plain power function. */
export function grayProfile(gamma: number): Buffer {
  const profile = Buffer.alloc(128 + 4 + 12 + 16);
  profile.write('mntrGRAYXYZ ', 12, 'latin1');
  profile.write('acsp', 36, 'latin1');
  profile.writeUInt32BE(1, 128);
  profile.write('kTRC', 132, 'latin1');
  profile.writeUInt32BE(144, 136);
  profile.writeUInt32BE(14, 140);
  profile.write('curv', 144, 'latin1');
  profile.writeUInt32BE(1, 152);
  profile.writeUInt16BE(Math.round(gamma * 256), 156);
  return profile;
}

/** A JPEG with this profile. */
export function withProfile(jpeg: Buffer, profile: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.of(1, 1), profile]);
  const head = Buffer.of(0xff, 0xe2, (body.length + 2) >> 8, (body.length + 2) & 255);
  return Buffer.concat([jpeg.subarray(0, 2), head, body, jpeg.subarray(2)]);
}
