// Malformed HTTP and malformed forms, and refusals during an upload, which every kind of client must receive.

import { Agent } from 'node:http';
import { multipart, sendRequest } from '../client.ts';
import { CAPTION } from '../invariants.ts';
import { exchange } from '../raw-responses.ts';
import { makeWireAttacks, type WireAttack } from '../wire-attacks.ts';
import type { Fixture, Scenario } from '../world.ts';

/** A busy server may need seconds for a response. A client that left before it would look like one that was charged for nothing. */
const QUIET_MS = 10_000;
const CLIENTS = 76;
const EARLY_BYTES = 20_000_000;
const EARLY_ROUNDS = 5;

export const wire: Scenario = {
  name: 'wire',
  parallel: true,
  about: 'malformed HTTP, malformed forms, and refusals during an upload',
  run: async (world) => {
    await world.withServer({ settings: { STORYBAR_LOG_LEVEL: 'debug' } }, async (fixture) => {
      const attacks = makeWireAttacks(fixture.subject.key);
      let withoutResponse = 0;
      const queue = attacks.values();
      const client = async (): Promise<void> => {
        for (const attack of queue) if (!(await sendAttack(fixture, attack))) withoutResponse += 1;
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      world.figure('malformed requests', `${attacks.length}, closed without a response: ${withoutResponse}`);
      const refusals = await sendRefusedUploads(fixture);
      const lost = refusals.filter(({ code }) => code !== 'invalid_api_key' && code !== 'too_many_failed_keys');
      world.atLeast(`early refusals received (of ${refusals.length})`, 1 - lost.length / refusals.length, 1);
      for (const { clientKind, code } of lost) world.violation(`early refusal not received by ${clientKind}: ${code}`);
    });
  },
};

/** Returns whether the server sent a response. */
async function sendAttack({ subject, journal }: Fixture, { name, bytes }: WireAttack): Promise<boolean> {
  const { responses, rest } = await exchange(subject.target.url, bytes, QUIET_MS);
  if (rest.length > 0) journal.violation(`${name}: ${rest.length} bytes that aren't a response`);
  for (const { status, headers, body } of responses) {
    const isPlain = status === 200 && String(headers['content-type']).startsWith('text/plain');
    if (isPlain && body.toString() !== 'pong\n')
      journal.violation(`${name}: the server responded to a smuggled request`);
    else if (isPlain) journal.count('pong');
    else journal.record(status, headers, body);
  }
  return responses.length > 0;
}

/** Sends large uploads with a wrong key from several kinds of clients. */
async function sendRefusedUploads({ subject, journal }: Fixture): Promise<{ clientKind: string; code: string }[]> {
  const body = multipart({ asset: Buffer.alloc(EARLY_BYTES, 1), text: CAPTION });
  const variants: Record<string, string>[] = [{}, { expect: '100-continue' }, { connection: 'close' }];
  const refusals: { clientKind: string; code: string }[] = [];
  for (const keepAlive of [true, false]) {
    const target = { url: subject.target.url, agent: new Agent({ keepAlive }) };
    for (const headers of variants) {
      const clientKind = `a client with keep-alive ${keepAlive} and ${JSON.stringify(headers)}`;
      for (let round = 0; round < EARLY_ROUNDS; round += 1) {
        const { code } = await sendRequest(target, journal, { key: 'sb_live_wrong', body, headers });
        refusals.push({ clientKind, code });
      }
    }
    target.agent.destroy();
  }
  return refusals;
}
