import { expect, it } from 'vitest';
import { parseProbe } from './reports.ts';

const PROBE = { kind: 'image', width: 40, height: 30, isSrgb: false } as const;

it('a probe names the decoder of HEIC and AVIF, and of no other format', () => {
  expect(parseProbe({ ...PROBE, decoder: 'heif' }, 'heic')).toEqual({ ...PROBE, decoder: 'heif' });
  expect(parseProbe({ ...PROBE, decoder: 'heif' }, 'avif')).toEqual({ ...PROBE, decoder: 'heif' });
  expect(() => parseProbe(PROBE, 'heic')).toThrow('invalid probe.decoder');
  expect(() => parseProbe({ ...PROBE, decoder: 'heif' }, 'gif')).toThrow('invalid probe.decoder');
  expect(() => parseProbe({ ...PROBE, decoder: 'other' }, 'heic')).toThrow('invalid probe.decoder');
});
