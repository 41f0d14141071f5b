import { describe, expect, it } from 'vitest';
import { captionFields } from './caption-options.ts';

describe('captionFields', () => {
  it('puts --highlight and --case into the style', async () => {
    expect(await captionFields({ highlight: 'box', 'max-words': '4' })).toEqual([
      ['max_words', '4'],
      ['style', '{"highlight":"box"}'],
    ]);
    expect(await captionFields({ style: 'outline', highlight: '{"mode":"box"}', case: 'upper' })).toEqual([
      ['style', '{"preset":"outline","highlight":{"mode":"box"},"case":"upper"}'],
    ]);
    expect(await captionFields({ style: '{"size":2}', highlight: 'pop' })).toEqual([
      ['style', '{"size":2,"highlight":"pop"}'],
    ]);
  });

  it('leaves the style alone without them', async () => {
    expect(await captionFields({ style: 'outline' })).toEqual([['style', 'outline']]);
  });

  it('refuses JSON that it cannot read', async () => {
    await expect(captionFields({ highlight: '{"mode":' })).rejects.toThrow(/valid JSON/u);
  });
});
