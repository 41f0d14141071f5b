// Files of strangers: everything in the collection of sample media, files made to hurt, and thousands of damaged ones. The
// server must answer each as documented, read nothing that was not sent, and call nobody.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { noisyJpeg, plainPng } from '../../../test/pictures.ts';
import { hasSharedMedia, sharedMedia } from '../../../test/shared-media.ts';
import { sniff } from '../../../src/media/sniff.ts';
import { type Attack, makeAttacks } from '../attacks.ts';
import { multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import { mutate } from '../mutations.ts';
import { clip } from '../payloads.ts';
import type { Scenario, Stage, World } from '../world.ts';

const CLIENTS = 6;
/** Of the samples that are damaged, none is larger: a damaged file costs as much to decode as a whole one. */
const MOST_SEED_BYTES = 30_000;
/** In the short profile large samples are left out, and mutations end after so long. */
const SHORT_SAMPLE_BYTES = 150_000;
const SHORT_SECONDS = 20;

export const hostile: Scenario = {
  name: 'hostile',
  about: 'sample media, files made to hurt, and seeded mutations',
  run: async (world) => {
    const photo = await noisyJpeg(64, 48);
    const video = clip();
    const samples = await samplesOf(world);
    await world.on({ settings: { STORYBAR_LOG_LEVEL: 'debug' } }, async (stage) => {
      const attacks = makeAttacks(stage.subject.canaries, video, photo);
      await sendAll(stage, samples.values());
      await sendAll(stage, attacks.values());
      const seeds = samples.map(({ bytes }) => bytes).filter((bytes) => bytes.length <= MOST_SEED_BYTES);
      const usable = [
        photo,
        video,
        await plainPng(40, 30, '#abc'),
        ...seeds.filter((bytes) => sniff(bytes) !== undefined),
      ];
      const mutated = await sendAll(stage, mutationsOf(world, usable));
      const total = samples.length + attacks.length + mutated;
      world.figure('files sent', `${samples.length} samples, ${attacks.length} attacks, ${mutated} mutations`);
      if (world.profile.long) world.figure('files in all', String(total), { target: '>= 50000', met: total >= 50_000 });
      const counts = [...stage.journal.counts].toSorted(([, a], [, b]) => b - a);
      world.figure('answers', counts.map(([code, count]) => `${code} ${count}`).join(', '));
      const { images, videos } = (await stage.subject.health()).renderer;
      world.figure('workers lost', String(images.restarts + videos.restarts));
      const broken = counts.filter(([code]) => code.startsWith('broken')).reduce((sum, [, count]) => sum + count, 0);
      world.none('broken connections', broken);
      world.none('server crashes', stage.subject.lives ? 0 : 1);
      world.none('foreign reads and calls', stage.subject.canaries.visits());
    });
  },
};

async function samplesOf(world: World): Promise<Attack[]> {
  if (!hasSharedMedia) {
    world.skip('the sample media are absent; only made files were sent');
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
  const most = world.choose(3_000, 50_000);
  for (let index = 0; index < most; index += 1) {
    if (!world.profile.long && performance.now() > end) return;
    yield { name: `mutation ${index}`, bytes: mutate(world.random.pick(seeds), world.random, seeds) };
  }
}

/** Some at once. Returns how many there were. */
async function sendAll({ ask, subject, journal }: Stage, attacks: Iterator<Attack>): Promise<number> {
  let sent = 0;
  const client = async (): Promise<void> => {
    for (let next = attacks.next(); !next.done; next = attacks.next()) {
      const { name, bytes, mustFail } = next.value;
      sent += 1;
      const { status } = await ask({ key: subject.key, body: multipart({ asset: bytes, text: CAPTION }) });
      if (mustFail && status === 200) journal.fault(`${name} was rendered`);
      if (!subject.lives) return;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return sent;
}
