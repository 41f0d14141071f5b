// Broken HTTP and broken forms, and answers that come before the upload is over: every kind of client must get them.

import { Agent } from 'node:http';
import { ask, multipart } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import { exchange } from '../raw-answers.ts';
import { makeWireAttacks, type WireAttack } from '../wire-attacks.ts';
import type { Scenario, Stage } from '../world.ts';

const QUIET_MS = 1_000;
const AT_ONCE = 76;
const EARLY_BYTES = 20_000_000;
const EARLY_ROUNDS = 5;

export const wire: Scenario = {
  name: 'wire',
  light: true,
  about: 'broken HTTP, broken forms, and refusals in the middle of an upload',
  run: async (world) => {
    await world.on({ settings: { STORYBAR_LOG_LEVEL: 'debug' } }, async (stage) => {
      const attacks = makeWireAttacks(stage.subject.key);
      const silent: string[] = [];
      const queue = attacks.values();
      const client = async (): Promise<void> => {
        for (const attack of queue) if (!(await play(stage, attack))) silent.push(attack.name);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, client));
      world.figure('broken requests', `${attacks.length}, closed without a word: ${silent.length}`);
      const early = await answeredEarly(stage);
      const lost = early.filter(({ code }) => code !== 'invalid_api_key' && code !== 'too_many_failed_keys');
      world.atLeast(`early refusals received (of ${early.length})`, 1 - lost.length / early.length, 1);
      for (const { habit, code } of lost) world.fault(`early refusal not received, ${habit}: ${code}`);
    });
  },
};

/** True when there was an answer. */
async function play({ subject, journal }: Stage, { name, bytes }: WireAttack): Promise<boolean> {
  const { answers, rest } = await exchange(subject.target.url, bytes, QUIET_MS);
  if (rest.length > 0) journal.fault(`${name}: ${rest.length} bytes that are no answer`);
  for (const { status, headers, body } of answers) {
    const isPlain = status === 200 && String(headers['content-type']).startsWith('text/plain');
    if (isPlain && body.toString() !== 'pong\n') journal.fault(`${name}: a smuggled request was answered`);
    else if (isPlain) journal.count('pong');
    else journal.read(status, headers, body);
  }
  return answers.length > 0;
}

/** A wrong key and a large upload, from clients of several habits. */
async function answeredEarly({ subject, journal }: Stage): Promise<{ habit: string; code: string }[]> {
  const body = multipart({ asset: Buffer.alloc(EARLY_BYTES, 1), text: CAPTION });
  const habits: Record<string, string>[] = [{}, { expect: '100-continue' }, { connection: 'close' }];
  const codes: { habit: string; code: string }[] = [];
  for (const keepAlive of [true, false]) {
    const target = { url: subject.target.url, agent: new Agent({ keepAlive }) };
    for (const headers of habits) {
      const habit = `keep-alive ${keepAlive} ${JSON.stringify(headers)}`;
      for (let round = 0; round < EARLY_ROUNDS; round += 1) {
        const { code } = await ask(target, journal, { key: 'sb_live_wrong', body, headers });
        codes.push({ habit, code });
      }
    }
    target.agent.destroy();
  }
  return codes;
}
