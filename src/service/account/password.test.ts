import { describe, expect, it } from 'vitest';
import { normalizePassword, passwordFault } from './password.ts';

describe('passwordFault', () => {
  it.each([
    'correct horse battery',
    'Zq4!vv82Lm#x',
    'пароль-на-русском',
    '🐢🐇🦔🦊🐿️ in the woods',
    '1234 ducks on 5 ponds',
  ])('accepts %s', (password) => {
    expect(passwordFault(password, 'ann@example.com')).toBeUndefined();
  });

  it.each([
    ['short', 'at least 12'],
    ['aaaaaaaaaaaaaa', 'more different characters'],
    ['abababababab', 'more different characters'],
    ['123456789012', 'too easy to guess'],
    ['qwertyuiop123', 'too easy to guess'],
    ['password12345', 'too easy to guess'],
    ['abcdefghijklmnop', 'too easy to guess'],
    ['ann.larsson1', 'email address'],
    ['xx ann.larsson@example.com', 'email address'],
    ['long '.repeat(200), 'too long'],
  ])('refuses %s', (password, reason) => {
    expect(passwordFault(password, 'ann.larsson@example.com')).toContain(reason);
  });

  it('checks the other rules when the email address is not valid', () => {
    expect(passwordFault('correct horse battery', undefined)).toBeUndefined();
    expect(passwordFault('short', undefined)).toContain('at least 12');
  });

  it('treats the same letters from different keyboards alike', () => {
    expect(normalizePassword('cafe\u0301 ﬁve')).toBe(normalizePassword('café five'));
  });
});
