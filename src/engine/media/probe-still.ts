import { probeHeif } from './heif/still-image.ts';
import { probeImage } from './image.ts';
import type { ImageProbe } from './probe-schema.ts';
import { type AssetFormat, isHeifFormat } from './sniff.ts';

/** Reads the header of an image, whatever decodes its pixels later. */
export async function probeStill(source: Uint8Array, format: AssetFormat): Promise<ImageProbe> {
  return isHeifFormat(format) ? probeHeif(source) : await probeImage(source);
}
