import { describe, expect, it } from 'vitest';
import { createApiKey, hashKey, isWellFormedKey, maskKey } from './api-key.ts';

describe('an API key', () => {
  it.each(['live', 'test'] as const)(
    'an API key has the %s prefix, letters and digits, and a valid checksum',
    (mode) => {
      const key = createApiKey(mode);
      expect(key).toMatch(new RegExp(`^sb_${mode}_[0-9A-Za-z]{33}$`, 'u'));
      expect(isWellFormedKey(key)).toBe(true);
    },
  );

  it('every new key is different', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => createApiKey('live'))).size).toBe(1_000);
  });

  it('a key is refused with any single character changed or missing', () => {
    const key = createApiKey('live');
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === 'x' ? 'y' : 'x';
      expect(isWellFormedKey(key.slice(0, index) + other + key.slice(index + 1))).toBe(false);
      expect(isWellFormedKey(key.slice(0, index) + key.slice(index + 1))).toBe(false);
    }
  });

  it('an API key cannot be turned from a live key into a test key', () => {
    expect(isWellFormedKey(createApiKey('live').replace('live', 'test'))).toBe(false);
  });

  it('a key is displayed only by its prefix and its last four characters', () => {
    const key = createApiKey('live');
    expect(maskKey(key)).toEqual({ prefix: key.slice(0, 12), lastFour: key.slice(-4) });
    expect(hashKey(key)).toHaveLength(32);
  });
});
