// A server with a stand-in for the transcription service, and videos with sound, for tests of captions from speech.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { plansFile } from './plans-file.ts';
import { form, post, type RunningServer, startServer } from './running-server.ts';
import { HELLO, json, startTranscriptionStandIn, type TranscriptionStandIn } from './transcription-stand-in.ts';
import { plainClip } from './video/plain-clip.ts';

export let service: TranscriptionStandIn;
export let server: RunningServer;
export let folder: string;
/** With a tone of two seconds. */
export let clip: Buffer;
/** Without a sound track. */
export let silent: Buffer;
/** With a sound track that can't be heard. */
export let muted: Buffer;
/** Can be heard until 0.8 seconds. */
export let halfMuted: Buffer;

/** Starts both for the tests of a file. */
export function useSpeechServer(): void {
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-speech-'));
    const size = { width: 180, height: 320, frames: 20, timeBase: { num: 1, den: 10 }, isStill: true };
    const audio = { codec: 'aac', seconds: 2, sampleRate: 44_100 };
    clip = readFileSync(plainClip(path.join(folder, 'clip.mp4'), { ...size, audio }));
    silent = readFileSync(plainClip(path.join(folder, 'silent.mp4'), size));
    const quiet = { ...audio, amplitude: () => 0 };
    muted = readFileSync(plainClip(path.join(folder, 'muted.mp4'), { ...size, audio: quiet }));
    const half = { ...audio, amplitude: (seconds: number) => (seconds < 0.8 ? 0.5 : 0) };
    halfMuted = readFileSync(plainClip(path.join(folder, 'half.mp4'), { ...size, audio: half }));
    service = await startTranscriptionStandIn();
    server = await startServer({
      STORYBAR_TRANSCRIBE_URL: service.url,
      STORYBAR_TRANSCRIBE_KEY: 'secret-of-the-service',
      STORYBAR_TRANSCRIBE_SECONDS: '3',
      STORYBAR_VIDEO_WORKERS: '1',
      STORYBAR_PUT_ALLOW: '127.0.0.1',
      STORYBAR_LOG_LEVEL: 'warn',
      STORYBAR_PLANS: plansFile({ none: { speech: false }, speaking: {} }),
    });
  });
  afterAll(async () => {
    await server.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    service.respond = json(HELLO);
    service.received.length = 0;
  });
}

export interface Account {
  readonly url: string;
  readonly key: string;
}

/** Every test has an account of its own, because unpaid transcripts count per account. */
export async function account(plan = 'speaking', ...options: string[]): Promise<Account> {
  const created = JSON.parse(await server.cli('keys', 'create', '--plan', plan, '--json', ...options)) as Account;
  return { url: server.url, key: created.key };
}

export interface ShownRender {
  readonly id: string;
  readonly status: string;
  readonly credits: number | null;
  readonly language: string | null;
  readonly captions_url: string | null;
  readonly warnings: readonly string[];
  readonly uncertain_words: number;
  readonly output: { readonly url: string } | null;
  readonly error: { readonly code: string; readonly detail: string } | null;
}

export async function show({ url, key }: Account, id: string): Promise<ShownRender> {
  return (await (
    await fetch(`${url}/v1/renders/${id}?wait=60`, { headers: { 'x-api-key': key } })
  ).json()) as ShownRender;
}

/** Renders a video with captions, and returns them with the render. */
export async function captioned(
  caller: Account,
  fields: Record<string, string | Buffer> = {},
): Promise<{ render: ShownRender; captions: string }> {
  const response = await post(caller, auto({ deliver: 'url', ...fields }));
  expect(response.status).toBe(200);
  const render = (await response.json()) as ShownRender;
  return { render, captions: await (await fetch(render.captions_url ?? '')).text() };
}

/** A success between failures keeps the circuit breaker closed. */
export async function succeed(): Promise<void> {
  service.respond = json(HELLO);
  expect((await post(await account(), auto())).status).toBe(200);
}

export async function usedCredits({ url, key }: Account): Promise<{ used: number; reserved: number }> {
  const usage = (await (await fetch(`${url}/v1/usage`, { headers: { 'x-api-key': key } })).json()) as {
    credits: { used: number; reserved: number };
  };
  return usage.credits;
}

export const auto = (fields: Record<string, string | Buffer> = {}): FormData =>
  form({ asset: clip, captions: 'auto', ...fields });

export async function acceptAsync(caller: Account, fields: Record<string, string | Buffer> = {}): Promise<string> {
  const response = await post(caller, auto({ async: 'true', ...fields }));
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}
