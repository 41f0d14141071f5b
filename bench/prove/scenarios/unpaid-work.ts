// Work that costs the operator money and ends before it is paid for: receivers of `put_url` that refuse, receivers that never respond,
// and clients that leave while their video is transcribed. Beyond an allowance, such work is charged or refused.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { allowedBroken } from '../../../src/service/account/broken-delivery.ts';
import { type PutReceiver, startPutReceiver } from '../../../test/put-receiver.ts';
import { until } from '../../../test/running-server.ts';
import { HELLO, startTranscriptionStandIn, type TranscriptionStandIn } from '../../../test/transcription-stand-in.ts';
import { plainClip } from '../../../test/video/plain-clip.ts';
import { exchange, observe, report } from '../bystander.ts';
import { FORM_TYPE, multipart } from '../client.ts';
import { CAPTION, query } from '../invariants.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const HOST = '127.0.0.2';
/** Transcriptions that an account may leave unpaid. */
const UNPAID_TRANSCRIPTS = 20;
/** The places for sending files of all accounts. */
const PLACES = 64;
const MAX_EXTRA_MS = 50;

export const unpaidWork: Scenario = {
  name: 'unpaid-work',
  about: 'receivers of `put_url` that refuse or never respond, and clients that leave during a transcription',
  run: async (world) => {
    const receiver = await startPutReceiver(HOST);
    const speech = await startTranscriptionStandIn();
    const settings = {
      STORYBAR_LOG_LEVEL: 'warn',
      STORYBAR_PUT_ALLOW: HOST,
      STORYBAR_TRANSCRIBE_URL: speech.url,
      STORYBAR_TRANSCRIBE_KEY: 'secret-of-the-service',
    };
    try {
      await world.withServer({ accounts: 4, settings, plan: { speech: true } }, async (fixture) => {
        await refuseFiles(world, fixture, receiver);
        await neverRespond(world, fixture, receiver);
        await leave(world, fixture, speech);
        return { uncertain: new Set(fixture.subject.accounts.map(({ accountId }) => accountId)) };
      });
    } finally {
      await receiver.stop();
      await speech.stop();
    }
  },
};

/** Sends a file to a receiver, without an asset. */
async function put({ subject }: Fixture, account: number, url: string, signal?: AbortSignal): Promise<number> {
  const body = JSON.stringify({ text: CAPTION, width: 400, height: 300, put_url: url });
  const { status } = await exchange(subject.target, '/v1/overlay', {
    key: subject.account(account).key,
    body,
    ...(signal && { signal }),
  });
  return status;
}

async function refuseFiles(world: World, fixture: Fixture, receiver: PutReceiver): Promise<void> {
  const total = world.choose(40, 200);
  for (let count = 0; count < total; count += 1) await put(fixture, 0, `${receiver.url}/refuse-403`);
  const { accountId } = fixture.subject.account(0);
  const holds = query(fixture.subject, `select state from holds where account_id = '${accountId}'`);
  const free = holds.filter(({ state }) => state === 'released').length;
  world.figure('files that the receiver refused', `${free} of ${holds.length} renders free`);
  world.none('free renders beyond the allowance', Math.max(0, free - allowedBroken({ delivered: 0 })));
}

/** One account has as many open deliveries as there are places. The file of another account must arrive all the same. */
async function neverRespond(world: World, fixture: Fixture, receiver: PutReceiver): Promise<void> {
  const key = fixture.subject.account(3).key;
  const seconds = world.choose(4, 20);
  const quiet = await observe(fixture, seconds, key);
  const stop = new AbortController();
  const attack = Array.from({ length: PLACES }, async (_, index) => {
    await put(fixture, 1, `${receiver.url}/hold-${index}`, stop.signal).catch(() => 'left');
  });
  await until(() => receiver.tries.some(({ path: at }) => at.startsWith('/hold-')), 30_000);
  const started = performance.now();
  const status = await put(fixture, 2, `${receiver.url}/other`);
  world.figure('another delivery beside them', `${status} after ${(performance.now() - started).toFixed(0)} ms`);
  world.none('deliveries of another account that failed', status === 200 ? 0 : 1);
  const beside = await observe(fixture, seconds, key);
  report(world, `${PLACES} receivers that never respond`, { quiet, beside, maxExtraMs: MAX_EXTRA_MS });
  stop.abort();
  receiver.release();
  await Promise.all(attack);
}

async function leave(world: World, { subject }: Fixture, speech: TranscriptionStandIn): Promise<void> {
  const body = multipart({ asset: spokenClip(), captions: 'auto' });
  const headers = { 'content-type': FORM_TYPE };
  const { key } = subject.account(2);
  for (let count = 0; count < UNPAID_TRANSCRIPTS * 1.6; count += 1) {
    const left = new AbortController();
    speech.respond = (response) => {
      left.abort();
      setTimeout(() => response.end(JSON.stringify(HELLO)), 50);
    };
    await exchange(subject.target, '/v1/overlay', { key, headers, body, signal: left.signal }).catch(() => 'left');
  }
  const started = { target: '> 0', met: speech.received.length > 0 };
  world.figure('transcriptions of clients that left', String(speech.received.length), started);
  world.none('unpaid beyond the allowance', Math.max(0, speech.received.length - UNPAID_TRANSCRIPTS));
}

function spokenClip(): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-prove-speech-'));
  try {
    const audio = { codec: 'aac', seconds: 2, sampleRate: 44_100 };
    const size = { width: 180, height: 320, frames: 20, timeBase: { num: 1, den: 10 }, isStill: true };
    return readFileSync(plainClip(path.join(folder, 'clip.mp4'), { ...size, audio }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
