// The questions are those of readers who don't know our words, over the real documentation.

import { beforeAll, describe, expect, it } from 'vitest';
import { loadPlainPages } from '../docs/plain-pages.ts';
import { STATUS_SUMMARY } from '../incidents/status-page.ts';
import { searchIndex } from '../docs/search-index.ts';
import { loadGuides } from '../guides.ts';
import { type SearchAnswer, searchOver, stemOf } from './search-ranking.ts';

let search: (query: string) => SearchAnswer;
beforeAll(async () => {
  const plainPages = await loadPlainPages('docs', 'CHANGELOG.md', '');
  search = searchOver(searchIndex(await loadGuides('docs'), plainPages, [STATUS_SUMMARY]));
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
  ['what does a two minute video cost', /limits#credits/u],
  ['how expensive is a minute of video', /limits#credits/u],
  ['hex colour', /docs#styles/u],
  ['cross origin request blocked', /docs#from-a-web-page/u],
  ['how big can my video be', /limits#formats/u],
  ['poster frame', /docs#covers/u],
  ['karaoke animation', /word-captions#highlights/u],
  ['automatic subtitles', /speech-captions/u],
  ['show text from second 2 to 5', /timed-captions#captions-with-times/u],
  ['is there a php sdk', /integrations#clients/u],
  ['chatgpt', /integrations#clients/u],
  ['rapidapi', /marketplace/u],
  ['make.com', /docs\/make/u],
  ['bulk processing of a csv', /asynchronous#batches/u],
  ['rotate a leaked key', /docs#authentication/u],
  ['passkey', /dashboard#security/u],
  ['invite my team', /dashboard#members-and-roles/u],
  ['smtp settings', /dashboard#send-email/u],
  ['store the result in s3', /buckets/u],
  ['dry run', /docs#layout/u],
  ['uptime', /status/u],
  ['status page', /status/u],
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
    expect(search('postgres').corrected).toBeUndefined();
  });

  it('shows words instead of stems as corrections', () => {
    expect(search('opacty').corrected).toBe('opacity');
    expect(search('vidoe').corrected).toBe('video');
  });

  it.each(['team', 'poster', 'fade', 'claude'])('doesn’t take %s for a similar word', (word) => {
    expect(search(word).corrected).toBeUndefined();
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
