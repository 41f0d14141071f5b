import { expect, it } from 'vitest';
import { flagFaults } from './flag-faults.ts';

it('a fault names options instead of fields, and says what to give', () => {
  expect(
    flagFaults([
      {
        pointer: '#/text',
        code: 'required',
        detail: 'A caption is required. Send one in text, or several in overlays.',
      },
      {
        pointer: '#/overlays/1/position',
        code: 'out_of_range',
        detail: 'Position must be between 0 and 100; got 101.',
      },
      { pointer: '#/safe_area', code: 'invalid_choice', detail: 'Safe area must be one of none and tiktok.' },
      { pointer: '#/width', code: 'required', detail: 'Width in pixels is required when no asset is sent.' },
      { pointer: '#/height', code: 'required', detail: 'Height in pixels is required when no asset is sent.' },
    ]),
  ).toEqual([
    'A caption is required. Give --text, --overlays or --captions.',
    '--overlays[1].position: Position must be between 0 and 100; got 101.',
    '--safe-area: Safe area must be one of none and tiktok.',
    'Give an image or a video, or both --width and --height.',
  ]);
});
