// Refusals of adding a passkey: challenges for another purpose or user, too many passkeys, and unconfirmed addresses.

import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { registrationResponse } from './software-passkey.ts';
import { type PageResponse, PASSWORD, Visitor } from './visitor.ts';

const PATH = '/dashboard/security/passkeys';
const REFUSED = 'The passkey couldn’t be added.';

let server: SharedServer;
let database: SqliteEngine;
/** Passkeys need a host name. */
let origin: string;
beforeAll(async () => {
  server = await sharedServer();
  origin = `http://localhost:${new URL(server.url).port}`;
  database = new SqliteEngine(path.join(server.dataDirectory, 'storybar.db'));
});
afterAll(async () => {
  await database.close();
});

const newMember = async (email: string): Promise<Visitor> => {
  const visitor = new Visitor(origin, newAddress());
  await visitor.signUp(email);
  return visitor;
};
const challengeIn = ({ text }: PageResponse): string => (JSON.parse(text) as { challenge: string }).challenge;
const registrationChallenge = async (visitor: Visitor): Promise<string> =>
  challengeIn(await visitor.submit(PATH, { password: PASSWORD }, `${PATH}/options`));
const add = async (visitor: Visitor, challenge: string): Promise<PageResponse> =>
  await visitor.submit(
    '/dashboard/security',
    { name: 'Laptop', response: registrationResponse(origin, challenge) },
    PATH,
  );

it('the site adds a passkey with the challenge for the password, once', async () => {
  const visitor = await newMember('ann@passkeys.example.com');
  const challenge = await registrationChallenge(visitor);
  expect(await add(visitor, challenge)).toMatchObject({ location: '/dashboard/security?done=passkey-added' });
  expect(await add(visitor, challenge)).toMatchObject({ status: 422, text: expect.stringContaining(REFUSED) });
});

it('the site refuses to add a passkey with a challenge for signing in, which takes no password', async () => {
  const visitor = await newMember('bob@passkeys.example.com');
  const challenge = challengeIn(await visitor.submit('/dashboard/security', {}, '/signin/passkey/options'));
  expect(await add(visitor, challenge)).toMatchObject({ status: 422, text: expect.stringContaining(REFUSED) });
  expect((await visitor.get('/dashboard/security')).text).not.toContain('Remove the passkey');
});

it('the site refuses to add a passkey when the user has the maximum by the time the device responds', async () => {
  const visitor = await newMember('many@passkeys.example.com');
  const challenge = await registrationChallenge(visitor);
  for (let index = 0; index < 20; index += 1) {
    await database.run(
      `insert into passkeys (id, user_id, name, public_key, counter, transports, created_at)
       select :id, id, 'Phone', '', 0, '[]', created_at from users where email = 'many@passkeys.example.com'`,
      { id: `passkey-${index}` },
    );
  }
  expect(await add(visitor, challenge)).toMatchObject({
    status: 400,
    text: expect.stringContaining('up to 20 passkeys'),
  });
});

it('the site refuses to add a passkey to a user without a confirmed address', async () => {
  const visitor = await newMember('early@passkeys.example.com');
  const challenge = await registrationChallenge(visitor);
  await database.run("update users set unconfirmed_email = email where email = 'early@passkeys.example.com'", {});
  expect(await add(visitor, challenge)).toMatchObject({
    status: 400,
    text: expect.stringContaining('Confirm your email address'),
  });
});

it('the site lets a passkey try to sign in, however many strangers have tried with its id', async () => {
  const visitor = await newMember('known@passkeys.example.com');
  const response = registrationResponse(origin, await registrationChallenge(visitor));
  await visitor.submit('/dashboard/security', { name: 'Laptop', response }, PATH);
  const { id } = JSON.parse(response) as { id: string };
  const forged = JSON.stringify({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { clientDataJSON: '', authenticatorData: '', signature: '' },
  });
  const statuses = new Set<number>();
  for (let index = 0; index < 45; index += 1) {
    const stranger = new Visitor(origin, newAddress());
    statuses.add((await stranger.submit('/signin', { response: forged }, '/signin/passkey')).status);
  }
  expect([...statuses]).not.toContain(429);
});
