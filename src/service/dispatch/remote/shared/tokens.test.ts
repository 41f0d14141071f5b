import { describe, expect, it } from 'vitest';
import { Tokens, type TokenSubject } from './tokens.ts';

const subject: TokenSubject = { purpose: 'attempt', session: 'a', number: 1 };

describe('a token', () => {
  it('a token is valid for its subject until it expires', () => {
    const tokens = new Tokens();
    const token = tokens.issue(subject, 1_000);
    expect(tokens.isValid(token, subject, 1_000)).toBe(true);
    expect(tokens.isValid(token, subject, 1_001)).toBe(false);
  });

  it.each<Partial<TokenSubject>>([{ purpose: 'ticket' }, { session: 'b' }, { number: 2 }])(
    'a token is invalid for another subject: %j',
    (change) => {
      const tokens = new Tokens();
      expect(tokens.isValid(tokens.issue(subject, 1_000), { ...subject, ...change }, 0)).toBe(false);
    },
  );

  it('a token is invalid when it is changed, truncated or from another API server', () => {
    const tokens = new Tokens();
    const token = tokens.issue(subject, 1_000);
    expect(tokens.isValid(token.replace('1000.', '9000.'), subject, 0)).toBe(false);
    for (const bad of ['', '.', '1000', '1000.', token.slice(0, -2), `x${token}`]) {
      expect(tokens.isValid(bad, subject, 0)).toBe(false);
    }
    expect(new Tokens().isValid(token, subject, 0)).toBe(false);
  });
});
