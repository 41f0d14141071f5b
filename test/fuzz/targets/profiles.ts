// ICC color profiles, which are part of uploaded files.

import { colorProfileOf } from '../../../src/engine/media/color/gray-profile.ts';
import { hdrEncodingOf, isSrgbProfile } from '../../../src/engine/media/color/icc.ts';
import { conversionToProfile } from '../../../src/engine/media/color/profile-colors.ts';
import { mappingOfProfile } from '../../../src/engine/media/heif/color-mapping.ts';
import { check } from '../check.ts';

const COLORS = Int32Array.of(0, -1, 0x80_40_20_10 | 0, 0x01_ff_00_ff);

/** A conversion changes colors, and never how transparent they are. */
export function fuzz(profile: Buffer): void {
  isSrgbProfile(profile);
  hdrEncodingOf(profile);
  colorProfileOf(profile);
  mappingOfProfile(profile);
  for (const components of [1, 3]) {
    const convert = conversionToProfile(profile, components);
    if (convert === undefined) continue;
    const words = Int32Array.from(COLORS);
    convert(words);
    check(
      words.every((word, index) => word >>> 24 === (COLORS[index] ?? 0) >>> 24),
      'the alpha stays as it is',
    );
  }
}
