import { describe, expect, it } from 'vitest';
import { beginSignIn, PENDING_SECONDS, resumeSignIn } from './pending-sign-in.ts';

const NOW = new Date('2026-01-31T10:00:00Z');
const PURPOSE = { provider: 'google', userId: null, next: '/dashboard/keys' } as const;

const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

describe('a sign-in that is under way at a provider', () => {
  it('a pending sign-in is resumed with its cookie and state, and keeps its values', () => {
    const pending = beginSignIn(PURPOSE, NOW);
    expect(resumeSignIn(pending.cookie, 'google', pending.state, later(PENDING_SECONDS - 1))).toEqual(pending);
    expect(pending).toMatchObject(PURPOSE);
  });

  it('a pending sign-in has values that differ from each other and from those of every other sign-in', () => {
    const values = [beginSignIn(PURPOSE, NOW), beginSignIn(PURPOSE, NOW)].flatMap((pending) => [
      pending.state,
      pending.nonce,
      pending.codeVerifier,
    ]);
    expect(new Set(values).size).toBe(6);
    // PKCE requires this of a verifier.
    for (const value of values) expect(value).toMatch(/^[\w-]{43}$/u);
  });

  it('a pending sign-in has a cookie with valid characters only', () => {
    expect(beginSignIn({ ...PURPOSE, next: '/dashboard/ü;,' }, NOW).cookie).toMatch(/^[\w.-]+$/u);
  });

  it('a pending sign-in does not resume with the state of another browser', () => {
    const [own, other] = [beginSignIn(PURPOSE, NOW), beginSignIn(PURPOSE, NOW)];
    expect(resumeSignIn(own.cookie, 'google', other.state, NOW)).toBeUndefined();
    expect(resumeSignIn(own.cookie, 'google', '', NOW)).toBeUndefined();
  });

  it('a pending sign-in does not resume after it has expired', () => {
    const pending = beginSignIn(PURPOSE, NOW);
    expect(resumeSignIn(pending.cookie, 'google', pending.state, later(PENDING_SECONDS))).toBeUndefined();
  });

  it('a pending sign-in does not resume at another provider', () => {
    const pending = beginSignIn(PURPOSE, NOW);
    expect(resumeSignIn(pending.cookie, 'github', pending.state, NOW)).toBeUndefined();
  });

  it('a pending sign-in does not resume for another purpose than its own', () => {
    const { cookie, state } = beginSignIn(PURPOSE, NOW);
    const secret = cookie.slice(cookie.indexOf('.') + 1);
    const payload = { ...PURPOSE, userId: 'someone', until: later(60).getTime() };
    const changed = `${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${secret}`;
    expect(resumeSignIn(changed, 'google', state, NOW)).toBeUndefined();
  });

  it.each([undefined, '', '.', 'nonsense', `bm9uc2Vuc2U.${'a'.repeat(43)}`, `e30.${'a'.repeat(43)}`])(
    'a pending sign-in does not resume with the cookie %j',
    (cookie) => {
      expect(resumeSignIn(cookie, 'google', 'state', NOW)).toBeUndefined();
    },
  );
});
