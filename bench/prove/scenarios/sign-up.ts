// One network and one mailbox sign up again and again, without email. They must not get more than a few accounts, and no live
// credits at all.

import { Visitor } from '../../../test/site/visitor.ts';
import type { Scenario } from '../world.ts';

/** The number of accounts that a network can create in a day. */
const MAX_ACCOUNTS = 20;

export const signUp: Scenario = {
  name: 'sign-up',
  parallel: true,
  about: 'one network and one mailbox create many accounts',
  run: async (world) => {
    const settings = { STORYBAR_TRUST_PROXY: '127.0.0.1', STORYBAR_SIGN_UP: 'open' };
    await world.withServer({ settings }, async ({ subject }) => {
      const attempt = async (address: string, email: string): Promise<Visitor | undefined> => {
        const visitor = new Visitor(subject.target.url, address);
        return (await visitor.signUp(email)).status === 303 ? visitor : undefined;
      };
      const count = world.choose(30, 200);
      const users: Visitor[] = [];
      for (let index = 0; index < count; index += 1) {
        const user = await attempt(`198.51.100.${index % 256}`, `user-${index}@example.com`);
        if (user !== undefined) users.push(user);
      }
      world.figure(`accounts of one network, ${count} attempts`, String(users.length), {
        target: `<= ${MAX_ACCOUNTS}`,
        met: users.length <= MAX_ACCOUNTS,
      });
      let ofMailbox = 0;
      for (let index = 0; index < 10; index += 1) {
        const user = await attempt(`10.7.${index}.1`, `ann+${index}@example.com`);
        if (user !== undefined) ofMailbox += 1;
      }
      world.figure('accounts of one mailbox with tags, 10 attempts', String(ofMailbox), {
        target: '<= 5',
        met: ofMailbox <= 5,
      });
      let live = 0;
      for (const user of users) {
        const { status } = await user.submit('/dashboard/keys', { name: 'free', mode: 'live', origins: '' });
        const playground = JSON.parse((await user.get('/playground/account')).text) as { account: { mode: string } };
        if (status !== 403 || playground.account.mode !== 'test') live += 1;
      }
      world.none('of these accounts with live credits', live);
    });
  },
};
