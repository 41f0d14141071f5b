// Real sentences in the languages that use Han characters. test/han-sentences/README.md names their sources.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export type SentenceLanguage = 'ja' | 'ko' | 'zh-CN' | 'zh-TW';

export function sentencesIn(language: SentenceLanguage): string[] {
  const file = path.join(import.meta.dirname, 'han-sentences', `${language}.txt`);
  return readFileSync(file, 'utf8').trim().split('\n');
}
