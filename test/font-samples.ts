// Fonts for tests: two of npm packages, and one that claims to be another.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { writeSfnt } from '../src/engine/media/font/sfnt.ts';
import { unpackWoff2 } from '../src/engine/media/font/woff2.ts';

const require = createRequire(import.meta.url);

export const BANGERS = readFileSync(require.resolve('@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf'));
export const INTER_BOLD = readFileSync(require.resolve('inter-ui/web/Inter-Bold.woff2'));

/** Returns a WOFF2 font as TrueType, with another name of its family. */
export function renamedTo(family: string, woff2: Buffer): Buffer {
  const tables = new Map(unpackWoff2(woff2));
  const text = Buffer.from(family, 'utf16le').swap16();
  const name = Buffer.alloc(18 + text.length);
  // One record for Windows in English: the family.
  for (const [index, value] of [0, 1, 18, 3, 1, 0x409, 1, text.length, 0].entries())
    name.writeUInt16BE(value, 2 * index);
  text.copy(name, 18);
  return Buffer.from(writeSfnt(tables.set('name', name)));
}

/** The form of an upload. */
export function fontForm(
  file: Buffer,
  fields: Readonly<Record<string, string>> = { license_confirmed: 'true' },
): FormData {
  const form = new FormData();
  form.set('asset', new Blob([new Uint8Array(file)]), 'font');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}
