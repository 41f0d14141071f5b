// A process that uses the ledger of the built program like a server. `some <count>` makes that many reservations, several at a time,
// and prints how many were granted. `load` renders endlessly, several at a time, and prints each delivery before it settles it.
// Plain JavaScript, because compiling it in every process would take longer than its work.

import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { PostgresEngine } from '../../dist/service/store/postgres-engine.js';
import { createStore } from '../../dist/service/store/store.js';
import { SqliteEngine } from '../../dist/service/store/sqlite-engine.js';

const PARALLEL = 8;
/**
 * The timeout is long, because on a busy machine one of several processes can wait for the lock longer than a server
 * would.
 */
const LOCK_TIMEOUT_MS = 120_000;

const [place = '', accountId = '', task = '', number = '0'] = process.argv.slice(2);
const engine = place.startsWith('postgres')
  ? await PostgresEngine.open(place, () => undefined)
  : new SqliteEngine(place, { lockTimeoutMs: LOCK_TIMEOUT_MS });
const { ledger, accounts } = createStore(engine);
const subscription = (await accounts.find(accountId))?.subscription;
if (subscription === undefined) throw new Error('the account has no subscription');
const { period } = subscription;
const limit = task === 'some' ? 100 : 1_000_000_000;

// Printing is synchronous, so that no line is lost when the process is killed.
const print = (text) => writeSync(1, `${text}\n`);
const template = { accountId, keyId: undefined, mode: 'live', kind: 'image', credits: 1, period, limit };
const hold = () => ({ renderId: randomUUID(), ...template });

async function renderForever() {
  for (;;) {
    const next = hold();
    await ledger.reserve(next);
    print(`delivered ${next.renderId}`);
    await ledger.settle(next.renderId, { outcome: 'delivered', durationMs: 1 });
    print(`settled ${next.renderId}`);
  }
}

/**
 * Reservations are spread, because the last ones would wait for a connection longer than the pool's timeout on a busy
 * machine.
 */
async function reserveSome(count) {
  let [started, granted] = [0, 0];
  const reserveNext = async () => {
    while (started < count) {
      started += 1;
      const reservation = await ledger.reserve(hold());
      if (reservation.granted) granted += 1;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, reserveNext));
  return granted;
}

if (task === 'some') {
  const granted = await reserveSome(Number(number));
  print(`granted ${granted}`);
  await engine.close();
} else {
  await Promise.all(Array.from({ length: PARALLEL }, renderForever));
}
