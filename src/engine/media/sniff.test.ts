import { describe, expect, it } from 'vitest';
import { sniff } from './sniff.ts';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
const ebml = (docType: string): Buffer =>
  bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x80 | docType.length], docType);

describe('sniff', () => {
  it.each([
    ['jpeg', 'a JPEG marker', bytes([0xff, 0xd8, 0xff, 0xe0])],
    ['png', 'a PNG signature', bytes([0x89], 'PNG\r\n', [0x1a], '\n')],
    ['webp', 'a RIFF header of type WEBP', bytes('RIFF', [1, 2, 3, 4], 'WEBPVP8 ')],
    ['mp4', 'an isom brand', bytes([0, 0, 0, 24], 'ftypisom')],
    ['mov', 'a QuickTime brand', bytes([0, 0, 0, 20], 'ftypqt  ')],
    ['mov', 'a QuickTime file without ftyp', bytes([0, 0, 0, 8], 'wide')],
    ['webm', 'an EBML header of type webm', ebml('webm')],
    [
      'webm',
      'an EBML header with two-byte lengths',
      bytes([0x1a, 0x45, 0xdf, 0xa3, 0x40, 0x20, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x40, 0x04], 'webm'),
    ],
    ['webm', 'an EBML header of type matroska', ebml('matroska')],
    [undefined, 'an EBML header of another type', ebml('anything')],
    ['avif', 'an AVIF image', bytes([0, 0, 0, 24], 'ftypavif')],
    ['avif', 'an animated AVIF', bytes([0, 0, 0, 24], 'ftypavis')],
    ['avif', 'an AVIF with a general brand', bytes([0, 0, 0, 24], 'ftypmif1', [0, 0, 0, 0], 'miafavif')],
    ['heic', 'a HEIC image', bytes([0, 0, 0, 24], 'ftypheic')],
    ['heic', 'a HEIC with a general brand', bytes([0, 0, 0, 24], 'ftypmif1', [0, 0, 0, 0], 'mif1heic')],
    ['heic', 'a HEIF of unknown compression', bytes([0, 0, 0, 16], 'ftypmif1', [0, 0, 0, 0], 'avif')],
    ['heic', 'a HEIF whose brands are truncated', bytes([0, 0, 0, 24], 'ftypmif1', [0, 0])],
    [
      'mp4',
      'a video that names a still image among its brands',
      bytes([0, 0, 0, 20], 'ftypisom', [0, 0, 0, 0], 'mif1'),
    ],
    [undefined, 'a JPEG XL image', bytes([0, 0, 0, 24], 'ftypjxl ')],
    [undefined, 'a raw photo', bytes([0, 0, 0, 24], 'ftypcrx ')],
    [undefined, 'an AVI file', bytes('RIFF', [1, 2, 3, 4], 'AVI LIST')],
    [undefined, 'an HLS playlist', bytes('#EXTM3U\n')],
    [undefined, 'an FFmpeg concat list', bytes('ffconcat version 1.0\nfile a.mp4\n')],
    ['gif', 'a GIF', bytes('GIF89a')],
    ['gif', 'a GIF of the first version', bytes('GIF87a')],
    [undefined, 'a GIF of an unknown version', bytes('GIF90a')],
    [undefined, 'text that contains a QuickTime box name', bytes('Its free for all')],
    [undefined, 'an SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    [undefined, 'half a JPEG marker', bytes([0xff, 0xd8])],
    [undefined, 'an empty file', Buffer.alloc(0)],
  ])('returns %s for %s', (format, _name, head) => {
    expect(sniff(head)).toBe(format);
  });
});
