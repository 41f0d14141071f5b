import { describe, expect, it } from 'vitest';
import { sniff } from './sniff.ts';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
const ebml = (docType: string): Buffer =>
  bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x80 | docType.length], docType);

describe('a file is what its bytes say', () => {
  it.each([
    ['jpeg', bytes([0xff, 0xd8, 0xff, 0xe0])],
    ['png', bytes([0x89], 'PNG\r\n', [0x1a], '\n')],
    ['webp', bytes('RIFF', [1, 2, 3, 4], 'WEBPVP8 ')],
    ['mp4', bytes([0, 0, 0, 24], 'ftypisom')],
    ['mov', bytes([0, 0, 0, 20], 'ftypqt  ')],
    ['mov', bytes([0, 0, 0, 8], 'wide')],
    ['webm', ebml('webm')],
    // The same with its length written in two bytes, as some writers do.
    ['webm', bytes([0x1a, 0x45, 0xdf, 0xa3, 0x40, 0x20, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x40, 0x04], 'webm')],
    [undefined, ebml('matroska')],
    [undefined, bytes([0, 0, 0, 24], 'ftypavif')],
    [undefined, bytes([0, 0, 0, 24], 'ftypheic')],
    [undefined, bytes('RIFF', [1, 2, 3, 4], 'AVI LIST')],
    [undefined, bytes('#EXTM3U\n')],
    [undefined, bytes('ffconcat version 1.0\nfile a.mp4\n')],
    [undefined, bytes('GIF89a')],
    [undefined, bytes('Its free for all')],
    [undefined, bytes('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    [undefined, bytes([0xff, 0xd8])],
    [undefined, Buffer.alloc(0)],
  ])('%s', (format, head) => {
    expect(sniff(head)).toBe(format);
  });
});
