// Clients put what they want at the top of an image and noise below, read the part they want and reset the connection.
// Beyond the allowance, every such delivery must be charged, and its idempotency key must then get the whole file.

import { request } from 'node:http';
import sharp from 'sharp';
import { allowedBroken } from '../../../src/service/account/broken-delivery.ts';
import { until } from '../../../test/running-server.ts';
import { FORM_TYPE, multipart } from '../client.ts';
import { CAPTION, query } from '../invariants.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const MARKETPLACE = { name: 'market', secret: 'secret-of-the-gateway' };
const REPEATED = 'repeated';
/** The result is larger than the buffers of a connection, so that the server notices when a client leaves. */
const [WIDTH, WANTED_ROWS, NOISE_ROWS] = [1_600, 400, 2_000];
const CLIENTS = 3;

interface Attacker {
  readonly name: string;
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const brokenDeliveries: Scenario = {
  name: 'broken-deliveries',
  about: 'clients break off deliveries after the part they want, directly and through a marketplace',
  run: async (world) => {
    const settings = {
      STORYBAR_LOG_LEVEL: 'warn',
      STORYBAR_MARKETPLACE_NAME: MARKETPLACE.name,
      STORYBAR_MARKETPLACE_SECRETS: MARKETPLACE.secret,
    };
    await world.withServer({ settings }, async (fixture) => {
      const { accountId, key } = fixture.subject.account(0);
      const user = 'attacker';
      const gateway = { 'proxy-secret': MARKETPLACE.secret, user, subscription: 'BASIC' };
      const forwarded = Object.entries(gateway).map(([name, value]) => [`x-${MARKETPLACE.name}-${name}`, value]);
      const attackers: readonly Attacker[] = [
        { name: 'key', accountId, headers: { 'x-api-key': key } },
        { name: 'marketplace', accountId: `${MARKETPLACE.name}:${user}`, headers: Object.fromEntries(forwarded) },
      ];
      const body = multipart({ asset: await wantedAboveNoise(), text: CAPTION });
      for (const attacker of attackers) await attack(world, fixture, attacker, body);
      return { uncertain: new Set(attackers.map((attacker) => attacker.accountId)) };
    });
  },
};

async function attack(world: World, fixture: Fixture, attacker: Attacker, body: Buffer): Promise<void> {
  const { subject } = fixture;
  const total = world.choose(26, 300);
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < total - 1) {
      sent += 1;
      await breakOff(fixture, attacker, body, (10 + world.random.whole(85)) / 100);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  // The last one is beyond the allowance, so its idempotency key has been paid for.
  await breakOff(fixture, { ...attacker, headers: { ...attacker.headers, 'idempotency-key': REPEATED } }, body, 0.5);
  const ended = await until(() => {
    const rows = query(subject, `select state, outcome from holds where account_id = '${attacker.accountId}'`);
    return rows.length === total && rows.every(({ state }) => state !== 'reserved') && rows;
  });
  const free = ended.filter(({ state }) => state === 'released').length;
  const delivered = ended.filter(({ outcome }) => outcome === 'delivered').length;
  world.none(`free renders beyond the allowance (${attacker.name})`, Math.max(0, free - allowedBroken({ delivered })));
  const repetition = { key: '', body, headers: { ...attacker.headers, 'idempotency-key': REPEATED } };
  const { code } = await fixture.request(repetition);
  if (code !== 'delivered') world.violation(`the repetition of a charged delivery got ${code}`);
  const [period] = query(subject, `select used from periods where account_id = '${attacker.accountId}'`);
  world.none(`difference of charges and paid renders (${attacker.name})`, Number(period?.['used']) - (total - free));
  world.figure(`broken deliveries (${attacker.name})`, `${free} of ${ended.length - delivered} free`);
}

/** Reads this share of the response and resets the connection. */
async function breakOff({ subject }: Fixture, { headers }: Attacker, body: Buffer, share: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const outgoing = request(`${subject.target.url}/v1/overlay`, {
      method: 'POST',
      headers: { ...headers, 'content-type': FORM_TYPE, 'content-length': body.length },
    });
    outgoing.on('error', reject);
    outgoing.once('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`the response has status ${response.statusCode}`));
      const wanted = Number(response.headers['content-length']) * share;
      let read = 0;
      response.on('error', () => undefined);
      response.once('close', resolve);
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read >= wanted) response.socket.resetAndDestroy();
      });
    });
    outgoing.end(body);
  });
}

async function wantedAboveNoise(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  return await sharp({ create: { width: WIDTH, height: NOISE_ROWS, channels: 3, background: '#888', noise } })
    .extend({ top: WANTED_ROWS, background: '#357' })
    .jpeg({ quality: 90 })
    .toBuffer();
}
