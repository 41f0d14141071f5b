// Rules for passwords: long, and not what a guesser tries first. Length counts; kinds of characters do not.

export const MIN_PASSWORD = 12;
const MAX_BYTES = 512;

/** Different keyboards write the same letter in different ways. */
export function normalisePassword(text: string): string {
  return text.normalize('NFKC');
}

/** What is wrong with it, for its owner; undefined when it will do. Without a valid address, the rest is checked. */
export function passwordFault(password: string, email: string | undefined): string | undefined {
  if (Array.from(password).length < MIN_PASSWORD)
    return `Use at least ${MIN_PASSWORD} characters; a few words are fine.`;
  if (Buffer.byteLength(password) > MAX_BYTES) return 'This password is too long.';
  const lower = password.toLowerCase();
  if (new Set(lower).size < 5) return 'This password repeats too few characters.';
  if (email !== undefined && isCloseTo(lower, email)) return 'This password is too close to your e-mail address.';
  if (isRun(lower)) return 'This password is one of the first a guesser tries.';
  return undefined;
}

function isCloseTo(password: string, email: string): boolean {
  const [name = ''] = email.split('@');
  return password.includes(email) || (name.length >= 4 && password.replaceAll(name, '').length < MIN_PASSWORD / 2);
}

const ROWS = [
  '0123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'password',
];

/** In both directions. */
const RUNS = ROWS.flatMap((row) => [row, Array.from(row).toReversed().join('')]);

/** Nothing but rows of the keyboard, of the alphabet and of digits, and the word everybody thinks of. */
function isRun(password: string): boolean {
  let rest = password;
  while (rest !== '') {
    const run = Math.max(...RUNS.map((row) => commonStart(row, rest)));
    if (run < 3) return rest.length < 3;
    rest = rest.slice(run);
  }
  return true;
}

/** How much of `text` is a stretch of the row. */
function commonStart(row: string, text: string): number {
  const from = row.indexOf(text.charAt(0));
  if (from < 0) return 0;
  let length = 0;
  while (length < text.length && row[from + length] === text[length]) length += 1;
  return length;
}
