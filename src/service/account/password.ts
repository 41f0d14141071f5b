// Password rules: long, and not among the first that an attacker tries. Only length counts, not kinds of characters.

export const MIN_PASSWORD = 12;
const MAX_BYTES = 512;

/** Normalizes the text, because different keyboards encode the same letter in different ways. */
export function normalizePassword(text: string): string {
  return text.normalize('NFKC');
}

/**
 * Returns the message for the user, or undefined when the password is fine. Without a valid address, the other rules
 * apply.
 */
export function passwordFault(password: string, email: string | undefined): string | undefined {
  if (Array.from(password).length < MIN_PASSWORD)
    return `Use at least ${MIN_PASSWORD} characters; a few words are fine.`;
  if (Buffer.byteLength(password) > MAX_BYTES) return `This password is too long. Use at most ${MAX_BYTES} characters.`;
  const lower = password.toLowerCase();
  if (new Set(lower).size < 5) return 'Use more different characters.';
  if (email !== undefined && isCloseTo(lower, email)) return 'This password is too similar to your email address.';
  if (isRun(lower)) return 'This password is too easy to guess.';
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

/** The rows, forward and backward. */
const RUNS = ROWS.flatMap((row) => [row, Array.from(row).toReversed().join('')]);

/**
 * Returns true when the password consists only of runs of the keyboard, the alphabet or digits, and the word
 * "password".
 */
function isRun(password: string): boolean {
  let rest = password;
  while (rest !== '') {
    const run = Math.max(...RUNS.map((row) => commonStart(row, rest)));
    if (run < 3) return rest.length < 3;
    rest = rest.slice(run);
  }
  return true;
}

/** Counts the characters at the start of `text` that follow each other in the row. */
function commonStart(row: string, text: string): number {
  const from = row.indexOf(text.charAt(0));
  if (from < 0) return 0;
  let length = 0;
  while (length < text.length && row[from + length] === text[length]) length += 1;
  return length;
}
