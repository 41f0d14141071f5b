// With a mail server: whoever signs up or forgot the password proves the address first, and nobody learns who is known.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer, until } from '../running-server.ts';
import { SmtpServer } from './smtp-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

const PUBLIC_URL = 'https://captions.example.com';

let smtp: SmtpServer;
let server: RunningServer;
let addresses = 0;
beforeAll(async () => {
  smtp = await SmtpServer.start();
  server = await startServer({
    STORYBAR_WORKERS: '1',
    STORYBAR_TRUST_PROXY: '127.0.0.1',
    STORYBAR_PUBLIC_URL: PUBLIC_URL,
    STORYBAR_SMTP_URL: smtp.url,
    STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
    STORYBAR_OPERATOR_EMAIL: 'boss@example.com',
  });
});
afterAll(async () => {
  await server.stop();
  await smtp.stop();
});

const visitor = (): Visitor => new Visitor(server.url, `192.0.2.${(addresses += 1)}`);
const linkIn = (text: string): string => {
  const link = new RegExp(`${PUBLIC_URL}(?<path>/password\\?link=[\\w-]{43})\\b`, 'u').exec(text)?.groups?.['path'];
  if (link === undefined) throw new Error(`no link in ${text}`);
  return link;
};
const redeem = async (path: string, who = visitor(), password = PASSWORD) =>
  await who.submit(path, { link: path.slice(path.indexOf('=') + 1), password }, '/password');
const join = async (email: string): Promise<Visitor> => {
  const who = visitor();
  await who.submit('/signup', { email });
  await redeem(linkIn((await smtp.mailTo(email)).text), who);
  return who;
};

describe('signing up', () => {
  it('goes through the mail, to a password and into the account', async () => {
    const ann = visitor();
    const answer = await ann.submit('/signup', { email: 'Ann@Example.com' });
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Look into your mail') });
    const { text } = await smtp.mailTo('ann@example.com');
    expect(text).toContain('From: Storybar <captions@example.com>');
    const path = linkIn(text);
    expect((await ann.get(path)).text).toContain('For ann@example.com');
    const weak = await redeem(path, ann, 'short');
    expect(weak).toMatchObject({ status: 422, text: expect.stringContaining('at least 12') });
    expect(await redeem(path, ann)).toMatchObject({ status: 303, location: '/dashboard' });
    expect((await ann.get('/dashboard')).text).toContain('ann@example.com');
    expect(await redeem(path).catch(String)).toContain('has no form');
    expect((await visitor().get(path)).text).toContain('used before');
  });

  it('and resetting answer alike for an address that is known and one that is not', async () => {
    await join('bob@example.com');
    for (const page of ['/signup', '/reset']) {
      const answers = [];
      for (const email of ['bob@example.com', 'stranger@example.com']) {
        const { status, text } = await visitor().submit(page, { email });
        answers.push(`${status} ${text.replaceAll(email, 'NAME').replaceAll(/value="[\w-]{43}"/gu, '')}`);
      }
      expect([page, new Set(answers).size]).toEqual([page, 1]);
    }
    expect((await smtp.mailTo('bob@example.com', 2)).text).toContain('Subject: You have a Storybar account');
    expect((await smtp.mailTo('bob@example.com', 3)).text).toContain('Choose a new password');
    expect(smtp.mails.filter(({ to }) => to === 'stranger@example.com')).toHaveLength(1);
  });

  it('with the operator’s address makes an operator, because the mail proves it', async () => {
    const boss = await join('boss@example.com');
    expect(await boss.get('/operator')).toMatchObject({ status: 200 });
    expect(await (await join('eve@example.com')).get('/operator')).toMatchObject({ status: 404 });
  });

  it('does not mail many times to one address', async () => {
    const statuses = [];
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await visitor().submit('/reset', { email: 'flooded@example.com' })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('a new password by mail', () => {
  it('ends every session, and every other link', async () => {
    const carl = await join('carl@example.com');
    for (let index = 0; index < 2; index += 1) await visitor().submit('/reset', { email: 'carl@example.com' });
    const first = linkIn((await smtp.mailTo('carl@example.com', 2)).text);
    const second = linkIn((await smtp.mailTo('carl@example.com', 3)).text);
    const next = 'a new horse, a new staple';
    expect(await redeem(second, visitor(), next)).toMatchObject({ status: 303 });
    expect(await carl.get('/dashboard')).toMatchObject({ status: 303 });
    expect((await visitor().get(first)).text).toContain('used before');
    expect(await visitor().signIn('carl@example.com')).toMatchObject({ status: 422 });
    expect(await visitor().signIn('carl@example.com', next)).toMatchObject({ status: 303 });
  });

  it('leads to the service, whatever host the request claims', async () => {
    await join('dora@example.com');
    const liar = visitor();
    const token = await liar.tokenOf('/reset');
    const fields = { token, email: 'dora@example.com' };
    await liar.send('/reset', fields, { 'x-forwarded-host': 'evil.example', origin: PUBLIC_URL });
    expect((await smtp.mailTo('dora@example.com', 2)).text).not.toContain('evil.example');
  });
});

it('a mail server that is gone is logged, and the answer stays the same', async () => {
  const broken = await startServer({
    STORYBAR_WORKERS: '1',
    STORYBAR_PUBLIC_URL: PUBLIC_URL,
    STORYBAR_SMTP_URL: 'smtp://127.0.0.1:1',
    STORYBAR_MAIL_FROM: 'captions@example.com',
  });
  const answer = await new Visitor(broken.url).submit('/signup', { email: 'ann@example.com' });
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Look into your mail') });
  await until(() => broken.output().stderr.includes('a mail was not sent'));
  await broken.stop();
});
