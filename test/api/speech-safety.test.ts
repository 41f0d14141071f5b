// Captions from speech that are safe to offer: nothing invented is shown, unpaid transcriptions are limited whichever way a render
// ends, and a service that keeps failing is left alone.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { plansFile } from '../plans-file.ts';
import { post, problemOf, startServer, until } from '../running-server.ts';
import {
  acceptAsync,
  type Account,
  account,
  auto,
  captioned,
  clip,
  halfMuted,
  muted,
  service,
  show,
  type ShownRender,
  usedCredits,
  useSpeechServer,
} from '../speech-server.ts';
import { HELLO, INVENTED, json } from '../transcription-stand-in.ts';

useSpeechServer();

describe('ways around the limit of unpaid transcriptions', () => {
  const tooMany = { status: 429, code: 'too_many_failures' };

  /** Sends renders until the account is refused, and returns how many sounds the service got. */
  async function sent(caller: Account, send: () => Promise<unknown>): Promise<number> {
    for (let count = 0; count < 24; count += 1) await send();
    expect(await problemOf(await post(caller, auto()))).toMatchObject(tooMany);
    return service.received.length;
  }

  it('20 renders whose receiver refuses the file are transcribed, and no more', async () => {
    const caller = await account();
    const refusing = createServer((_request, response) => void response.writeHead(403).end());
    refusing.listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    const putUrl = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/file`;
    const count = await sent(caller, async () => {
      const response = await post(caller, auto({ async: 'true', put_url: putUrl }));
      if (response.status === 202) await show(caller, ((await response.json()) as { id: string }).id);
    });
    refusing.close();
    expect(count).toBe(20);
    expect(await usedCredits(caller)).toMatchObject({ used: 0, reserved: 0 });
  });

  it('20 renders whose client leaves are transcribed, and no more', async () => {
    const caller = await account();
    const count = await sent(caller, async () => {
      const leaving = new AbortController();
      service.respond = () => leaving.abort();
      await fetch(`${caller.url}/v1/overlay`, {
        method: 'POST',
        headers: { 'x-api-key': caller.key },
        body: auto(),
        signal: leaving.signal,
      }).catch(() => undefined);
    });
    expect(count).toBe(20);
  });

  it('20 canceled renders are transcribed, and no more', async () => {
    const caller = await account();
    const headers = { 'x-api-key': caller.key };
    const count = await sent(caller, async () => {
      let isSent = false;
      service.respond = () => {
        isSent = true;
      };
      const response = await post(caller, auto({ async: 'true' }));
      if (response.status !== 202) return;
      const { id } = (await response.json()) as { id: string };
      const status = async () =>
        ((await (await fetch(`${caller.url}/v1/renders/${id}`, { headers })).json()) as ShownRender).status;
      await until(async () => isSent || (await status()) === 'failed');
      await fetch(`${caller.url}/v1/renders/${id}`, { method: 'DELETE', headers });
    });
    expect(count).toBe(20);
  });

  it('renders that are charged give theirs back, whichever way they are delivered', async () => {
    const caller = await account();
    const accepting = createServer((request, response) => {
      request.resume().once('end', () => response.writeHead(200).end());
    });
    accepting.listen(0, '127.0.0.1');
    await once(accepting, 'listening');
    const putUrl = `http://127.0.0.1:${(accepting.address() as AddressInfo).port}/file`;
    const ways = [{}, { deliver: 'url' }, { put_url: putUrl }, { async: 'true' }, { async: 'true', put_url: putUrl }];
    for (let count = 0; count < 25; count += 1) {
      const response = await post(caller, auto(ways[count % ways.length]));
      expect(response.status).toBeLessThan(300);
      if (response.status !== 202) await response.arrayBuffer();
      else await show(caller, ((await response.json()) as { id: string }).id);
    }
    accepting.close();
    expect(service.received).toHaveLength(25);
    expect(await usedCredits(caller)).toEqual(expect.objectContaining({ used: 50, reserved: 0 }));
  });
});

describe('a service that keeps failing', () => {
  it('gets no requests after five failures in a row, whichever account they are from', async () => {
    const failing = await startServer({
      STORYBAR_TRANSCRIBE_URL: service.url,
      STORYBAR_PLANS: plansFile({ none: {}, speaking: {} }),
    });
    try {
      service.respond = json({}, 500);
      const callers: Account[] = [];
      for (let count = 0; count < 6; count += 1) {
        const created = JSON.parse(await failing.cli('keys', 'create', '--plan', 'speaking', '--json')) as Account;
        callers.push({ url: failing.url, key: created.key });
      }
      for (const caller of callers.slice(0, 5)) {
        expect((await problemOf(await post(caller, auto()))).detail).toMatch(/status 500/u);
      }
      service.respond = json(HELLO);
      const [last] = callers.slice(-1);
      const refused = await post(last ?? { url: '', key: '' }, auto());
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await problemOf(refused)).toMatchObject({ status: 502, code: 'transcription_failed' });
      const accepted = await post(last ?? { url: '', key: '' }, auto({ async: 'true' }));
      expect(accepted.status).toBe(202);
      const { id } = (await accepted.json()) as { id: string };
      await until(() => failing.output().stderr.includes('asynchronous render postponed'));
      const waiting = await fetch(`${failing.url}/v1/renders/${id}`, { headers: { 'x-api-key': last?.key ?? '' } });
      expect(await waiting.json()).toMatchObject({ error: null });
      expect(service.received).toHaveLength(5);
    } finally {
      await failing.stop();
    }
  });

  it.each([
    ['has too many words', json({ words: Array.from({ length: 3_001 }, () => ({ word: 'Hi', start: 0, end: 1 })) })],
    ['has too many bytes', json({ text: 'a'.repeat(5_000_000) })],
    ['has a word that is too long', json({ words: [{ word: 'a'.repeat(1_001), start: 0, end: 1 }] })],
    ['refuses the file', json({}, 413)],
  ])("keeps getting requests if a response %s, because that is about one account's videos", async (_, respond) => {
    const caller = await account();
    service.respond = respond;
    for (let count = 0; count < 6; count += 1) {
      const problem = await problemOf(await post(caller, auto()));
      expect([problem.status, problem.code]).toEqual([502, 'transcription_failed']);
    }
    expect(service.received).toHaveLength(6);
    service.respond = json(HELLO);
    expect((await post(await account(), auto())).status).toBe(200);
  });

  it.each([429, 503])('gets the sound of an asynchronous render again after status %i', async (status) => {
    const caller = await account();
    const busy = json({}, status, { 'retry-after': '1' });
    service.respond = (response, sound) => {
      service.respond = json(HELLO);
      busy(response, sound);
    };
    expect(await show(caller, await acceptAsync(caller))).toMatchObject({ status: 'succeeded', error: null });
    expect(service.received).toHaveLength(2);
    expect(await usedCredits(caller)).toMatchObject({ used: 2, reserved: 0 });
    service.respond = busy;
    const refused = await post(caller, auto());
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([502, '1']);
  });
});

describe('nothing invented', () => {
  it("a silent track isn't sent, and the render is free", async () => {
    const caller = await account();
    for (let count = 0; count < 21; count += 1) {
      const problem = await problemOf(await post(caller, auto({ asset: muted })));
      expect([problem.status, problem.code]).toEqual([422, 'no_speech']);
    }
    expect(service.received).toHaveLength(0);
    expect(await usedCredits(caller)).toMatchObject({ used: 0, reserved: 0 });
  });

  it.each([
    ["segments that aren't speech by the service's own measure", () => clip, INVENTED],
    ['words where nothing can be heard', () => halfMuted, { text: INVENTED.text, words: INVENTED.words }],
  ])('%s are left out, with their number', async (_what, asset, heard) => {
    const caller = await account();
    service.respond = json(heard);
    const { render, captions } = await captioned(caller, { asset: asset() });
    expect(render).toMatchObject({ warnings: ['speech_uncertain'], uncertain_words: 3 });
    expect(captions).toContain('Hello <00:00:00.400>there.\n');
    expect(captions).not.toContain('watching');
    const response = await post(caller, auto({ asset: asset() }));
    expect(response.headers.get('x-warnings')).toBe('speech_uncertain');
    expect(response.headers.get('x-uncertain-words')).toBe('3');
  });

  it('a segment that is repeated is left out', async () => {
    const caller = await account();
    const segments = [0, 1, 2, 3, 4].map((at) => ({ text: ' So.', start: 0.8 + at / 5, end: 1 + at / 5 }));
    service.respond = json({ segments: [{ text: ' Hello there.', start: 0, end: 0.8 }, ...segments] });
    const { render, captions } = await captioned(caller);
    expect(render).toMatchObject({ warnings: ['word_times_estimated', 'speech_uncertain'], uncertain_words: 5 });
    expect(captions).not.toContain('So.');
  });

  it.each([
    ['only text that was probably not said', { segments: INVENTED.segments.slice(1) }],
    ['only text after the end', { words: [{ word: 'Late', start: 30, end: 31 }] }],
  ])('%s gets 422 no_speech', async (_what, heard) => {
    const caller = await account();
    service.respond = json(heard);
    expect(await problemOf(await post(caller, auto()))).toMatchObject({ status: 422, code: 'no_speech' });
    expect(await usedCredits(caller)).toMatchObject({ used: 0, reserved: 0 });
  });

  it('words without times, another language and words that are cut lead to warnings', async () => {
    const caller = await account();
    service.respond = json({
      language: 'english',
      words: [{ word: 'Hello', start: 0.1, end: 0.4 }, { word: 'there' }, { word: 'a'.repeat(61), start: 1, end: 1.5 }],
    });
    const { render } = await captioned(caller, { lang: 'de-AT' });
    expect(render.warnings).toEqual(['word_times_estimated', 'language_differs', 'words_cut']);
    service.respond = json(HELLO);
    expect((await captioned(caller, { lang: 'en-US' })).render.warnings).toEqual([]);
  });
});

describe('what the service heard', () => {
  it.each([
    [
      'words out of order',
      {
        text: '',
        words: [
          { word: 'world', start: 1, end: 1.5 },
          { word: 'Hello', start: 0.2, end: 0.8 },
        ],
      },
      /00:00:00\.200 --> [^\n]*\nHello <00:00:01\.000>world/u,
    ],
    [
      'overlapping words and times outside the video',
      {
        text: 'One two three',
        words: [
          { word: 'One', start: -1, end: 1.5 },
          { word: 'two', start: 0.5, end: 0.4 },
          { word: 'three', start: 1, end: 99 },
        ],
      },
      /One <00:00:00\.500>two <00:00:01\.000>three/u,
    ],
    [
      'segments with words, as whisper.cpp has them',
      {
        language: 'en',
        text: ' Hello there.',
        segments: [
          {
            text: ' Hello there.',
            start: 0,
            end: 1.5,
            words: [
              { word: ' Hello', start: 0.1, end: 0.5, probability: 0.9 },
              { word: ' there', start: 0.6, end: 0.9, probability: 0.9 },
              { word: '.', start: 0.9, end: 1, probability: 0.9 },
            ],
          },
        ],
      },
      /Hello <00:00:00\.600>there\./u,
    ],
    [
      'segments without words',
      { text: ' Hello there.', segments: [{ text: ' Hello there.', start: 0.5, end: 1.5 }] },
      /00:00:00\.500 --> [^\n]*\nHello <[\d:.]+>there\./u,
    ],
    ['a word that is too long', { text: '', words: [{ word: 'a'.repeat(500), start: 0.1, end: 0.5 }] }, /\na{60}\n/u],
  ])('%s become captions', async (_what, heard, expected) => {
    const caller = await account();
    service.respond = json(heard);
    const response = await post(caller, auto({ deliver: 'url' }));
    const render = (await response.json()) as ShownRender;
    expect(render.status).toBe('succeeded');
    expect(await (await fetch(render.captions_url ?? '')).text()).toMatch(expected);
  });
});
