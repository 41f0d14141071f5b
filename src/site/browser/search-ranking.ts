// Finds sections of the documentation for a question in plain words. A section doesn't need to have every word: the more of them
// it has, and the rarer they are, the higher it ranks. Words match in every form (`retries`, `retry`), by their synonyms (`cost`,
// `price`) and, as the last word is being typed, by their beginning. The server's tests and the browser use this module.

import { editDistance } from '../../shared/edit-distance.ts';

export interface SearchSection {
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
  /** Less than 1 for pages that few readers look for. */
  readonly weight: number;
}

export interface SearchAnswer {
  readonly results: readonly SearchSection[];
  /** The query with known words instead of misspelled ones; undefined if all were known. */
  readonly corrected: string | undefined;
  /** The words that the results were found by, for an excerpt. */
  readonly words: readonly string[];
}

/** Words that readers use for the same thing. The groups are about our docs, not about English. */
const SYNONYMS: readonly string[] = [
  'cost price pricing credit charge pay fee expensive cheap money billing refund',
  'second minute hour duration length',
  'color colour style theme preset rgb hex',
  'opacity opaque transparent transparency alpha background',
  'cors origin browser frontend',
  'heic iphone apple avif photo image picture',
  'docker container kubernetes selfhost host deploy install compose',
  'batch bulk many multiple several mass zip csv spreadsheet',
  'maximum max limit size large big megabyte mb cap',
  'subtitle srt vtt webvtt cue caption closed',
  'timed time start end timing timestamp when delay later',
  'timeout deadline slow hang',
  'retry idempotent idempotency repeat again resend duplicate',
  'kept keep retention retain store stored delete deleted forget expire',
  'verify signature signed secret hmac genuine authenticity',
  'bold weight font typeface',
  'position place top bottom placement coordinate where',
  'center centre align alignment middle',
  'crop fit square aspect ratio vertical portrait landscape resize',
  'cover thumbnail poster still frame',
  'speech voice spoken auto automatic automatically transcribe transcription dictate',
  'preview layout measure dry estimate',
  'tiktok reels shorts stories story instagram youtube safe unsafe area zone margin',
  'video clip movie mov mp4',
  'format jpeg jpg png webp output filetype',
  'key token auth authentication authorize bearer credential',
  'rotate renew replace revoke leaked leak stolen exposed',
  'postgres postgresql database sqlite sql',
  'cancel abort stop',
  'plan upgrade subscription tier annual yearly monthly quota allowance',
  'invoice receipt vat stripe payment card',
  'sdk client library package npm pip php ruby golang java csharp dotnet rust kotlin swift openapi',
  'mcp ai agent assistant llm chatgpt claude gpt cursor',
  'cli terminal shell command bash',
  'member team invite colleague role permission owner seat',
  'marketplace rapidapi',
  'bucket s3 presigned azure blob gcs r2 minio storage',
  'logo brand',
  'save saved reuse template',
  'highlight karaoke pop animation animate fade effect',
  'json multipart form encoding base64 body',
  'contact support help question email',
  'backup restore dump snapshot',
  'monitoring metric prometheus grafana alert dashboard',
  'proxy nginx haproxy caddy tls https certificate',
  'typescript javascript node js',
  'url link remote fetch download address',
  'test sandbox free trial demo',
  'webhook callback notification event notify',
  'async asynchronous background queue poll job long',
  'privacy gdpr personal data legal',
  'status uptime sla health available outage',
  'upload send post file asset attach',
  'zapier make n8n nocode automation integration workflow',
  'error problem fail failure wrong fault code blocked broken refused',
  'rate throttle 429 limit',
  'rtl arabic hebrew bidi direction language script',
  'smtp email mail',
  'login signin password sso oauth google github passkey',
  'scale scaling capacity worker throughput performance fast',
];

const STOP_WORDS = new Set(
  'a an and any are as at be by can do does for from get has have how i if in into is it make me much my need not of on one or our please should that the there this to two use using want was what which will with you your'.split(
    ' ',
  ),
);

const TITLE_POINTS = 5;
const PAGE_POINTS = 2.5;
/** How fast a word that occurs more often counts less, and how much the length of a section matters (BM25). */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.6;
/** How much a synonym counts for a word that the docs use themselves, and for one that they don't. */
const SYNONYM_SHARE = 0.4;
const ONLY_SYNONYM_SHARE = 0.8;
const PREFIX_SHARE = 0.6;
const MAX_RESULTS = 8;
/** From this length of its stem on, a word has few others that are similar. */
const LONG_WORD = 7;
/** Results below this share of the best are noise. */
const MIN_SHARE = 0.12;

interface Indexed {
  readonly section: SearchSection;
  readonly title: ReadonlySet<string>;
  readonly page: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** The stems that the docs and the synonyms have, each with a word that readers know it by. */
type Vocabulary = ReadonlyMap<string, string>;

/** What stands for a word of the query: stems with how much each counts. */
type Term = ReadonlyMap<string, number>;

export function searchOver(sections: readonly SearchSection[]): (query: string) => SearchAnswer {
  const indexed = sections.map(indexSection);
  const frequency = new Map<string, number>();
  for (const { counts } of indexed) {
    for (const stem of counts.keys()) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
  }
  const vocabulary = vocabularyOf(sections);
  const averageLength = indexed.reduce((sum, { length }) => sum + length, 0) / Math.max(1, indexed.length);
  const rarity = (stem: string): number => Math.log(1 + indexed.length / (1 + (frequency.get(stem) ?? 0)));
  const points = (entry: Indexed, stem: string): number => {
    const count = entry.counts.get(stem) ?? 0;
    if (count === 0) return 0;
    const long = 1 - LENGTH_SHARE + LENGTH_SHARE * (entry.length / averageLength);
    const body = (count * (SATURATION + 1)) / (count + SATURATION * long);
    return (
      rarity(stem) * (body + (entry.title.has(stem) ? TITLE_POINTS : 0) + (entry.page.has(stem) ? PAGE_POINTS : 0))
    );
  };
  return (query) => {
    const typed = wordsOf(query);
    const words = typed.filter((word) => !STOP_WORDS.has(word));
    const known = (words.length > 0 ? words : typed).map((word, index, all) => {
      const isLast = index === all.length - 1 && !/\s$/u.test(query);
      return correct(word, vocabulary, isLast);
    });
    const terms = known.map((word, index) => termOf(word, frequency, index === known.length - 1));
    const scored = indexed
      .map((entry) => ({ entry, score: scoreOf(entry, terms, points) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score);
    const best = scored[0]?.score ?? 0;
    const results = scored.filter(({ score }) => score >= best * MIN_SHARE).slice(0, MAX_RESULTS);
    const original = words.length > 0 ? words : typed;
    return {
      results: results.map(({ entry }) => entry.section),
      corrected: known.join(' ') === original.join(' ') ? undefined : known.join(' '),
      words: known,
    };
  };
}

/** A section that has two of the words is better than one that has the rarest of them three times. */
function scoreOf(entry: Indexed, terms: readonly Term[], points: (entry: Indexed, stem: string) => number): number {
  let sum = 0;
  let matched = 0;
  for (const term of terms) {
    let best = 0;
    let share = 0;
    for (const [stem, part] of term) {
      const found = points(entry, stem) * part;
      if (found > best) [best, share] = [found, part];
    }
    sum += best;
    matched += share;
  }
  return terms.length === 0 ? 0 : sum * (matched / terms.length) * entry.section.weight;
}

function indexSection(section: SearchSection): Indexed {
  const title = stemsOf(section.title);
  const page = stemsOf(section.page);
  const text = stemsOf(section.text);
  const counts = new Map<string, number>();
  for (const stem of [...page, ...title, ...text]) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return { section, title: new Set(title), page: new Set(page), counts, length: text.length };
}

/** The shortest form of a word is the one that is shown. */
function vocabularyOf(sections: readonly SearchSection[]): Vocabulary {
  const vocabulary = new Map<string, string>();
  const words = sections.flatMap(({ page, title, text }) => wordsOf(`${page} ${title} ${text}`));
  for (const word of [...words, ...SYNONYMS.flatMap((group) => group.split(' '))]) {
    const stem = stemOf(word);
    const known = vocabulary.get(stem);
    if (known === undefined || word.length < known.length) vocabulary.set(stem, word);
  }
  return vocabulary;
}

function termOf(word: string, frequency: ReadonlyMap<string, number>, isLast: boolean): Term {
  const stem = stemOf(word);
  const share = frequency.has(stem) ? SYNONYM_SHARE : ONLY_SYNONYM_SHARE;
  const term = new Map<string, number>();
  // While a word is being typed, its beginning stands for every word that starts with it.
  if (isLast && word.length > 2) {
    for (const known of frequency.keys()) if (known.startsWith(word)) term.set(known, PREFIX_SHARE);
  }
  for (const group of SYNONYM_STEMS) {
    if (group.has(stem)) for (const other of group) term.set(other, share);
  }
  return term.set(stem, 1);
}

/** The nearest known word, if a word is neither known nor the beginning or a synonym of one. */
function correct(word: string, vocabulary: Vocabulary, isLast: boolean): string {
  const stem = stemOf(word);
  if (vocabulary.has(stem) || word.length < 4 || SYNONYM_STEMS.some((group) => group.has(stem))) return word;
  if (isLast && [...vocabulary.keys()].some((known) => known.startsWith(word))) return word;
  let nearest = word;
  let distance = stem.length >= LONG_WORD ? 3 : 2;
  for (const [known, form] of vocabulary) {
    // A misspelled word nearly always begins with the right letter.
    const far = stem[0] === known[0] && mayBeMeant(stem, known) ? editDistance(stem, known, distance) : distance;
    if (far < distance) [nearest, distance] = [form, far];
  }
  return nearest;
}

/**
 * In a short word, a letter in the place of another makes another word (`team`, `term`), so only missing, additional and swapped
 * letters count as mistakes.
 */
function mayBeMeant(stem: string, known: string): boolean {
  const letters = (word: string): string => Array.from(word).toSorted().join('');
  return stem.length >= LONG_WORD || stem.length !== known.length || letters(stem) === letters(known);
}

/** A name such as `asset_url` counts as itself and as its words. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/\bself[- ]host/gu, 'selfhost')
    .replaceAll(/\bcross[- ]origin\b/gu, 'cors')
    .replaceAll(/\bright[- ]to[- ]left\b/gu, 'rtl')
    .replaceAll(/\bmake\.com\b/gu, 'make')
    .replaceAll(/\bno[- ]code/gu, 'nocode')
    .split(/[^\p{L}\p{N}_]+/u)
    .flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]))
    .filter((word) => word !== '');
}

function stemsOf(text: string): string[] {
  return wordsOf(text).map(stemOf);
}

/** Without the endings of plurals and verbs. It only has to be the same for all forms of a word. */
export function stemOf(word: string): string {
  if (word.length < 4 || /[^a-z]/u.test(word)) return word;
  const singular = word.replace(/ies$/u, 'y').replace(/(?<=[^siu])s$/u, '');
  const bare = singular.replace(/(?<=[aeiouy].*)(?:ing|ed)$/u, '');
  const stem = bare.length < 3 ? singular : bare.replace(/(?<last>[bdgmnprt])\k<last>$/u, '$<last>');
  return stem.length > 3 ? stem.replace(/e$/u, '') : stem;
}

const SYNONYM_STEMS: readonly ReadonlySet<string>[] = SYNONYMS.map((group) => new Set(group.split(' ').map(stemOf)));
