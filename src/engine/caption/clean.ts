// Prepares the text of a caption for drawing. Cleaning never changes a visible character: it normalizes, and drops
// characters that draw nothing (controls) or change the reading order (bidi overrides).

import { MAX_CUE_LENGTH, MAX_TEXT_BYTES } from './overlay.ts';

const LINE_ENDS = /\r\n?|[\u2028\u2029]/gu;
const TABS = /\t/gu;
// C0 and C1 except LF, bidi embeddings and overrides, the byte-order mark, interlinear anchors, and noncharacters.
const DROPPED = /[\0-\t\v-\u001f\u007f-\u009f\u202a-\u202e\ufeff\ufff9-\ufffb\p{Noncharacter_Code_Point}]/gu;
/** NFC never shrinks a text below a third of its size in UTF-8. */
const MAX_NFC_SHRINKAGE = 3;
const ISOLATE_OPEN = /[\u2066-\u2068]/u;
const ISOLATE_CLOSE = '\u2069';

/** Unicode's limit for text in streams. The time of normalizing grows with the square of the number of marks in a row. */
const TOO_MANY_MARKS = /\p{M}{31}/u;

export function cleanText(raw: string): string {
  // The length check rejects a text of several times the limit.
  if (raw.length > MAX_CUE_LENGTH) return raw.trim();
  const text = raw.toWellFormed().replace(LINE_ENDS, '\n').replace(TABS, ' ').replace(DROPPED, '').trim();
  if (Buffer.byteLength(text) > MAX_NFC_SHRINKAGE * MAX_TEXT_BYTES || TOO_MANY_MARKS.test(text)) return text;
  return dropUnbalancedIsolates(text)
    .normalize('NFC')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

/** Returns true when the text has only spaces and invisible format characters, so nothing would be drawn. */
export function isBlank(cleaned: string): boolean {
  return !/[^\s\p{Default_Ignorable_Code_Point}\u2800]/u.test(cleaned.slice(0, MAX_CUE_LENGTH));
}

/**
 * Paired isolates are useful ("the name is \u2068...\u2069") and harmless. A stray one would reorder the text after it.
 */
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
