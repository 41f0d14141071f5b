// The operator pages: the overview, accounts with their usage, credits, the audit log and the view of a customer's pages.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, post, type RunningServer, startServer } from '../running-server.ts';
import { SmtpServer } from './smtp-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

const FORM = { width: '32', height: '32', text: 'Hello' };

let smtp: SmtpServer;
let server: RunningServer;
let operator: Visitor;
let customer: Visitor;
/** The page of the customer's account. */
let page: string;

beforeAll(async () => {
  smtp = await SmtpServer.start();
  server = await startServer({
    STORYBAR_TRUST_PROXY: '127.0.0.1',
    STORYBAR_PUBLIC_URL: 'https://captions.example.com',
    STORYBAR_SMTP_URL: smtp.url,
    STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
    STORYBAR_CONTACT: 'help@example.com',
  });
  operator = await confirmed('192.0.2.1', 'operator@example.com');
  await server.cli('users', 'promote', 'operator@example.com');
  await operator.signIn('operator@example.com');
  customer = await confirmed('192.0.2.2', 'customer@example.com');
  const { key } = await customer.createKey({ name: 'shop' });
  await (await post({ url: server.url, key }, form(FORM))).arrayBuffer();
  await customer.waitForUsage('<strong>1</strong> of 100 credits used (Free)');
  const { text } = await operator.get('/operator/accounts?q=customer@example.com');
  page = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
});
afterAll(async () => {
  await server.stop();
  await smtp.stop();
});

async function confirmed(address: string, email: string): Promise<Visitor> {
  const visitor = new Visitor(server.url, address);
  await visitor.signUp(email);
  const link = /\/confirm\?link=[\w-]{43}/u.exec((await smtp.emailTo(email)).text)?.[0] ?? '';
  await visitor.submit(link, { link: link.slice(link.indexOf('=') + 1) }, '/confirm');
  return visitor;
}

/** The levels of the headings of a page, in order. */
function headingsOf(text: string): string {
  return [...text.matchAll(/<h(?<level>[1-6])/gu)].map(({ groups }) => groups?.['level']).join('');
}

describe('the overview', () => {
  it('the overview shows renders, errors, sign-ups, plans and what waits', async () => {
    const { text } = await operator.get('/operator');
    for (const label of ['Delivered today', 'Server errors', 'Waiting renders', 'Sign-ups', 'Monthly revenue']) {
      expect(text).toContain(`<dt>${label}</dt>`);
    }
    expect(text).toMatch(/0\.00 % <span class="small">0 of 1</u);
    expect(text).toContain('<span class="value">$0.00</span>');
    expect(text).toContain('Nothing needs your attention.');
    expect(text).toContain('class="spark"');
    expect(text).toContain('href="/operator/accounts?plan=free"');
  });

  it('the overview leads to a service page in words', async () => {
    const { text } = await operator.get('/operator/service');
    expect(text).toContain('All workers are ready.');
    expect(text).toContain('Waiting renders');
    expect(text).toMatch(/FFmpeg/u);
    expect(text).not.toMatch(/uptime seconds|latency ms|[{}]/u);
  });
});

describe('the contact of the operator', () => {
  it('the plan page leads to the contact for plans that a customer can’t choose', async () => {
    const { text } = await customer.get('/dashboard/plan');
    expect(text).toContain('href="/contact">Ask for Pro</a>');
    expect(text).not.toContain('Ask for Free');
  });

  it('other names of the pages of prices and contact lead to them', async () => {
    expect(await customer.get('/plans')).toMatchObject({ status: 308, location: '/pricing' });
    expect(await customer.get('/support')).toMatchObject({ status: 308, location: '/contact' });
  });

  it('the search of the documentation finds prices, contact and status', async () => {
    const index = JSON.parse((await customer.get('/docs/search.json')).text) as { path: string }[];
    expect(index.map(({ path }) => path)).toEqual(expect.arrayContaining(['/pricing', '/contact', '/status']));
  });
});

describe('incidents', () => {
  it('an incident appears on every dashboard page and on the status page until the operator ends it', async () => {
    const path = '/operator/incidents';
    const refused = await operator.submit(path, { title: ' ', impact: 'outage', body: '' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Enter a title.');
    expect(refused.text).toContain('Enter a text.');
    const typed = { title: 'Videos <wait>', impact: 'degraded', body: 'We are adding workers.' };
    const incident = (await operator.submit(path, typed)).location?.replace(/\?.*$/u, '') ?? '';
    for (const each of ['/dashboard', '/dashboard/keys']) {
      const { text } = await customer.get(each);
      expect(text).toContain('Degraded: Videos &lt;wait&gt;');
      expect(text).toContain('We are adding workers.');
    }
    const visitor = new Visitor(server.url, '192.0.2.9');
    const open = (await visitor.get('/status')).text;
    expect(open).toContain('An incident is affecting the service.');
    expect(open).toContain('Days with an incident today: 1.');
    expect(open.match(/<rect class="degraded"/gu)).toHaveLength(1);
    expect(open.match(/<rect class="unknown"/gu)).toHaveLength(89);
    expect((await operator.get('/operator')).text).toContain('Needs attention');
    expect([headingsOf(open), headingsOf((await operator.get(incident)).text)]).toEqual(['1232', '1223']);
    await operator.submit(incident, { body: 'Twice as many workers now.', over: 'yes' });
    expect((await customer.get('/dashboard')).text).not.toContain('Videos &lt;wait&gt;');
    expect(headingsOf((await operator.get(incident)).text)).toBe('123');
    const over = (await visitor.get('/status')).text;
    expect(over).toContain('All systems are operational.');
    expect(over).toContain('Twice as many workers now.');
    expect((await operator.submit('/operator', { body: 'More' }, incident)).status).toBe(404);
    const feed = await visitor.get('/status.atom');
    expect(feed.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    expect(feed.text).toContain('<title>Degraded: Videos &lt;wait&gt;</title>');
    expect(feed.text).toContain(`urn:uuid:${incident.split('/').at(-1)}`);
  });

  it('incidents are for operators only', async () => {
    const token = await customer.tokenOf('/dashboard');
    const fields = { token, title: 'Mine', impact: 'outage', body: 'Down' };
    expect((await customer.get('/operator/incidents')).status).toBe(404);
    expect((await customer.send('/operator/incidents', fields)).status).toBe(404);
  });
});

describe('the list of accounts', () => {
  it('the list of accounts shows usage, and an unconfirmed address with a mark instead of a placeholder', async () => {
    const unconfirmed = new Visitor(server.url, '192.0.2.3');
    await unconfirmed.signUp('unconfirmed@example.com');
    const { text } = await operator.get('/operator/accounts');
    expect(text).toContain('unconfirmed@example.com (unconfirmed)');
    expect(text).not.toContain('unconfirmed:');
    expect(text).toContain('1 of 100');
    expect((await operator.get('/operator/accounts?q=unconfirmed@example.com')).text).toContain('(unconfirmed)');
  });

  it('the list of accounts is filtered by plan and state', async () => {
    const found = async (query: string): Promise<boolean> =>
      (await operator.get(`/operator/accounts?${query}`)).text.includes('customer@example.com');
    expect(await found('plan=free&state=active')).toBe(true);
    expect(await found('plan=pro')).toBe(false);
    expect(await found('state=suspended')).toBe(false);
    expect(await found('state=nonsense')).toBe(true);
  });
});

describe('adding credits', () => {
  it('raises the limit of the period, and the audit log names the operator and the reason', async () => {
    await operator.submit(page, { credits: '50', reason: 'Sorry for the outage' }, `${page}/credits`);
    const usage = (await customer.get('/dashboard')).text;
    expect(usage).toContain('of 150 credits used (Free)');
    expect(usage).toContain('50 credits were added to this period.');
    const log = (await operator.get('/operator/audit?action=credits.&actor=operator@example.com&as=operator')).text;
    expect(log).toContain('reason: Sorry for the outage');
    expect(log).toContain('>operator@example.com as operator<');
    // Entries of this list have no page of their own, so narrow screens show the details, too.
    expect(log).toMatch(/<td role="cell" class="across text"><span>[^<]*reason: Sorry for the outage/u);
    const by = async (as: string): Promise<boolean[]> => {
      const { text } = await operator.get(`/operator/audit?actor=operator@example.com&as=${as}`);
      return ['credits.granted', 'user.signed_in'].map((action) => text.includes(action));
    };
    expect([await by(''), await by('user'), await by('operator')]).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ]);
    expect((await operator.get('/operator/audit?actor=unknown@example.com')).text).toContain('No entries.');
    expect((await operator.get('/operator/audit?action=key.')).text).not.toContain('credits.granted');
  });

  it.each([
    ['no reason', { credits: '5', reason: ' ' }],
    ['no number', { credits: 'many', reason: 'because' }],
    ['a negative number', { credits: '-5', reason: 'because' }],
    ['a fraction', { credits: '1.5', reason: 'because' }],
    ['too many', { credits: '1000001', reason: 'because' }],
    ['a reason that is too long', { credits: '5', reason: 'x'.repeat(201) }],
  ])('adding credits is refused with %s', async (_name, fields) => {
    expect((await operator.submit(page, fields, `${page}/credits`)).status).toBe(400);
    expect((await customer.get('/dashboard')).text).toContain('of 150 credits used (Free)');
  });

  it('adding credits is refused for customers', async () => {
    const token = await customer.tokenOf('/dashboard');
    expect((await customer.send(`${page}/credits`, { token, credits: '9', reason: 'mine' })).status).toBe(404);
  });
});

describe("the view of a customer's pages", () => {
  it("the view of a customer's pages shows usage and requests without anything that changes the account", async () => {
    const usage = (await operator.get(`${page}/usage?range=7`)).text;
    expect(usage).toContain('Nothing can be changed here.');
    expect(usage).toContain('of 150 credits used (Free)');
    expect(usage).toContain('shop');
    expect(usage).not.toContain('href="/dashboard/keys/');
    expect(usage.match(/<form method="post"/gu)).toHaveLength(1);
    // Requests are written to the log in batches.
    let requests = '';
    await expect
      .poll(async () => (requests = (await operator.get(`${page}/requests`)).text))
      .toContain('POST /v1/overlay');
    const detail = new RegExp(`${page}/requests/[\\da-f-]{36}`, 'u').exec(requests)?.[0] ?? '';
    expect((await operator.get(detail)).text).toContain('Request ID');
    expect((await operator.get('/operator/accounts/unknown/usage')).status).toBe(404);
    const log = (await operator.get('/operator/audit')).text;
    expect(log.match(/\baccount\.viewed\b/gu)).toHaveLength(1);
  });

  it('the page of an account shows the hosts of its webhooks without their secrets', async () => {
    await customer.submit('/dashboard/webhooks', { url: 'https://hooks.example.com/in?token=secret' });
    const { text } = await operator.get(page);
    expect(text).toContain('<h2 id="webhooks">Webhooks</h2>');
    expect(text).toContain('title="hooks.example.com"');
    expect(text).not.toContain('token=secret');
  });

  it("the view of a customer's pages does not exist for customers", async () => {
    const paths = ['/operator', '/operator/service', `${page}/usage`, `${page}/requests`];
    const statuses = await Promise.all(paths.map(async (path) => (await customer.get(path)).status));
    expect(statuses).toEqual([404, 404, 404, 404]);
  });
});

describe('customers who don’t sign up themselves', () => {
  const createAccount = async (name: string): Promise<string> => {
    const { location } = await operator.submit('/operator/accounts', { name, plan: 'pro' });
    expect(location).toMatch(/^\/operator\/accounts\/[\da-f-]{36}\?done=account-created$/u);
    return location?.replace(/\?.*$/u, '') ?? '';
  };

  it('customers whom the operator creates get an account with a plan, and an invitation that makes them its owner', async () => {
    const account = await createAccount('Acme');
    const email = 'owner@acme.example';
    const invited = await operator.submit(account, { email }, `${account}/invite`);
    expect(invited.location).toBe(`${account}?done=invited`);
    const link = /\/join\?link=(?<secret>[\w-]{43})/u.exec((await smtp.emailTo(email)).text);
    const owner = new Visitor(server.url, '192.0.2.9');
    const joined = await owner.submit(
      link?.[0] ?? '',
      { link: link?.groups?.['secret'] ?? '', password: PASSWORD },
      '/join',
    );
    expect(joined.location).toBe('/dashboard');
    expect((await owner.get('/dashboard/plan')).text).toContain('<strong>Pro</strong> renews on');
    expect((await owner.get('/dashboard/members')).status).toBe(200);
    // By now, the address belongs to a user.
    expect((await operator.submit(account, { email }, `${account}/invite`)).status).toBe(400);
    expect((await operator.get(`/operator/audit?account=${account.split('/').at(-1)}`)).text).toContain(
      'operator@example.com',
    );
  });

  it('customers are not created or invited with wrong input, nor by anyone but an operator', async () => {
    const account = await createAccount('Initech');
    for (const fields of [
      { name: ' ', plan: 'pro' },
      { name: 'a'.repeat(81), plan: 'pro' },
      { name: 'Hooli', plan: 'none' },
    ]) {
      expect((await operator.submit('/operator/accounts', fields)).status).toBe(400);
    }
    for (const email of ['nonsense', 'customer@example.com']) {
      expect((await operator.submit(account, { email }, `${account}/invite`)).status).toBe(400);
    }
    const missing = '/operator/accounts/00000000-0000-4000-8000-000000000000/invite';
    expect((await operator.submit(account, { email: 'new@example.com' }, missing)).status).toBe(404);
    const asCustomer = async (fields: Record<string, string>, action: string): Promise<number> =>
      (await customer.submit('/dashboard/keys', fields, action)).status;
    expect(await asCustomer({ name: 'Mine', plan: 'business' }, '/operator/accounts')).toBe(404);
    expect(await asCustomer({ email: 'me@example.com' }, `${account}/invite`)).toBe(404);
    expect((await operator.get('/operator/accounts?q=Mine')).text).toContain('No accounts found.');
  });
});

describe('the list of accounts as CSV', () => {
  it('the list of accounts as CSV has the accounts that match the filters, and is for operators only', async () => {
    const { text, headers } = await operator.get('/operator/accounts.csv?q=customer@example.com&plan=free');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, row = '', ...more] = text.trim().split('\r\n');
    expect(head).toBe('id,name,users,plan,credits_used,credits,status,created_at');
    expect(row).toContain('customer@example.com');
    expect(row).toMatch(/,free,1,150,active,/u);
    expect(more).toEqual([]);
    expect((await customer.get('/operator/accounts.csv')).status).toBe(404);
  });
});
