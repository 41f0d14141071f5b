// Detects the format of a file from its bytes. The file name and the declared content type are ignored, so a playlist
// named .mp4 is rejected here, before any decoder sees it.

/** `webm` stands for all of Matroska. */
export type AssetFormat = 'jpeg' | 'png' | 'webp' | 'mp4' | 'mov' | 'webm';
export type AssetKind = 'image' | 'video';
export type VideoFormat = 'mp4' | 'mov' | 'webm';

export const KIND_OF_FORMAT = {
  jpeg: 'image',
  png: 'image',
  webp: 'image',
  mp4: 'video',
  mov: 'video',
  webm: 'video',
} as const satisfies Record<AssetFormat, AssetKind>;

export function isVideoFormat(format: AssetFormat): format is VideoFormat {
  return KIND_OF_FORMAT[format] === 'video';
}

/** The number of leading bytes that `sniff` looks at. */
export const SNIFF_LENGTH = 256;

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
const EBML_DOCTYPE = Buffer.from([0x42, 0x82]);
/** Boxes that can come first in QuickTime files older than the `ftyp` box. */
const QUICKTIME_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** Brands of ISO base media files that aren't videos: still images and raw photos. */
const STILL_BRANDS = new Set([
  'heic',
  'heix',
  'heim',
  'heis',
  'hevc',
  'hevx',
  'mif1',
  'msf1',
  'avif',
  'avis',
  'jxl ',
  'crx ',
]);

export function sniff(bytes: Uint8Array): AssetFormat | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFF_LENGTH));
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpeg';
  if (head.subarray(0, 8).equals(PNG_SIGNATURE)) return 'png';
  if (ascii(head, 0) === 'RIFF' && ascii(head, 8) === 'WEBP') return 'webp';
  if (head.subarray(0, 4).equals(EBML)) return isMatroska(head) ? 'webm' : undefined;
  return sniffIsoMedia(head);
}

function sniffIsoMedia(head: Buffer): AssetFormat | undefined {
  const box = ascii(head, 4);
  if (box === 'ftyp') {
    const brand = ascii(head, 8);
    if (STILL_BRANDS.has(brand)) return undefined;
    return brand === 'qt  ' ? 'mov' : 'mp4';
  }
  // The first four bytes are the length of the first box. If they start with a letter, the file is text.
  return QUICKTIME_BOXES.has(box) && head.readUInt8(0) < 0x20 ? 'mov' : undefined;
}

/** WebM is Matroska with fewer codecs. Recordings by browsers say Matroska even in a file named .webm. */
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
