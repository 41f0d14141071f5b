// The outlines of PostScript fonts: the input is the table `CFF ` of a font whose other tables are valid.

import { readSfnt, writeSfnt } from '../../../src/engine/media/font/sfnt.ts';
import { must } from '../../../src/shared/must.ts';
import { corpusOf } from '../corpus.ts';
import { fuzz as fuzzFont } from './fonts.ts';

const { bytes } = must(
  corpusOf('fonts').find(({ name }) => name === 'postscript.otf'),
  'the PostScript font',
);
const TABLES = readSfnt(bytes);

export function fuzz(input: Buffer): void {
  fuzzFont(Buffer.from(writeSfnt(new Map(TABLES).set('CFF ', input))));
}
