// Members and roles: invitations, and the pages that each role may open and change.

import { beforeAll, describe, expect, it } from 'vitest';
import type { AccountRole } from '../../src/service/account/roles.ts';
import { form, problemOf } from '../running-server.ts';
import { newAddress, OPERATOR_EMAIL, type SharedServer, sharedServer } from '../shared-server.ts';
import { type PageResponse, PASSWORD, Visitor } from './visitor.ts';

const PATH = '/dashboard/members';

let server: SharedServer;
let visitors = 0;
beforeAll(async () => {
  server = await sharedServer();
});

const newVisitor = (): Visitor => {
  visitors += 1;
  return new Visitor(server.url, newAddress());
};
const newOwner = async (): Promise<Visitor> => {
  const visitor = newVisitor();
  await visitor.signUp(`owner-${visitors}@members.example.com`);
  return visitor;
};
const linkIn = ({ text }: PageResponse): string => /\/join\?link=[\w-]{43}/u.exec(text)?.[0] ?? '';
const accept = async (visitor: Visitor, link: string): Promise<PageResponse> =>
  await visitor.submit(link, { link: link.slice(link.indexOf('=') + 1), password: PASSWORD }, '/join');
const join = async (owner: Visitor, role: AccountRole): Promise<{ visitor: Visitor; email: string; id: string }> => {
  const visitor = newVisitor();
  const email = `${role}-${visitors}@members.example.com`;
  const invited = await owner.submit(PATH, { email, role });
  expect(await accept(visitor, linkIn(invited))).toMatchObject({ status: 303, location: '/dashboard' });
  const { text } = await owner.get(PATH);
  const id = /members\/(?<id>[\da-f-]{36})\/role/u.exec(text.slice(text.indexOf(email)))?.groups?.['id'] ?? '';
  return { visitor, email, id };
};

describe('an invitation', () => {
  it('an invitation lets its holder join once, in the role that the owner chose', async () => {
    const owner = await newOwner();
    const guest = newVisitor();
    const invited = await owner.submit(PATH, { email: 'guest@members.example.com', role: 'billing' });
    const link = linkIn(invited);
    expect((await owner.get(PATH)).text).toContain('guest@members.example.com');
    const weak = await guest.submit(link, { link: link.slice(link.indexOf('=') + 1), password: 'short' }, '/join');
    expect(weak.status).toBe(422);
    expect(await accept(guest, link)).toMatchObject({ status: 303, location: '/dashboard' });
    expect((await accept(newVisitor(), link).catch(() => undefined))?.status ?? 422).toBe(422);
    expect((await newVisitor().get(link)).text).toContain('This invitation has expired');
    expect((await guest.get('/dashboard')).text).toContain('credits used (Free)');
    expect((await guest.get('/dashboard')).text).not.toContain('/dashboard/keys"');
  });

  it('an invitation is refused for a taken address, for the operator and for an invalid address', async () => {
    const owner = await newOwner();
    const known = newVisitor();
    await known.signUp('known@members.example.com');
    for (const email of ['known@members.example.com', OPERATOR_EMAIL, 'nonsense']) {
      expect((await owner.submit(PATH, { email, role: 'owner' })).status).toBe(422);
    }
    expect((await owner.submit(PATH, { email: 'x@members.example.com', role: 'operator' })).status).toBe(400);
  });

  it('an invitation cannot set the password of a user who signed up after it was created', async () => {
    const owner = await newOwner();
    const link = linkIn(await owner.submit(PATH, { email: 'victim@members.example.com', role: 'member' }));
    const victim = newVisitor();
    await victim.signUp('victim@members.example.com');
    const attacker = newVisitor();
    const password = 'the password of the attacker';
    const attempt = await attacker.submit(link, { link: link.slice(link.indexOf('=') + 1), password }, '/join');
    expect(attempt.status).toBe(422);
    expect((await newVisitor().signIn('victim@members.example.com', password)).status).toBe(422);
    expect((await newVisitor().signIn('victim@members.example.com')).status).toBe(303);
  });

  it('an invitation can be revoked by the owner, and by no other account', async () => {
    const [owner, stranger] = [await newOwner(), await newOwner()];
    const link = linkIn(await owner.submit(PATH, { email: 'revoked@members.example.com', role: 'member' }));
    const { text } = await owner.get(PATH);
    const id = /name="invitation" value="(?<id>[\da-f]{32})"/u.exec(text)?.groups?.['id'] ?? '';
    expect((await stranger.submit(PATH, { invitation: id }, `${PATH}/revoke`)).status).toBe(404);
    expect(await owner.submit(PATH, { invitation: id }, `${PATH}/revoke`)).toMatchObject({ status: 303 });
    expect((await newVisitor().get(link)).text).toContain('This invitation has expired');
  });
});

describe('a member', () => {
  it('a member gets another role, which counts immediately, and is removed with all sessions', async () => {
    const owner = await newOwner();
    const { visitor, email, id } = await join(owner, 'billing');
    expect((await visitor.get('/dashboard/keys')).status).toBe(403);
    await owner.submit(PATH, { role: 'member' }, `${PATH}/${id}/role`);
    expect((await visitor.get('/dashboard/keys')).status).toBe(200);
    expect((await owner.submit(PATH, { role: 'root' }, `${PATH}/${id}/role`)).status).toBe(400);
    expect(await owner.submit(PATH, {}, `${PATH}/${id}/remove`)).toMatchObject({
      location: `${PATH}?done=member-removed`,
    });
    expect((await visitor.get('/dashboard')).location).toContain('/signin');
    expect((await newVisitor().signIn(email)).status).toBe(422);
  });

  it('a member is removed together with the keys they created, if the owner says so', async () => {
    const owner = await newOwner();
    const [leaver, other] = [await join(owner, 'member'), await join(owner, 'member')];
    const [own, ofLeaver, ofOther] = [owner, leaver.visitor, other.visitor].map((each) => each.createKey());
    const keys = [(await own)?.key, (await ofLeaver)?.key, (await ofOther)?.key];
    const page = await owner.get(`${PATH}/${leaver.id}/remove`);
    expect(page.text).toContain('Revoke them');
    expect(page.text).toContain(keys[1]?.slice(-4));
    expect(page.text).not.toContain(keys[2]?.slice(-4));
    expect(await owner.submit(`${PATH}/${leaver.id}/remove`, { keys: 'revoke' })).toMatchObject({
      location: `${PATH}?done=member-and-keys-removed`,
    });
    expect(await owner.submit(`${PATH}/${other.id}/remove`, { keys: 'keep' })).toMatchObject({
      location: `${PATH}?done=member-removed`,
    });
    const statuses = [];
    for (const key of keys) {
      statuses.push((await fetch(`${server.url}/v1/usage`, { headers: { 'x-api-key': key ?? '' } })).status);
    }
    expect(statuses).toEqual([200, 401, 200]);
  });

  it('a member of another account cannot be changed, and the last owner stays', async () => {
    const [owner, stranger] = [await newOwner(), await newOwner()];
    const { id, visitor: second } = await join(owner, 'owner');
    expect((await stranger.submit(PATH, { role: 'owner' }, `${PATH}/${id}/role`)).status).toBe(404);
    expect((await stranger.submit(PATH, {}, `${PATH}/${id}/remove`)).status).toBe(404);
    // Only others can change a role, so the page of the second owner has the form for the first.
    const ids = [...(await second.get(PATH)).text.matchAll(/members\/([\da-f-]{36})\/role/gu)];
    const [[, ownId = ''] = []] = ids;
    expect(ids).toHaveLength(1);
    await owner.submit(PATH, { role: 'member' }, `${PATH}/${id}/role`);
    expect((await owner.submit(PATH, { role: 'member' }, `${PATH}/${ownId}/role`)).status).toBe(400);
    expect((await owner.submit(PATH, {}, `${PATH}/${ownId}/remove`)).status).toBe(400);
    expect((await owner.get(PATH)).status).toBe(200);
  });
});

/** Every page and every form of the dashboard. */
const PAGES = [
  '/dashboard',
  '/dashboard/start',
  '/dashboard/start/status',
  '/dashboard/requests',
  '/dashboard/requests.csv',
  '/dashboard/usage/days.csv',
  '/dashboard/usage/keys.csv',
  '/dashboard/usage/renders.csv',
  '/dashboard/renders',
  '/dashboard/webhooks',
  '/dashboard/webhooks/deliveries',
  '/dashboard/keys',
  '/dashboard/brand',
  '/dashboard/brand/new',
  '/dashboard/brand/logos',
  '/dashboard/brand/fonts',
  '/dashboard/brand/preview.png',
  '/dashboard/plan',
  '/dashboard/plan/change?plan=free',
  '/dashboard/plan/cancel',
  '/dashboard/plan/invoices',
  '/dashboard/security',
  '/dashboard/security/two-factor',
  '/dashboard/members',
  '/dashboard/account',
  '/dashboard/security/passkeys',
  '/dashboard/security/email',
  '/dashboard/account/export.json',
  '/dashboard/account/delete',
];
/** The pages in the navigation of the dashboard, in order. */
const TABS = [
  '',
  '/requests',
  '/renders',
  '/keys',
  '/brand',
  '/webhooks',
  '/plan',
  '/security',
  '/members',
  '/account',
].map((page) => `/dashboard${page}`);
const FORMS = [
  '/dashboard/keys',
  '/dashboard/keys/new',
  '/dashboard/keys/x',
  '/dashboard/keys/x/rotate',
  '/dashboard/keys/x/revoke',
  '/dashboard/brand/new',
  '/dashboard/brand/styles/x',
  '/dashboard/brand/styles/x/delete',
  '/dashboard/brand/logos/x/delete',
  '/dashboard/brand/fonts/x/delete',
  '/dashboard/renders/x/cancel',
  '/dashboard/renders/x/delete',
  '/dashboard/webhooks',
  '/dashboard/webhooks/x',
  '/dashboard/webhooks/secret/rotate',
  '/dashboard/webhooks/deliveries/resend',
  '/dashboard/plan',
  '/dashboard/plan/cancel',
  '/dashboard/plan/resume',
  '/dashboard/plan/manage',
  '/dashboard/security',
  '/dashboard/security/end-session',
  '/dashboard/confirmation',
  '/dashboard/security/end-other-sessions',
  '/dashboard/security/two-factor',
  '/dashboard/security/two-factor/off',
  '/dashboard/security/passkeys',
  '/dashboard/security/passkeys/options',
  '/dashboard/security/passkeys/remove',
  '/dashboard/security/email',
  '/dashboard/security/two-factor/codes',
  '/dashboard/members',
  '/dashboard/members/revoke',
  '/dashboard/members/x/role',
  '/dashboard/members/x/remove',
  '/dashboard/account/delete',
];

/** The pages that each role may not use, written out by hand. */
const REFUSED: Readonly<Record<AccountRole, RegExp>> = {
  owner: /^$/u,
  member: /^\/dashboard\/(?:plan|members|account)/u,
  billing: /^\/dashboard\/(?:start|renders|webhooks|keys|brand|members|account)/u,
};

describe.each(['owner', 'member', 'billing'] as const)('the role %s', (role) => {
  it('every role opens and sends only what it may', async () => {
    const owner = await newOwner();
    const visitor = role === 'owner' ? owner : (await join(owner, role)).visitor;
    const token = await visitor.tokenOf('/dashboard/security');
    const refused: string[] = [];
    const failed: string[] = [];
    for (const path of PAGES) {
      const { status } = await visitor.get(path);
      if (status === 403) refused.push(path);
      else if (status >= 400) failed.push(`${path}: ${status}`);
    }
    expect(failed).toEqual([]);
    expect(refused).toEqual(PAGES.filter((path) => REFUSED[role].test(path)));
    const [navigation = ''] =
      /<nav aria-label="Account">.*?<\/nav>/su.exec((await visitor.get('/dashboard')).text) ?? [];
    const tabs = [...navigation.matchAll(/href="(?<path>[^"]*)"/gu)].map(({ groups }) => groups?.['path']);
    expect(tabs).toEqual(TABS.filter((path) => !REFUSED[role].test(path)));
    const refusedForms: string[] = [];
    for (const path of FORMS) {
      const { status, text } = await visitor.send(path, { token });
      if (status === 403 && text.includes('Your role in this account')) refusedForms.push(path);
    }
    expect(refusedForms).toEqual(FORMS.filter((path) => REFUSED[role].test(path)));
    const operatorPages = ['/operator', '/operator/accounts', '/operator/audit', '/operator/service'];
    const statuses = await Promise.all(operatorPages.map(async (path) => (await visitor.get(path)).status));
    expect(statuses).toEqual([404, 404, 404, 404]);
  });
});

it('members render in the playground at the cost of the account, except for the role billing', async () => {
  const owner = await newOwner();
  const render = async (visitor: Visitor): Promise<Response> =>
    await fetch(`${server.url}/playground/account/render`, {
      method: 'POST',
      body: form({ width: '32', height: '32', text: 'a' }),
      headers: {
        cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'x-forwarded-for': '198.51.100.250',
        'x-form-token': await visitor.tokenOf('/dashboard/security'),
        'sec-fetch-site': 'same-origin',
        origin: new URL(server.url).origin,
      },
    });
  const { visitor: member } = await join(owner, 'member');
  expect((await render(member)).status).toBe(200);
  const { visitor: billing } = await join(owner, 'billing');
  const refused = await render(billing);
  expect(refused.status).toBe(403);
  expect((await problemOf(refused)).code).toBe('role_not_allowed');
  expect(JSON.parse((await billing.get('/playground/account')).text)).toEqual({ account: null });
});
