// The questions are those of readers who don't know our words, over the real documentation.

import { beforeAll, describe, expect, it } from 'vitest';
import { loadPlainPages } from '../docs/plain-pages.ts';
import { searchIndex } from '../docs/search-index.ts';
import { loadGuides } from '../guides.ts';
import { type SearchAnswer, searchOver, stemOf } from './search-ranking.ts';

let search: (query: string) => SearchAnswer;
beforeAll(async () => {
  search = searchOver(searchIndex(await loadGuides('docs'), await loadPlainPages('docs', 'CHANGELOG.md', '')));
});

const QUESTIONS: readonly (readonly [question: string, page: RegExp])[] = [
  [
    'timed text on a video from a URL in Python',
    /timed-captions#on-a-video-from-a-url|docs#timed-captions-on-a-video/u,
  ],
  ['how much does a 60 second clip cost', /limits#credits/u],
  ['price per video', /limits#credits/u],
  ['verify a webhook', /webhooks#verify-them/u],
  ['which formats are supported', /limits#formats|docs#formats/u],
  ['self-host with Postgres', /self-hosting|operating|configuration/u],
  ['text colour', /docs#styles/u],
  ['box opacity', /docs#styles/u],
  ['CORS', /docs#from-a-web-page/u],
  ['call the API from a web page', /docs#from-a-web-page/u],
  ['safe area values for TikTok', /docs#safe-areas/u],
  ['HEIC from iPhone', /docs#fields|docs#response|limits#formats/u],
  ['many files at once', /asynchronous#batches|shell/u],
  ['maximum file size', /limits#formats/u],
  ['how long is my file kept', /retention|what-is-kept/u],
  ['timeouts', /limits#timeouts/u],
  ['retry safely', /idempotent-retries/u],
  ['cancel a render', /asynchronous|docs#asynchronous-renders/u],
  ['docker', /self-hosting|operating|hardening/u],
  ['burn in srt subtitles', /timed-captions#subtitles|docs#times-and-subtitles/u],
  ['bold font', /docs#styles/u],
  ['transparent png without photo', /overlay-only|docs#formats/u],
  ['zapier', /zapier/u],
  ['what happens to personal data', /privacy/u],
  ['rate limiting 429', /rate-limits|errors/u],
  ['instagram needs jpeg link', /post-to-instagram/u],
  ['postman collection', /integrations#postman/u],
  ['python library', /integrations#clients/u],
  ['test without paying', /test-mode|limits|authentication|quickstart/u],
  ['asset_unreachable', /errors|files-from-a-url/u],
];

describe('the search', () => {
  it.each(QUESTIONS)('answers within the first three results: %s', (question, page) => {
    const paths = search(question).results.map(({ path }) => path);
    expect(paths.slice(0, 3).join(' ')).toMatch(page);
  });

  it('corrects misspelled words and says so', () => {
    const { results, corrected } = search('idempotensy webhok');
    expect(corrected).toBe('idempotency webhook');
    expect(results.length).toBeGreaterThan(0);
    expect(search('webhooks').corrected).toBeUndefined();
  });

  it('finds words while they are typed', () => {
    expect(search('idempo').results[0]?.path).toContain('idempotent-retries');
  });

  it('finds nothing for words that the docs and their synonyms don’t have', () => {
    expect(search('xyzzyplugh').results).toEqual([]);
    expect(search('   ').results).toEqual([]);
  });
});

it.each([
  ['retries', 'retry'],
  ['canceled', 'cancel'],
  ['cancelled', 'cancelled'],
  ['timed', 'timing'],
  ['captions', 'caption'],
  ['dropped', 'drops'],
])('%s and %s have the same stem', (a, b) => {
  expect(stemOf(a)).toBe(stemOf(b));
});
