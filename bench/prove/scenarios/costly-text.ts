// Captions of a megabyte that cost the client nothing and, if they were read to their end, the server's thread much. They are sent by
// one key as layouts, which are free, and by a visitor to the playground. Meanwhile `/ping` and another account must notice nothing.

import { exchange, watchAttack } from '../bystander.ts';
import { FORM_TYPE, multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const MEGABYTE = 1_000_000;
/** As many layouts as an account may have open. */
const OPEN_LAYOUTS = 8;
const VISITORS = 6;
const VISITOR_PATHS = ['/playground/pages', '/playground/overlay', '/playground/render'];
const MAX_EXTRA_MS = 50;

const repeated = (text: string): string => text.repeat(Math.floor(MEGABYTE / text.length));

/** Each is the start of a file of its format, so that no earlier check refuses it. */
const TEXTS: readonly string[] = [
  `WEBVTT\n\n00:00.000 --> 00:01.000\n${repeated('<00:00.000>')}`,
  `WEBVTT\n\n${repeated('NOTE\n\n')}`,
  Array.from({ length: 21_000 }, (_, index) => `${index}\n00:00:00,000 --> 00:00:00,001\na\n`).join('\n'),
  JSON.stringify({ words: Array.from({ length: 20_000 }, (_, n) => ({ word: CAPTION, start: n, end: n + 1 })) }),
  `WEBVTT\n\n00:00.000 --> 00:01.000\n${repeated('[')}`,
];

export const costlyText: Scenario = {
  name: 'costly-text',
  about: `captions of a megabyte: ${OPEN_LAYOUTS} layouts of one key, and ${VISITORS} requests of visitors at a time`,
  run: async (world) => {
    const settings = { STORYBAR_LOG_LEVEL: 'warn', STORYBAR_WORKERS: '2' };
    await world.withServer({ accounts: 2, settings }, async (fixture) => {
      await watch(world, fixture, 'long captions of a key', OPEN_LAYOUTS, layOut);
      await watch(world, fixture, 'long captions of visitors', VISITORS, preview);
    });
  },
};

type Send = (fixture: Fixture, count: number) => Promise<number>;

async function watch(world: World, fixture: Fixture, name: string, clients: number, send: Send): Promise<void> {
  const statuses = new Map<number, number>();
  const client = async (signal: AbortSignal): Promise<void> => {
    for (let count = 0; !signal.aborted; count += 1) {
      const status = await send(fixture, count);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await watchAttack(world, fixture, {
    name,
    seconds: world.choose(5, 30),
    maxExtraMs: MAX_EXTRA_MS,
    key: fixture.subject.account(1).key,
    attack: async (signal) => await Promise.all(Array.from({ length: clients }, async () => await client(signal))),
  });
  const list = [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ');
  world.figure(`responses to ${name}`, list);
  const accepted = [...statuses.keys()].filter((status) => status < 400 || status >= 500).length;
  world.none(`statuses besides refusals of ${name}`, accepted);
}

async function layOut({ subject }: Fixture, count: number): Promise<number> {
  const captions = TEXTS[count % TEXTS.length];
  const body = JSON.stringify({ width: 1_080, height: 1_920, duration: 10, captions });
  return (await exchange(subject.target, '/v1/layout', { key: subject.account(0).testKey, body })).status;
}

async function preview({ subject }: Fixture, count: number): Promise<number> {
  const captions = TEXTS[count % TEXTS.length] ?? '';
  const path = VISITOR_PATHS[count % VISITOR_PATHS.length] ?? '/';
  const body = multipart({ captions, width: '400', height: '600', duration: '10' });
  return (await exchange(subject.target, path, { headers: { 'content-type': FORM_TYPE }, body })).status;
}
