import { describe, expect, it } from 'vitest';
import { normalisePassword, passwordFault } from './password.ts';

describe('a password', () => {
  it.each([
    'correct horse battery',
    'Zq4!vv82Lm#x',
    'пароль-на-русском',
    '🐢🐇🦔🦊🐿️ in the woods',
    '1234 ducks on 5 ponds',
  ])('%s will do', (password) => {
    expect(passwordFault(password, 'ann@example.com')).toBeUndefined();
  });

  it.each([
    ['short', 'at least 12'],
    ['aaaaaaaaaaaaaa', 'repeats'],
    ['abababababab', 'repeats'],
    ['123456789012', 'guesser'],
    ['qwertyuiop123', 'guesser'],
    ['password12345', 'guesser'],
    ['abcdefghijklmnop', 'guesser'],
    ['ann.larsson1', 'e-mail'],
    ['xx ann.larsson@example.com', 'e-mail'],
    ['long '.repeat(200), 'too long'],
  ])('%s will not', (password, reason) => {
    expect(passwordFault(password, 'ann.larsson@example.com')).toContain(reason);
  });

  it('is judged by itself where the address is none', () => {
    expect(passwordFault('correct horse battery', undefined)).toBeUndefined();
    expect(passwordFault('short', undefined)).toContain('at least 12');
  });

  it('is the same from every keyboard', () => {
    expect(normalisePassword('cafe\u0301 ﬁve')).toBe(normalisePassword('café five'));
  });
});
