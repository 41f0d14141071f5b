// Captions from speech: what the transcription service gets, what its responses become, and what is charged, with a
// stand-in that speaks the protocol of OpenAI.

import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdVideos } from '../held-workers.ts';
import { form, health, post, problemOf, until } from '../running-server.ts';
import {
  acceptAsync,
  account,
  auto,
  clip,
  folder,
  server,
  service,
  show,
  type ShownRender,
  silent,
  succeed,
  usedCredits,
  useSpeechServer,
} from '../speech-server.ts';
import { HELLO, json, onlyInformational, secondsOf } from '../transcription-stand-in.ts';
import { plainClip } from '../video/plain-clip.ts';

useSpeechServer();

describe('captions from speech', () => {
  it('the service gets the sound as 16 kHz WAV, with the key, the model and the language', async () => {
    const caller = await account();
    const response = await post(caller, auto({ lang: 'de-AT' }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    // One credit for the video, one for its sound.
    expect(response.headers.get('x-credits-charged')).toBe('2');
    // The stand-in heard English all the same.
    expect(response.headers.get('x-warnings')).toBe('language_differs');
    await response.arrayBuffer();
    expect(service.received).toHaveLength(1);
    const [sound] = service.received;
    expect(sound?.headers.authorization).toBe('Bearer secret-of-the-service');
    expect(Number(sound?.headers['content-length'])).toBeGreaterThan(sound?.wav.length ?? 0);
    expect(sound?.fields).toEqual([
      ['model', 'whisper-1'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['language', 'de'],
    ]);
    const wav = sound?.wav ?? Buffer.alloc(44);
    expect(wav.subarray(0, 4).toString()).toBe('RIFF');
    expect([wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)]).toEqual([1, 16_000, 16]);
    expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
    expect(secondsOf(wav)).toBeCloseTo(2, 1);
  });

  it('a stored render has the language, and its captions as WebVTT with the times of words', async () => {
    const caller = await account();
    const response = await post(caller, auto({ deliver: 'url', max_words: '3', style: '{"highlight":"box"}' }));
    expect(response.status).toBe(200);
    const render = (await response.json()) as ShownRender;
    expect(render).toMatchObject({ status: 'succeeded', credits: 2, language: 'en' });
    const captions = await fetch(render.captions_url ?? '');
    expect(captions.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    const text = await captions.text();
    expect(text).toMatch(/^WEBVTT\n\n00:00:00\.100 --> /u);
    expect(text).toContain('Hello <00:00:00.400>there, <00:00:00.700>friend.\n');
    expect(text).toContain('00:00:01.200 --> ');
    const head = await fetch(render.captions_url ?? '', { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    const part = await fetch(render.captions_url ?? '', { headers: { range: 'bytes=0-5' } });
    expect([part.status, await part.text()]).toEqual([206, 'WEBVTT']);
    expect((await fetch(render.output?.url ?? '')).headers.get('content-type')).toBe('video/mp4');
    const headers = { 'x-api-key': caller.key };
    await fetch(`${caller.url}/v1/renders/${render.id}`, { method: 'DELETE', headers });
    expect((await fetch(render.captions_url ?? '')).status).toBe(404);
  });

  it('other renders have neither a language nor captions', async () => {
    const caller = await account();
    const response = await post(caller, form({ asset: clip, text: 'Hi', deliver: 'url' }));
    const render = (await response.json()) as ShownRender;
    expect(render).toMatchObject({ language: null, captions_url: null });
    expect((await fetch((render.output?.url ?? '').replace('.mp4', '.vtt'))).status).toBe(404);
  });

  it('no worker is held while the service works, and a canceled render ends the request to it', async () => {
    const caller = await account();
    const waiting: (() => void)[] = [];
    service.respond = (response) =>
      void waiting.push(() => json(HELLO)(response, { headers: {}, fields: [], wav: clip }));
    const brokenBefore = service.broken.count;
    const first = await acceptAsync(caller);
    await until(() => waiting.length === 1);
    // The only worker for videos renders another one meanwhile.
    expect((await post(caller, form({ asset: clip, text: 'Hi' }))).status).toBe(200);
    // Neither does a waiting render keep accepted ones from being claimed.
    const other = await post(caller, form({ asset: clip, text: 'Hi', async: 'true' }));
    expect(await show(caller, ((await other.json()) as { id: string }).id)).toMatchObject({ status: 'succeeded' });
    const headers = { 'x-api-key': caller.key };
    await fetch(`${caller.url}/v1/renders/${first}`, { method: 'DELETE', headers });
    await until(() => service.broken.count > brokenBefore);
    expect((await usedCredits(caller)).reserved).toBe(0);
  });

  it('the sound costs one credit per started 30 seconds, which is reserved while the service works', async () => {
    const caller = await account();
    const long = readFileSync(
      plainClip(path.join(folder, 'long.mp4'), {
        frames: 31,
        isStill: true,
        timeBase: { num: 1, den: 1 },
        audio: { codec: 'aac', seconds: 31, sampleRate: 16_000 },
      }),
    );
    let answer: (() => void) | undefined;
    service.respond = (response, sound) => {
      answer = () => json(HELLO)(response, sound);
    };
    const id = await acceptAsync(caller, { asset: long });
    await until(() => answer !== undefined);
    expect(await usedCredits(caller)).toMatchObject({ used: 0, reserved: 9 });
    answer?.();
    expect(await show(caller, id)).toMatchObject({ status: 'succeeded', credits: 9 });
    expect(await usedCredits(caller)).toMatchObject({ used: 9, reserved: 0 });
  });

  it('a test key gets the sample transcript, and nothing is sent', async () => {
    const caller = await account('speaking', '--test');
    const response = await post(caller, auto({ deliver: 'url', strict: 'true' }));
    const render = (await response.json()) as ShownRender;
    expect(render).toMatchObject({ status: 'succeeded', credits: 0, language: 'en' });
    expect(render.warnings).toContain('sample_transcript');
    expect(await (await fetch(render.captions_url ?? '')).text()).toContain('sample');
    expect(service.received).toHaveLength(0);
  });

  it('an asynchronous render sends its sound once, although its worker crashes afterwards', async () => {
    const caller = await account();
    let release: (() => void) | undefined;
    service.respond = (response, sound) => {
      // The next step of the render starts while its worker stands still.
      release = holdVideos(server);
      json(HELLO)(response, sound);
    };
    const id = await acceptAsync(caller);
    await until(() => release !== undefined);
    await until(async () => (await health(server)).renderer.videos.busy === 1);
    for (const pid of server.workerPids()) process.kill(pid, 'SIGKILL');
    release?.();
    expect(await show(caller, id)).toMatchObject({ status: 'succeeded', credits: 2 });
    expect(service.received).toHaveLength(1);
  });
});

describe('captions from speech that are refused', () => {
  it.each([
    ['a video without sound', () => form({ asset: silent, captions: 'auto' }), 422, 'no_sound'],
    [
      'an image',
      () => form({ asset: readFileSync(path.join('assets', 'cairn.webp')), captions: 'auto' }),
      400,
      'invalid_fields',
    ],
    ['text beside them', () => auto({ text: 'Hi' }), 400, 'invalid_fields'],
    ['a cover', () => auto({ at: '1', format: 'png' }), 400, 'invalid_fields'],
  ])('%s is refused before anything is sent or reserved', async (_what, body, status, code) => {
    const caller = await account();
    const problem = await problemOf(await post(caller, body()));
    expect([problem.status, problem.code]).toEqual([status, code]);
    expect(service.received).toHaveLength(0);
    expect(await usedCredits(caller)).toMatchObject({ used: 0, reserved: 0 });
  });

  it('a plan without captions from speech is refused, also in a batch', async () => {
    const caller = await account('none');
    expect((await problemOf(await post(caller, auto()))).code).toBe('transcription_disabled');
    expect((await problemOf(await post(caller, auto({ async: 'true' })))).code).toBe('transcription_disabled');
    const batch = await fetch(`${caller.url}/v1/batches`, {
      method: 'POST',
      headers: { 'x-api-key': caller.key, 'content-type': 'application/json' },
      body: JSON.stringify({ requests: [{ asset_url: 'https://example.com/clip.mp4', captions: 'auto' }] }),
    });
    expect((await problemOf(batch)).code).toBe('transcription_disabled');
  });

  it('a layout and a visitor without a key get no captions from speech', async () => {
    const { key } = await account();
    const layout = await fetch(`${server.url}/v1/layout`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ width: 720, height: 1280, duration: 2, captions: 'auto' }),
    });
    expect((await problemOf(layout)).errors?.[0]).toMatchObject({ pointer: '#/captions', code: 'conflict' });
    const guest = await fetch(`${server.url}/playground/render`, { method: 'POST', body: auto() });
    expect((await problemOf(guest)).errors?.[0]).toMatchObject({ pointer: '#/captions', code: 'conflict' });
  });

  it.each([
    ['responds with an error', json({ error: 'no' }, 400), /status 400/u],
    ['responds with a redirect', json({}, 302), /status 302/u],
    ["responds with something that isn't JSON", (response: ServerResponse) => void response.end('<html>'), /JSON/u],
    ['responds with JSON of another shape', json({ result: 'Hello' }), /transcript/u],
    ['responds with words that are numbers', json({ words: [1, 2] }), /transcript/u],
    ['responds with too much', json({ text: 'a'.repeat(5_000_000) }), /bytes/u],
    ["doesn't respond", () => undefined, /3 seconds/u],
    ['sends only informational responses', onlyInformational, /informational/u],
    ['returns text without times', json({ text: 'Hello there' }), /without times/u],
    [
      'returns words and segments without times',
      json({ text: 'Hello', words: [{ word: 'Hello' }], segments: [{ text: 'Hello' }] }),
      /without times/u,
    ],
    [
      'returns too many words',
      json({ words: Array.from({ length: 3_001 }, (_, at) => ({ word: 'Hi', start: at / 2_000, end: at / 2_000 })) }),
      /3000 words/u,
    ],
    ['returns too many entries', json({ words: Array.from({ length: 20_000 }, () => ({ word: 'Hi' })) }), /10000/u],
    [
      'returns too many cues',
      json({
        segments: Array.from({ length: 501 }, (_, at) => ({ text: `Hi ${at}`, start: at / 300, end: at / 300 })),
      }),
      /captions/u,
    ],
    ['returns 100,000 brackets', json({ ...HELLO, text: '['.repeat(100_000) }), /60000 characters/u],
  ])('a service that %s is 502, and nothing is charged', async (_what, respond, detail) => {
    const caller = await account();
    service.respond = respond;
    const problem = await problemOf(await post(caller, auto()));
    expect([problem.status, problem.code]).toEqual([502, 'transcription_failed']);
    expect(problem.detail).toMatch(detail);
    expect(problem.detail).not.toContain('127.0.0.1');
    expect(await usedCredits(caller)).toMatchObject({ used: 0, reserved: 0 });
    expect(service.received).toHaveLength(1);
    expect(server.output().stderr).toMatch(/"transcriptionService":"127\.0\.0\.1:\d+","model":"whisper-1"/u);
    await succeed();
  });

  it("a failing service doesn't use up the transcriptions of an account", async () => {
    const caller = await account();
    for (let count = 0; count < 24; count += 1) {
      service.respond = json({ text: 'Hello there' });
      expect((await problemOf(await post(caller, auto()))).code).toBe('transcription_failed');
      if (count % 4 === 3) await succeed();
    }
    service.respond = json(HELLO);
    expect((await post(caller, auto())).status).toBe(200);
  });

  it('videos without speech count against 20 a day', async () => {
    const caller = await account();
    service.respond = json({
      text: ' [BLANK_AUDIO]',
      words: [],
      segments: [{ text: ' [BLANK_AUDIO]', start: 0, end: 2 }],
    });
    for (let count = 0; count < 19; count += 1) {
      expect((await problemOf(await post(caller, auto()))).code).toBe('no_speech');
    }
    // A render that fails after its transcription counts, too.
    service.respond = json(HELLO);
    const strict = await post(caller, auto({ strict: 'true', style: '{"background":"#777777","color":"#777777"}' }));
    expect((await problemOf(strict)).code).toBe('strict_warnings');
    const refused = await post(caller, auto());
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'too_many_failures' });
    // Other renders of the account go on.
    expect(
      (await post(caller, form({ asset: clip, captions: 'WEBVTT\n\n00:00.100 --> 00:01.000\nHi\n' }))).status,
    ).toBe(200);
    expect(await usedCredits(caller)).toMatchObject({ used: 1, reserved: 0 });
  });
});
