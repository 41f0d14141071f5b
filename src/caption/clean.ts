// What a caller typed -> what is drawn. Cleaning never changes a visible character: it normalises, and drops what has no
// picture (controls) or could make the text read differently from what was sent (bidi overrides).

import { MAX_TEXT_BYTES } from './overlay.ts';

const LINE_ENDS = /\r\n?|[\u2028\u2029]/gu;
const TABS = /\t/gu;
// C0 and C1 except LF; embeddings and overrides; byte-order mark; interlinear anchors; noncharacters.
const DROPPED = /[\0-\t\v-\u001f\u007f-\u009f\u202a-\u202e\ufeff\ufff9-\ufffb\p{Noncharacter_Code_Point}]/gu;
/** NFC makes no text shorter than a third of its UTF-8. */
const MAX_SHRINKAGE = 3;
const ISOLATE_OPEN = /[\u2066-\u2068]/u;
const ISOLATE_CLOSE = '\u2069';

export function cleanText(raw: string): string {
  const text = raw.toWellFormed().replace(LINE_ENDS, '\n').replace(TABS, ' ').replace(DROPPED, '').trim();
  // Refused for its length in any case; putting that many stacked marks in order would take seconds.
  if (Buffer.byteLength(text) > MAX_SHRINKAGE * MAX_TEXT_BYTES) return text;
  return dropUnbalancedIsolates(text)
    .normalize('NFC')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

/** True when nothing would be drawn: only spaces and invisible format characters. */
export function isBlank(cleaned: string): boolean {
  return !/[^\s\p{Default_Ignorable_Code_Point}\u2800]/u.test(cleaned);
}

/** Isolates are useful ("the name is \u2068...\u2069") and harmless when paired; a stray one would reorder what follows it. */
function dropUnbalancedIsolates(text: string): string {
  if (!/[\u2066-\u2069]/u.test(text)) return text;
  return text
    .split('\n')
    .map((line) => (isBalanced(line) ? line : line.replace(/[\u2066-\u2069]/gu, '')))
    .join('\n');
}

function isBalanced(line: string): boolean {
  let depth = 0;
  for (const char of line) {
    if (ISOLATE_OPEN.test(char)) depth += 1;
    if (char === ISOLATE_CLOSE) depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
