// Reads the few XML responses of S3 that are needed. Their elements have no attributes and are never nested in
// themselves.

import type { Readable } from 'node:stream';

/** A list has at most 1,000 entries, of less than a kilobyte each. */
const MAX_BYTES = 4_000_000;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

export async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('the response of the storage service is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the contents of every element with this name, as XML. */
export function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const [start, end] = [`<${name}>`, `</${name}>`];
  for (let from = xml.indexOf(start); from !== -1; ) {
    const to = xml.indexOf(end, from);
    if (to === -1) break;
    found.push(xml.slice(from + start.length, to));
    from = xml.indexOf(start, to);
  }
  return found;
}

/** Returns the text of the first element with this name. */
export function elementText(xml: string, name: string): string | undefined {
  return elements(xml, name)[0]?.replaceAll(/&(?<entity>#x?[\da-f]+|\w+);/giu, (all, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? all;
    const code = /^#x/iu.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number.parseInt(entity.slice(1), 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
