import { describe, expect, it } from 'vitest';
import { Passwords } from './passwords.ts';

describe('Passwords', () => {
  it('hashes with salted argon2id at the configured cost and verifies only the right password', async () => {
    const passwords = new Passwords();
    const [one, other] = await Promise.all([passwords.hash('a horse, a staple'), passwords.hash('a horse, a staple')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/u);
    expect(one).not.toBe(other);
    expect(await passwords.verify(one, 'a horse, a staple')).toBe(true);
    expect(await passwords.verify(one, 'a horse, a stable')).toBe(false);
    expect(await passwords.verify(undefined, 'a horse, a staple')).toBe(false);
  });

  it('rejects attempts beyond the waiting limit with overloaded, and serves the rest', async () => {
    const passwords = new Passwords();
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => passwords.hash('a horse, a staple')));
    const rejected = results.filter((result) => result.status === 'rejected');
    expect(rejected).toHaveLength(18);
    for (const { reason } of rejected) expect(reason).toMatchObject({ code: 'overloaded' });
    expect(await passwords.hash('a horse, a staple')).toContain('argon2id');
  });
});
