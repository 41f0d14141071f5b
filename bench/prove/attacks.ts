// Crafted files: playlists that reference other files, polyglots, decompression bombs and headers with false values.
// Some must be refused. For the rest, any documented response is fine.

import { crc32, deflateRawSync, deflateSync } from 'node:zlib';
import type { Canaries } from './canaries.ts';

export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  /** True if the file references data of others, so it must not be rendered. */
  readonly mustFail?: true;
}

export function makeAttacks({ files, port }: Canaries, clip: Buffer, photo: Buffer): Attack[] {
  const url = `http://127.0.0.1:${port()}/canary`;
  return [
    ...files.flatMap((file) => fileReferences(file, url)),
    ...externalTrackClips(clip, [...files.map((file) => `file://${file}`), ...files, url]),
    ...decompressionBombs(),
    ...falseHeaders(clip, photo),
    { name: 'photo followed by a clip', bytes: Buffer.concat([photo, clip]) },
    { name: 'clip followed by a photo', bytes: Buffer.concat([clip, photo]) },
    {
      name: 'photo with HTML and PHP in a comment',
      bytes: withComment(photo, '<script src=//x></script><?php system("id")?>'),
    },
    { name: 'photo that is also a ZIP archive', bytes: Buffer.concat([photo, zipOf('../../escape', 'x')]) },
  ];
}

function fileReferences(file: string, url: string): Attack[] {
  const texts: Record<string, string> = {
    'HLS playlist': `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n${file}\n#EXT-X-ENDLIST\n`,
    'HLS playlist with a URL': `#EXTM3U\n#EXTINF:5,\n${url}\n#EXT-X-ENDLIST\n`,
    'HLS key': `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${url}"\n#EXTINF:5,\n${file}\n`,
    'concat list': `ffconcat version 1.0\nfile '${file}'\n`,
    'concat protocol': `#EXTM3U\n#EXTINF:5,\nconcat:${file}|${url}\n`,
    'DASH manifest': `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>${url}</BaseURL></MPD>`,
    'SVG with an image': `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="file://${file}"/></svg>`,
    'SVG with an external entity': `<!DOCTYPE svg [<!ENTITY x SYSTEM "file://${file}">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>`,
    'ImageMagick script': `push graphic-context\nimage over 0,0 0,0 'ephemeral:${file}'\nfill 'url(${url})'\npop graphic-context\n`,
    'SDP session description': `v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video ${new URL(url).port} RTP/AVP 96\n`,
    'plain text': `${file}\n`,
    PostScript: `%!PS\n(${file}) (r) file 100 string readstring\n`,
  };
  const headers: Record<string, Buffer> = {
    '': Buffer.alloc(0),
    ' after an MP4 header': Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1'),
    ' after a WebM header': Buffer.from('1a45dfa39342868101', 'hex'),
    ' after a JPEG header': Buffer.from('ffd8ffe0', 'hex'),
    ' after a PNG header': Buffer.from('89504e470d0a1a0a', 'hex'),
    ' after a WebP header': Buffer.from('RIFF\xff\0\0\0WEBPVP8 ', 'latin1'),
  };
  return Object.entries(texts).flatMap(([name, text]) =>
    Object.entries(headers).map(([suffix, header]): Attack => {
      return { name: name + suffix, bytes: Buffer.concat([header, Buffer.from(text)]), mustFail: true };
    }),
  );
}

/** Creates clips whose data reference box says that the frames are in another file. */
function externalTrackClips(clip: Buffer, locations: readonly string[]): Attack[] {
  return locations.map((location) => {
    const reference = Buffer.from(`${location}\0`);
    const at = clip.indexOf('url \0\0\0\x01', 0, 'latin1');
    const bytes = Buffer.concat([clip.subarray(0, at + 7), Buffer.from([0]), reference, clip.subarray(at + 8)]);
    for (const box of ['url ', 'dref', 'dinf', 'minf', 'mdia', 'trak', 'moov']) {
      const start = bytes.lastIndexOf(box, at, 'latin1') - 4;
      if (start >= 0) bytes.writeUInt32BE(bytes.readUInt32BE(start) + reference.length, start);
    }
    return { name: `clip that references ${location.slice(0, 20)}`, bytes };
  });
}

function decompressionBombs(): Attack[] {
  const zeros = deflateSync(Buffer.alloc(64 << 20), { level: 9 });
  return [
    { name: 'PNG of 400 megapixels', bytes: png(20_000, 20_000, zeros) },
    { name: 'PNG with more data than pixels', bytes: png(64, 64, zeros) },
    {
      name: 'PNG with 64 MB of compressed text',
      bytes: png(8, 8, pixels(8), chunk('zTXt', Buffer.concat([Buffer.from('k\0\0'), zeros]))),
    },
    {
      name: 'PNG with a color profile of 64 MB',
      bytes: png(8, 8, pixels(8), chunk('iCCP', Buffer.concat([Buffer.from('p\0\0'), zeros]))),
    },
    {
      name: 'PNG with 20,000 chunks',
      bytes: png(
        8,
        8,
        pixels(8),
        Buffer.concat(Array.from({ length: 20_000 }, () => chunk('tEXt', Buffer.from('k\0v')))),
      ),
    },
    {
      name: 'APNG with a million frames',
      bytes: png(8, 8, pixels(8), chunk('acTL', Buffer.from('000f424000000000', 'hex'))),
    },
  ];
}

function falseHeaders(clip: Buffer, photo: Buffer): Attack[] {
  const patched = (bytes: Buffer, change: (copy: Buffer) => void): Buffer => {
    const copy = Buffer.from(bytes);
    change(copy);
    return copy;
  };
  const frame = photo.findIndex((byte, at) => byte === 0xff && [0xc0, 0xc2].includes(photo[at + 1] ?? 0));
  const boxes = ['stsz', 'stco', 'stts', 'stsc', 'ctts', 'mvhd', 'tkhd', 'mdhd', 'avcC', 'stsd', 'elst', 'hdlr'];
  const falseBoxes = boxes.flatMap((box) => {
    const at = clip.indexOf(box, 0, 'latin1');
    if (at < 0) return [];
    return [4, 8, 12, 16].map((offset) => {
      return {
        name: `MP4 box ${box} with a huge value at ${offset}`,
        bytes: patched(clip, (copy) => copy.fill(0xff, at + offset, at + offset + 4)),
      };
    });
  });
  const deep = Buffer.concat(Array.from({ length: 5_000 }, (_, depth) => boxHeader('moov', (5_000 - depth) * 8)));
  return [
    ...falseBoxes,
    {
      name: 'JPEG that claims 65535 x 65535 pixels',
      bytes: patched(photo, (copy) => copy.fill(0xff, frame + 5, frame + 9)),
    },
    { name: 'JPEG that claims 0 x 0 pixels', bytes: patched(photo, (copy) => copy.fill(0, frame + 5, frame + 9)) },
    { name: 'PNG that claims 2^31 x 2^31 pixels', bytes: png(0x7fff_ffff, 0x7fff_ffff, pixels(8)) },
    { name: 'PNG that claims more pixels than it has', bytes: png(4_000, 4_000, pixels(8)) },
    {
      name: 'WebP that claims 16383 x 16383 pixels',
      bytes: Buffer.from(`524946461e000000574542505650384c110000002f${'ff'.repeat(17)}`, 'hex'),
    },
    {
      name: 'MP4 boxes nested 5,000 deep',
      bytes: Buffer.concat([Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1'), deep]),
    },
    {
      name: 'EBML elements of unknown size',
      bytes: Buffer.from('1a45dfa3934282847765626d18538067ffffffffffffffff1f43b675ffffffffffffffff', 'hex'),
    },
    { name: 'single byte', bytes: Buffer.from([0xff]) },
    { name: 'JPEG with nothing between its start and end markers', bytes: Buffer.from('ffd8ffd9', 'hex') },
  ];
}

function boxHeader(name: string, size: number): Buffer {
  const header = Buffer.from(`\0\0\0\0${name}`, 'latin1');
  header.writeUInt32BE(size);
  return header;
}

const pixels = (side: number): Buffer => deflateSync(Buffer.alloc((side * 3 + 1) * side));

export function png(width: number, height: number, data: Buffer, extraChunks: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const magic = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    magic,
    chunk('IHDR', header),
    extraChunks,
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const bytes = Buffer.alloc(body.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  body.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(body), body.length + 4);
  return bytes;
}

function withComment(photo: Buffer, text: string): Buffer {
  const comment = Buffer.alloc(4);
  comment.writeUInt16BE(0xfffe, 0);
  comment.writeUInt16BE(text.length + 2, 2);
  return Buffer.concat([photo.subarray(0, 2), comment, Buffer.from(text), photo.subarray(2)]);
}

/** A local file header with data is enough for a tolerant ZIP reader to find an entry. */
function zipOf(name: string, text: string): Buffer {
  const data = deflateRawSync(Buffer.from(text));
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x0403_4b50, 0);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(data.length, 18);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, Buffer.from(name), data]);
}
