// Parsers on the server's thread take time in proportion to their input, and stop reading at their limits. The list of parsers comes
// from the source, so a new one needs a row here, or a reason why it needs none.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEmail } from '../src/service/account/email.ts';
import { parseRecoveryCode } from '../src/service/account/totp.ts';
import { parseOrigin } from '../src/service/account/web-origin.ts';
import { parseAssetUrl, parseUrlField } from '../src/engine/caption/asset-url.ts';
import { parseCues } from '../src/engine/caption/captions-field.ts';
import { parseForm } from '../src/engine/caption/form.ts';
import { parseReference } from '../src/engine/caption/saved-style.ts';
import { type Heard, spokenTranscript } from '../src/engine/caption/words/spoken.ts';
import { readCookie } from '../src/site/identity/cookie.ts';
import { parsePresence } from '../src/service/dispatch/reports.ts';
import { parseTicket } from '../src/service/dispatch/remote/shared/wire.ts';
import { parseControlMessage } from '../src/service/dispatch/remote/shared/control-messages.ts';
import type { FieldFault } from '../src/shared/errors.ts';
import { readIdempotencyKey } from '../src/service/http/access/idempotency-key.ts';
import { parseRange } from '../src/service/http/renders/range.ts';
import { parseJson } from '../src/shared/parse-json.ts';
import { atOnce } from '../src/shared/slices.ts';
import { elementText } from '../src/service/storage/s3/s3-xml.ts';
import { parseTraceparent } from '../src/service/telemetry/traceparent.ts';

interface Parser {
  readonly read: (input: string) => unknown;
  /** Inputs of about this many characters. */
  readonly worst: Readonly<Record<string, (size: number) => string>>;
  /** By default, a little below the limits of captions. */
  readonly size?: number;
}

const FACTOR = 8;
/** The longest headers that Node.js accepts, together. */
const HEADERS = 16_000;

const fill =
  (unit: string, before = '', after = '') =>
  (size: number) =>
    before + unit.repeat(Math.floor(size / unit.length)) + after;
const inCue = (unit: string, after = '') => fill(unit, '1\n00:00:00,000 --> 00:10:00,000\na', after);
const inVtt = (unit: string) => fill(unit, 'WEBVTT\n\n00:00.000 --> 10:00.000\na');
const withText = (unit: string, words: readonly string[]) => (size: number) =>
  JSON.stringify({ text: fill(unit)(size), words: words.map((word, index) => ({ word, start: index, end: index })) });
const wordList = (word: string) => (size: number) =>
  JSON.stringify({ words: Array.from({ length: size / 70 }, (_, at) => ({ word, start: at, end: at })) });

const TEXTS = {
  letters: inCue('word '),
  sentences: inCue('a. '),
  'sentences without letters': inCue('1. '),
  periods: inCue('. '),
  dots: inCue('.'),
  spaces: inCue(' ', 'b'),
  'combining marks': inCue('\u0315\u0300'),
  'one long sentence before short ones': (size: number) => inCue('word ', '1. '.repeat(size / 6))(size / 2),
  Han: inCue('\u6f22\u5b57'),
  Thai: inCue('\u0e20\u0e32\u0e29\u0e32'),
  'emoji that join': inCue('\u{1f468}\u200d'),
  'regional indicators': inCue('\u{1f1ef}'),
  conjuncts: inCue('\u0915\u094d'),
  'Hangul letters': inCue('\u1112'),
  isolates: inCue('\u2068'),
  quotes: inCue('"'),
  'tags that never end': inCue('<a'),
  'braces that never end': inCue('{\\'),
  'entities that never end': inVtt('&#38'),
  'inline times': inVtt('<00:00.000>'),
  'inline times with words': inVtt('<00:00.000>a '),
} as const;

const PARSERS: Readonly<Record<string, Parser>> = {
  parseCues: {
    read: (source) => readCaptions(source, { maxLines: 2, maxWords: 3 }),
    size: 180_000,
    worst: {
      ...TEXTS,
      'lines without text': fill('\n', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'),
      comments: fill('NOTE\n\n', 'WEBVTT\n\n'),
      'a line of spaces': fill(' ', '1:00.0'),
      'a line of digits': fill('1'),
      arrows: fill('-->\n'),
      words: wordList('word'),
      'words that are punctuation': wordList('.'),
      'long words': (size) => wordList('\u6f22'.repeat(60))(size / 2),
      'a text that its words are far apart in': withText(' .', ['a', 'b']),
      'a text of spaces': withText(' ', ['a']),
    },
  },
  parseForm: {
    read: (text) => parseForm({ fields: [{ name: 'text', value: text }], isJson: true, hasAsset: true, faults: [] }),
    worst: {
      spaces: fill(' ', 'a', 'b'),
      'combining marks': fill('\u0315\u0300', 'a'),
      'what draws nothing': fill('\u200b'),
      lines: fill('a\n'),
      isolates: fill('\u2068'),
    },
  },
  parseJson: {
    read: parseJson,
    worst: {
      'strings in a list': fill('"abcdefghij",', '[', '1]'),
      backslashes: fill('\\\\', '"', '"'),
      'escaped quotes': fill('\\"', '"'),
      'lists that never end': fill('['),
      'different keys': (size) => JSON.stringify(Object.fromEntries(Array.from(Array(size / 10).keys()).entries())),
    },
  },
  spokenTranscript: {
    read: (text) => {
      const words = Array.from({ length: text.length / 20 }, (_, at) => ({
        text: 'word',
        start: at / 100,
        end: at / 100,
      }));
      const heard: Heard = { text, words, segments: words.map((word, at) => ({ ...word, text: `w${at}`, words: [] })) };
      return spokenTranscript(heard, { seconds: 60, audible: '1'.repeat(600) });
    },
    size: 56_000,
    worst: {
      'opening brackets': fill('['),
      'opening parentheses': fill('('),
      asterisks: fill('*a'),
      words: fill('word and some more text '),
      spaces: fill(' ', 'a', 'b'),
    },
  },
  parseEmail: { read: parseEmail, worst: { dots: fill('a.', 'a@'), letters: fill('a') } },
  parseRecoveryCode: { read: parseRecoveryCode, worst: { hyphens: fill('-'), letters: fill('a') } },
  parseOrigin: { read: parseOrigin, worst: { slashes: fill('/', 'https://a'), labels: fill('a.', 'https://') } },
  parseAssetUrl: { read: (text) => parseAssetUrl(text), worst: { dots: fill('../', 'https://a/') } },
  parseUrlField: { read: (text) => parseUrlField('put_url', text), worst: { dots: fill('../', 'https://a/') } },
  parseReference: { read: parseReference, worst: { hyphens: fill('-', 'a'), versions: fill('1', 'a@') } },
  readCookie: {
    read: (cookie) => readCookie({ headers: { cookie } } as never, 'https://a', 'storybar'),
    size: HEADERS,
    worst: { semicolons: fill(';'), spaces: fill(' ', 'a') },
  },
  readIdempotencyKey: {
    read: (key) => readIdempotencyKey({ 'idempotency-key': key }),
    size: HEADERS,
    worst: { quotes: fill('"'), spaces: fill(' ', '"', 'a') },
  },
  parseRange: {
    read: (header) => parseRange(header, 100),
    size: HEADERS,
    worst: { spaces: fill(' ', 'bytes=', 'x'), 'spaces after the hyphen': fill(' ', 'bytes=-', 'x') },
  },
  parseTraceparent: { read: parseTraceparent, size: HEADERS, worst: { hyphens: fill('-', '00-'), digits: fill('0') } },
  parsePresence: { read: (text) => parsePresence(Buffer.from(text)), worst: { values: fill('1,', '[', '1]') } },
  parseTicket: { read: (text) => parseTicket(Buffer.from(text)), worst: { values: fill('1,', '[', '1]') } },
  parseControlMessage: { read: parseControlMessage, worst: { values: fill('1,', '[', '1]') } },
  elementText: {
    read: (xml) => elementText(xml, 'Key'),
    worst: { entities: fill('&a', '<Key>', '</Key>'), elements: fill('<Key>') },
  },
};

/** Parsers without a row, with the reason. */
const WITHOUT_ROW: Readonly<Record<string, string>> = {
  parseFields: 'is a part of parseForm',
  parseSubtitles: 'is a part of parseCues',
  readTranscript: 'is a part of parseCues',
  readWords: 'is a part of parseCues',
  readTimes: 'is a part of parseCues',
  readTokens: 'is a part of parseCues',
  readFields: 'is a part of parseForm, or reads a form of limited size with URLSearchParams',
  parsePlans: 'reads a file of the operator when the server starts',
  readSubscriptions: 'reads objects of the SDK',
  readKeyForm: 'takes fields by their names',
  readTypedStyle: 'takes fields by their names',
  parseWorkerMessage: 'checks a value of limited size with its schema',
  parseResult: 'checks a value of limited size with its schema',
  parseProbe: 'checks a value of limited size with its schema',
  parseFacts: 'checks a value of limited size with its schema',
  parseStepFailure: 'checks a value of limited size with its schema',
  parseProgress: 'checks a value of limited size with its schema',
  readText: 'joins the chunks of a response of limited size',
};

/** Folders whose code gets text of callers, workers and services on the server's thread. */
const FOLDERS = [
  'service/account',
  'service/billing',
  'engine/caption',
  'site',
  'service/dispatch',
  'service/http',
  'shared',
  'service/storage',
  'service/telemetry',
];

function readCaptions(source: string, paging: Parameters<typeof parseCues>[1]['paging']): FieldFault[] {
  const faults: FieldFault[] = [];
  atOnce(parseCues(source, { position: undefined, paging, hasLanguage: false }, faults));
  return faults;
}

function attempt({ read }: Parser, input: string): void {
  try {
    read(input);
  } catch {
    // Most of the worst inputs are invalid. How they are refused is tested with each parser.
  }
}

/** CPU time in microseconds. */
function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function exportedParsers(): string[] {
  return FOLDERS.flatMap((folder) => {
    const root = path.join(import.meta.dirname, '../src', folder);
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('browser'))
      .flatMap((file) => [
        ...readFileSync(path.join(root, file), 'utf8').matchAll(
          /^export (?:async )?function\*? ((?:parse|read)[A-Z]\w*)/gmu,
        ),
      ])
      .map(([, name = '']) => name);
  });
}

it('every parser has a row, or a reason for having none', () => {
  const known = new Set([...Object.keys(PARSERS), ...Object.keys(WITHOUT_ROW)]);
  expect(exportedParsers().filter((name) => !known.has(name))).toEqual([]);
  expect(Object.keys(WITHOUT_ROW).filter((name) => !exportedParsers().includes(name))).toEqual([]);
});

describe.each(Object.entries(PARSERS))('%s', (_name, parser) => {
  it.each(Object.entries(parser.worst))(
    'takes time in proportion to %s',
    (_what, make) => {
      const { size = 400_000 } = parser;
      const [small, large] = [make(size / FACTOR), make(size)];
      let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      // Where twice the input takes 2.5 times as long, 8 times the input takes twice as long as 8 small ones. Other programs on
      // the machine only ever make a run slower, so the fastest ones count.
      const isLinear = (): boolean => {
        least = Math.min(
          least,
          cpuTime(() => {
            for (let run = 0; run < FACTOR; run += 1) attempt(parser, small);
          }),
        );
        most = Math.min(
          most,
          cpuTime(() => attempt(parser, large)),
        );
        return most <= 2 * least + 2_000;
      };
      expect(
        Array.from({ length: 8 }).some(isLinear),
        `${most} µs for ${large.length} characters, ${least} µs before`,
      ).toBe(true);
    },
    60_000,
  );
});

describe('captions of a megabyte', () => {
  const whole = (make: (size: number) => string) => make(1_048_000);
  const read = (source: string): string[] => readCaptions(source, undefined).map(({ detail }) => detail);

  it.each([
    ['comments', fill('NOTE\n\n', 'WEBVTT\n\n'), /^Line 20001: captions can have at most 20000 lines/u],
    ['blank lines', fill('\n', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'), /at most 20000 lines/u],
    ['inline times', TEXTS['inline times'], /^Line 3: it has more than 200000 characters/u],
    ['one word', inCue('a'), /^Line 2: it has more than 200000 characters/u],
    ['tiny values', fill('1,', '[', '1]'), /^Captions are JSON with more than 75,000 values/u],
    ['lists', fill('['), /^Captions are JSON with more than 32 levels/u],
    ['words', wordList('word'), /^Captions can have at most 3,000 words; got more/u],
  ])('are refused with one fault for too many %s', (_what, make, detail) => {
    expect(read(whole(make))).toEqual([expect.stringMatching(detail)]);
  });

  it('list 20 faults, and say that there are more', () => {
    const details = read(whole(fill('a\n\n', 'WEBVTT\n\n')));
    expect(details).toHaveLength(21);
    expect(details.at(-1)).toBe('Captions have more errors than the first 20, which are listed. Reading ended there.');
  });
});
