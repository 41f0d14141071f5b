import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KEY_BYTES, keyOf, SecretBox } from './secret-box.ts';

const [one, two] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
const PLACE = { table: 'webhook_secrets', column: 'secret', row: 'r1' };

describe('SecretBox', () => {
  it('decrypts what it encrypted, and never encrypts the same way twice', () => {
    const box = new SecretBox([one]);
    const sealed = box.seal(PLACE, 'whsec_1');
    expect(sealed).not.toContain('whsec_1');
    expect(box.seal(PLACE, 'whsec_1')).not.toBe(sealed);
    expect(box.open(PLACE, sealed)).toBe('whsec_1');
    expect(keyOf(sealed)).toBe(box.currentKey);
  });

  it('encrypts with the first key and decrypts with all', () => {
    const sealed = new SecretBox([one]).seal(PLACE, 'a');
    const rotated = new SecretBox([two, one]);
    expect(rotated.open(PLACE, sealed)).toBe('a');
    expect(keyOf(rotated.seal(PLACE, 'a'))).not.toBe(keyOf(sealed));
    expect(() => new SecretBox([two]).open(PLACE, sealed)).toThrow('is missing from STORYBAR_ENCRYPTION_KEYS');
    expect(() => new SecretBox().open(PLACE, sealed)).toThrow('is missing');
  });

  it.each([
    ['table', { ...PLACE, table: 'authenticators' }],
    ['column', { ...PLACE, column: 'other' }],
    ['row', { ...PLACE, row: 'r2' }],
  ])('refuses a value that was copied to another %s', (_what, place) => {
    const box = new SecretBox([one]);
    expect(() => box.open(place, box.seal(PLACE, 'a'))).toThrow('unable to authenticate data');
  });

  it('refuses a value that was changed', () => {
    const box = new SecretBox([one]);
    const sealed = box.seal(PLACE, 'a');
    expect(() => box.open(PLACE, `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`)).toThrow(
      'unable to authenticate data',
    );
  });

  it('reads plain text from before encryption, and writes plain text without a key', () => {
    expect(new SecretBox([one]).open(PLACE, 'whsec_plain')).toBe('whsec_plain');
    expect(new SecretBox().seal(PLACE, 'whsec_plain')).toBe('whsec_plain');
  });
});
