import { describe, expect, it } from 'vitest';
import { type EditedRequest, formOf, snippetOf } from './edited-request.ts';

const REQUEST: EditedRequest = {
  file: new File(['photo'], 'photo.jpg'),
  isVideo: false,
  canvas: undefined,
  overlays: [{ text: 'Hi' }],
  captions: undefined,
  look: { preset: 'box' },
  format: 'jpeg',
  colorSpace: 'srgb',
};

describe('a request of the playground', () => {
  it('a request of the playground has the color space of a JPEG unless it is the default', () => {
    expect(formOf(REQUEST).get('color_space')).toBe('srgb');
    expect(snippetOf(REQUEST, '').look).toEqual({ preset: 'box', color_space: 'srgb' });
    for (const colorSpace of ['', 'source']) {
      expect(formOf({ ...REQUEST, colorSpace }).has('color_space')).toBe(false);
    }
  });

  it.each([
    ['another format', { format: 'png' }],
    ['a video', { isVideo: true }],
    ['an overlay without a photo', { canvas: { width: 10, height: 10 } }],
  ])('a request of the playground has no color space for %s', (_, changes) => {
    expect(formOf({ ...REQUEST, ...changes }).has('color_space')).toBe(false);
  });
});
