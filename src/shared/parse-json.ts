// JSON of callers. A megabyte of tiny values, different keys or nested lists takes `JSON.parse` a hundred times as long as other
// text of this length, so they are counted first.

/** No valid request is nested deeper than ten levels, and deep nesting would overflow the stack where values are hashed. */
const MAX_LEVELS = 32;
/** Enough for the longest transcript, whose words have their confidence, speaker and tokens, and are listed twice. */
const MAX_VALUES = 75_000;
/** Services have fewer than a hundred, which most of their objects share. */
const MAX_KEYS = 500;

const NUMBER = new Intl.NumberFormat('en');

/** The message completes a sentence that starts with "it has". */
export class ExcessiveJson extends SyntaxError {}

/** Throws a `SyntaxError` for text that isn't JSON, and `ExcessiveJson` for what would take too long. */
export function parseJson(text: string): unknown {
  assertModest(text);
  return JSON.parse(text);
}

/** Reads each character once, and stops at the limits. */
function assertModest(text: string): void {
  const keys = new Set<string>();
  let [values, levels, stringStart, stringEnd] = [1, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        stringStart = at;
        stringEnd = endOfString(text, at);
        at = stringEnd;
        break;
      case COLON:
        keys.add(text.slice(stringStart, stringEnd));
        if (keys.size > MAX_KEYS) throw excessive(MAX_KEYS, 'different keys');
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1;
        levels += 1;
        if (levels > MAX_LEVELS) throw excessive(MAX_LEVELS, 'levels');
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        levels -= 1;
        break;
      default:
    }
    if (values > MAX_VALUES) throw excessive(MAX_VALUES, 'values');
  }
}

const [QUOTE, COLON, COMMA, BACKSLASH] = [0x22, 0x3a, 0x2c, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let from = quote;
  while (text.charCodeAt(from - 1) === BACKSLASH) from -= 1;
  return (quote - from) % 2 === 1;
}

function excessive(limit: number, what: string): ExcessiveJson {
  return new ExcessiveJson(`more than ${NUMBER.format(limit)} ${what}`);
}
