// Detects the format of a file from its bytes. The file name and the declared content type are ignored, so a playlist
// named .mp4 is rejected here, before any decoder sees it.

/**
 * `webm` stands for all of Matroska, and `heic` for all of HEIF but AVIF. `animation` is a GIF or WebP that becomes a
 * video, which only the request determines.
 */
export const ASSET_FORMATS = ['jpeg', 'png', 'webp', 'gif', 'heic', 'avif', 'mp4', 'mov', 'webm', 'animation'] as const;
export type AssetFormat = (typeof ASSET_FORMATS)[number];
export type AssetKind = 'image' | 'video';
export type VideoFormat = 'mp4' | 'mov' | 'webm' | 'animation';

export const KIND_OF_FORMAT = {
  jpeg: 'image',
  png: 'image',
  webp: 'image',
  gif: 'image',
  heic: 'image',
  avif: 'image',
  mp4: 'video',
  mov: 'video',
  webm: 'video',
  animation: 'video',
} as const satisfies Record<AssetFormat, AssetKind>;

export function isVideoFormat(format: AssetFormat): format is VideoFormat {
  return KIND_OF_FORMAT[format] === 'video';
}

/** HEIF keeps still images in the same boxes as MP4 keeps videos. */
export type HeifFormat = 'heic' | 'avif';

export function isHeifFormat(format: AssetFormat): format is HeifFormat {
  return format === 'heic' || format === 'avif';
}

/** The number of leading bytes that `sniff` looks at. */
export const SNIFF_LENGTH = 256;

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
const EBML_DOCTYPE = Buffer.from([0x42, 0x82]);
/** Boxes that can come first in QuickTime files older than the `ftyp` box. */
const QUICKTIME_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** Brands of HEIF files whose images are compressed with HEVC, and of image sequences. */
const HEVC_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs', 'MiHB', 'MiHE', 'MiHA']);
const AV1_BRANDS = new Set(['avif', 'avis', 'avio', 'MA1A', 'MA1B']);
/** Brands of HEIF that leave the compression open. The compatible brands that follow determine it. */
const HEIF_BRANDS = new Set(['mif1', 'mif2', 'msf1', 'miaf', 'MiPr', 'MiCm', 'heif']);
/** Brands of ISO base media files that aren't videos and that no decoder here reads: JPEG XL and raw photos. */
const OTHER_STILL_BRANDS = new Set(['jxl ', 'crx ', 'jpeg', 'avci', 'mif3']);

export function sniff(bytes: Uint8Array): AssetFormat | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFF_LENGTH));
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpeg';
  if (head.subarray(0, 8).equals(PNG_SIGNATURE)) return 'png';
  if (/^GIF8[79]a$/u.test(head.toString('latin1', 0, 6))) return 'gif';
  if (ascii(head, 0) === 'RIFF' && ascii(head, 8) === 'WEBP') return 'webp';
  if (head.subarray(0, 4).equals(EBML)) return isMatroska(head) ? 'webm' : undefined;
  return sniffIsoMedia(head);
}

/** The flag in the header of an extended WebP that says it has frames. */
const WEBP_ANIMATION = 0x02;

/** Returns true when the output `mp4` is possible: for every GIF, and for a WebP that is marked as animated. */
export function isAnimation(bytes: Uint8Array): boolean {
  const format = sniff(bytes);
  if (format !== 'webp') return format === 'gif';
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFF_LENGTH));
  return ascii(head, 12) === 'VP8X' && ((head[20] ?? 0) & WEBP_ANIMATION) !== 0;
}

function sniffIsoMedia(head: Buffer): AssetFormat | undefined {
  const box = ascii(head, 4);
  if (box === 'ftyp') {
    const brand = ascii(head, 8);
    if (OTHER_STILL_BRANDS.has(brand)) return undefined;
    return sniffHeif(head, brand) ?? (brand === 'qt  ' ? 'mov' : 'mp4');
  }
  // The first four bytes are the length of the first box. If they start with a letter, the file is text.
  return QUICKTIME_BOXES.has(box) && head.readUInt8(0) < 0x20 ? 'mov' : undefined;
}

function sniffHeif(head: Buffer, brand: string): HeifFormat | undefined {
  if (HEVC_BRANDS.has(brand)) return 'heic';
  if (AV1_BRANDS.has(brand)) return 'avif';
  if (!HEIF_BRANDS.has(brand)) return undefined;
  const end = Math.min(head.readUInt32BE(0), head.length);
  for (let at = 16; at + 4 <= end; at += 4) {
    if (AV1_BRANDS.has(ascii(head, at))) return 'avif';
  }
  return 'heic';
}

/** WebM is Matroska with fewer codecs. Browsers write Matroska even into a file named .webm. */
function isMatroska(head: Buffer): boolean {
  const at = head.indexOf(EBML_DOCTYPE, 4);
  if (at < 0) return false;
  const { value: length, size } = variableInteger(head, at + EBML_DOCTYPE.length);
  const start = at + EBML_DOCTYPE.length + size;
  return /^(?:webm|matroska)\0*$/u.test(head.toString('latin1', start, start + length));
}

/** EBML stores a number in one to eight bytes. The leading zero bits of the first byte tell how many follow. */
function variableInteger(head: Buffer, at: number): { value: number; size: number } {
  const first = head[at] ?? 0;
  const size = Math.clz32(first) - 23;
  let value = first & (0xff >> size);
  for (let index = 1; index < size; index += 1) value = value * 256 + (head[at + index] ?? 0);
  return { value, size };
}

function ascii(head: Buffer, at: number): string {
  return head.toString('latin1', at, at + 4);
}
