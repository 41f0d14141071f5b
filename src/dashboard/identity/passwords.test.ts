import { describe, expect, it } from 'vitest';
import { Passwords } from './passwords.ts';

describe('passwords', () => {
  it('are hashed with argon2id at the wanted cost, salted, and recognised', async () => {
    const passwords = new Passwords();
    const [one, other] = await Promise.all([passwords.hash('a horse, a staple'), passwords.hash('a horse, a staple')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/u);
    expect(one).not.toBe(other);
    expect(await passwords.verify(one, 'a horse, a staple')).toBe(true);
    expect(await passwords.verify(one, 'a horse, a stable')).toBe(false);
    expect(await passwords.verify(undefined, 'a horse, a staple')).toBe(false);
  });

  it('of a crowd are turned away instead of piling up, and everybody else is served', async () => {
    const passwords = new Passwords();
    const crowd = await Promise.allSettled(Array.from({ length: 50 }, () => passwords.hash('a horse, a staple')));
    const refused = crowd.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(18);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'overloaded' });
    expect(await passwords.hash('a horse, a staple')).toContain('argon2id');
  });
});
