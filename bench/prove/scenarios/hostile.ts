// Hostile uploads: all sample media, crafted files and thousands of damaged ones. The server must respond to each as
// documented, read nothing but the upload, and open no connection.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { noisyJpeg, plainPng } from '../../../test/pictures.ts';
import { hasSharedMedia, sharedMedia } from '../../../test/shared-media.ts';
import { sniff } from '../../../src/engine/media/sniff.ts';
import { type Attack, makeAttacks } from '../attacks.ts';
import { multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import { mutate } from '../mutations.ts';
import { clip } from '../payloads.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const CLIENTS = 6;
/** Only samples up to this size are mutated, because a damaged file costs as much to decode as an intact one. */
const MAX_SEED_BYTES = 30_000;
/** Limits of the short profile: the size of a sample, and the time for mutations. */
const SHORT_SAMPLE_BYTES = 150_000;
const SHORT_SECONDS = 20;

export const hostile: Scenario = {
  name: 'hostile',
  about: 'sample media, crafted files and seeded mutations',
  run: async (world) => {
    const photo = await noisyJpeg(64, 48);
    const video = clip();
    const samples = await samplesOf(world);
    await world.withServer({ settings: { STORYBAR_LOG_LEVEL: 'debug' } }, async (fixture) => {
      const attacks = makeAttacks(fixture.subject.canaries, video, photo);
      await sendAll(fixture, samples.values());
      await sendAll(fixture, attacks.values());
      const seeds = samples.map(({ bytes }) => bytes).filter((bytes) => bytes.length <= MAX_SEED_BYTES);
      const usable = [
        photo,
        video,
        await plainPng(40, 30, '#abc'),
        ...seeds.filter((bytes) => sniff(bytes) !== undefined),
      ];
      const mutated = await sendAll(fixture, mutationsOf(world, usable));
      const total = samples.length + attacks.length + mutated;
      world.figure('files sent', `${samples.length} samples, ${attacks.length} crafted, ${mutated} mutations`);
      if (world.profile.long)
        world.figure('files in total', String(total), { target: '>= 50000', met: total >= 50_000 });
      const counts = [...fixture.journal.counts].toSorted(([, a], [, b]) => b - a);
      world.figure('responses', counts.map(([code, count]) => `${code} ${count}`).join(', '));
      const { images, videos } = (await fixture.subject.health()).renderer;
      world.figure('workers lost', String(images.restarts + videos.restarts));
      const broken = counts.filter(([code]) => code.startsWith('broken')).reduce((sum, [, count]) => sum + count, 0);
      world.none('broken connections', broken);
      world.none('server crashes', fixture.subject.hasCrashed ? 1 : 0);
      world.none('connections to the canary listener', fixture.subject.canaries.connections());
    });
  },
};

async function samplesOf(world: World): Promise<Attack[]> {
  if (!hasSharedMedia) {
    world.skip('sample media not found; sent only crafted files and their mutations');
    return [];
  }
  const names = readdirSync(sharedMedia(''), { recursive: true, encoding: 'utf8' }).toSorted();
  return names
    .filter((name) => statSync(sharedMedia(name)).isFile())
    .filter((name) => world.profile.long || statSync(sharedMedia(name)).size <= SHORT_SAMPLE_BYTES)
    .map((name) => ({ name: path.basename(name), bytes: readFileSync(sharedMedia(name)) }));
}

function* mutationsOf(world: World, seeds: readonly Buffer[]): Generator<Attack> {
  const end = performance.now() + SHORT_SECONDS * 1_000;
  const count = world.choose(3_000, 50_000);
  for (let index = 0; index < count; index += 1) {
    if (!world.profile.long && performance.now() > end) return;
    yield { name: `mutation ${index}`, bytes: mutate(world.random.pick(seeds), world.random, seeds) };
  }
}

/** Sends all files with a few concurrent clients. Returns how many there were. */
async function sendAll({ request, subject, journal }: Fixture, attacks: Iterator<Attack>): Promise<number> {
  let sent = 0;
  const client = async (): Promise<void> => {
    for (let next = attacks.next(); !next.done; next = attacks.next()) {
      const { name, bytes, mustFail } = next.value;
      sent += 1;
      const { status } = await request({ key: subject.key, body: multipart({ asset: bytes, text: CAPTION }) });
      if (mustFail && status === 200) journal.violation(`${name}: rendered, but must be refused`);
      if (subject.hasCrashed) return;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return sent;
}
