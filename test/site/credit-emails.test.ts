// Emails about used credits, from real servers to an SMTP server on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import { CreditEmails, type CreditEmailsOptions } from '../../src/site/plan/credit-emails.ts';
import { type Email, SmtpMailer } from '../../src/service/mail/mailer.ts';
import { form, post, type RunningServer, startServer } from '../running-server.ts';
import { sqliteDatabase } from '../store/databases.ts';
import { DELIVERED, World } from '../store/world.ts';
import { SmtpServer } from './smtp-server.ts';
import { Visitor } from './visitor.ts';

const PUBLIC_URL = 'https://captions.example.com';

describe('emails about used credits', () => {
  let smtp: SmtpServer;
  let server: RunningServer;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'storybar-credits-'));
    const plans = path.join(directory, 'plans.json');
    const limits = { requestsPerMinute: 600, concurrentRenders: 2 };
    writeFileSync(plans, JSON.stringify({ plans: [{ name: 'free', monthlyPriceCents: 0, credits: 5, ...limits }] }));
    smtp = await SmtpServer.start();
    server = await startServer({
      STORYBAR_PLANS: plans,
      STORYBAR_TRUST_PROXY: '127.0.0.1',
      STORYBAR_PUBLIC_URL: PUBLIC_URL,
      STORYBAR_SMTP_URL: smtp.url,
      STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
    });
  });
  afterAll(async () => {
    await server.stop();
    await smtp.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('emails about used credits are sent by a running server when 80 percent are used', async () => {
    const visitor = new Visitor(server.url, '192.0.2.1');
    const email = 'ann@example.com';
    await visitor.signUp(email);
    const link = /\/confirm\?link=[\w-]{43}/u.exec((await smtp.emailTo(email)).text)?.[0] ?? '';
    await visitor.submit(link, { link: link.slice(link.indexOf('=') + 1) }, '/confirm');
    const { key } = await visitor.createKey();
    for (let render = 0; render < 4; render += 1) {
      await (await post({ url: server.url, key }, form({ width: '32', height: '32', text: 'a' }))).arrayBuffer();
    }
    const { text } = await smtp.emailTo(email, 2);
    expect(text).toContain('Subject: You have used 80 % of your Storybar credits');
    expect(text).toContain('You have used 4 credits in this billing period.');
    expect(text).toContain(`${PUBLIC_URL}/dashboard/plan`);
  });
});

describe('CreditEmails', () => {
  const setUp = async () => {
    const world = await World.begin(sqliteDatabase());
    const user = await world.store.users.signUp('ann@example.com', 'hash');
    if (user === undefined) throw new Error('the address is taken');
    await world.store.accounts.subscribe(user.accountId, 'free', 'now', 'cli:test');
    const sent: Email[] = [];
    const failures: unknown[] = [];
    let isAway = false;
    const emails = async (): Promise<CreditEmails> =>
      new CreditEmails({
        notices: (await world.server('there/1')).creditNotices,
        plans: DEFAULT_PLANS,
        publicUrl: PUBLIC_URL,
        mailer: {
          send: async (email) => {
            if (isAway) throw new Error('the mail server is unavailable');
            sent.push(email);
          },
        },
        onFailed: (error) => failures.push(error),
      });
    const use = async (credits: number): Promise<void> => {
      const hold = await world.hold(user.accountId, { credits });
      await world.store.ledger.reserve(hold);
      await world.store.ledger.settle(hold.renderId, DELIVERED);
    };
    const setAway = (away: boolean): void => {
      isAway = away;
    };
    return { world, sent, failures, use, setAway, servers: await Promise.all([emails(), emails(), emails()]) };
  };

  it('tell each user once at 80 and once at 100 percent, however many servers look', async () => {
    const { world, sent, use, servers } = await setUp();
    const run = async (): Promise<void> => void (await Promise.all(servers.map(async (each) => await each.send())));
    await use(79);
    await run();
    expect(sent).toEqual([]);
    await use(2);
    for (let round = 0; round < 3; round += 1) await run();
    expect(sent.map(({ subject }) => subject)).toEqual(['You have used 80 % of your Storybar credits']);
    await use(19);
    for (let round = 0; round < 3; round += 1) await run();
    expect(sent.map(({ subject }) => subject).slice(1)).toEqual(['Your Storybar credits are used up']);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
    world.pass(3_600_000);
    await run();
    expect(sent).toHaveLength(2);
    await world.database.remove();
  });

  it('send only the second email when all credits are used at once', async () => {
    const { world, sent, use, servers } = await setUp();
    await use(100);
    for (const each of servers) await each.send();
    expect(sent.map(({ subject }) => subject)).toEqual(['Your Storybar credits are used up']);
    await world.database.remove();
  });

  it('emails about used credits are retried when the mail server was unavailable', async () => {
    const { world, sent, failures, use, setAway, servers } = await setUp();
    const [first] = servers;
    await use(85);
    setAway(true);
    await first?.send();
    await first?.send();
    expect(failures).toHaveLength(1);
    setAway(false);
    world.pass(11 * 60_000);
    await first?.send();
    expect(sent).toHaveLength(1);
    await world.database.remove();
  });

  it('reach the others when the mail server refuses a recipient, and are tried again only if that may change', async () => {
    const { world } = await setUp();
    const { users, accounts, ledger, creditNotices } = world.store;
    for (const name of ['bob', 'cid', 'dan']) {
      const user = await users.signUp(`${name}@example.com`, 'hash');
      const accountId = user?.accountId ?? '';
      await accounts.subscribe(accountId, 'free', 'now', 'cli:test');
      const hold = await world.hold(accountId, { credits: 85 });
      await ledger.reserve(hold);
      await ledger.settle(hold.renderId, DELIVERED);
    }
    const smtp = await SmtpServer.start();
    const mailer = new SmtpMailer({ url: smtp.url, from: 'captions@example.com' });
    const failed: string[] = [];
    const onFailed: CreditEmailsOptions['onFailed'] = (_error, { email }) => failed.push(email);
    const options = { notices: creditNotices, plans: DEFAULT_PLANS, publicUrl: PUBLIC_URL, mailer, onFailed };
    const emails = new CreditEmails(options);
    smtp.refusals.set('bob@example.com', '550 no such user').set('cid@example.com', '450 mailbox busy');
    await emails.send();
    expect(smtp.emails.map(({ to }) => to)).toEqual(['dan@example.com']);
    expect(failed.toSorted()).toEqual(['bob@example.com', 'cid@example.com']);
    smtp.refusals.clear();
    world.pass(11 * 60_000);
    await emails.send();
    expect(smtp.emails.map(({ to }) => to)).toEqual(['dan@example.com', 'cid@example.com']);
    mailer.close();
    await smtp.stop();
    await world.database.remove();
  });
});
