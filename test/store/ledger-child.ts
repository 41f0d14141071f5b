// A server as far as the ledger is concerned, in a process of its own. `some <count>`: reserves so many at once and says how
// many it got. `load`: renders without end, several at a time, and says what it delivered before it charges for it.

import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createStore } from '../../src/store/sql-store.ts';
import type { NewHold } from '../../src/store/store.ts';
import { openAt } from './databases.ts';

const AT_ONCE = 8;

const [place = '', accountId = '', task = '', number = '0'] = process.argv.slice(2);
const engine = await openAt(place);
const { ledger, accounts } = createStore(engine);
const subscription = (await accounts.find(accountId))?.subscription;
if (subscription === undefined) throw new Error('the account has no subscription');
const { period } = subscription;
const limit = task === 'some' ? 100 : 1_000_000_000;

// Written at once: what is said must not be lost with the process.
const say = (text: string): number => writeSync(1, `${text}\n`);
const usual = { accountId, keyId: undefined, mode: 'live', kind: 'image', credits: 1, period, limit } as const;
const hold = (): NewHold => ({ renderId: randomUUID(), ...usual });

async function renderForEver(): Promise<void> {
  for (;;) {
    const next = hold();
    await ledger.reserve(next);
    say(`delivered ${next.renderId}`);
    await ledger.settle(next.renderId, { outcome: 'delivered', durationMs: 1 });
    say(`settled ${next.renderId}`);
  }
}

if (task === 'some') {
  const asked = Array.from({ length: Number(number) }, async () => await ledger.reserve(hold()));
  const granted = (await Promise.all(asked)).filter((reservation) => reservation.granted).length;
  say(`granted ${granted}`);
  await engine.close();
} else {
  await Promise.all(Array.from({ length: AT_ONCE }, renderForEver));
}
