import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import type { Form } from './field-reader.ts';
import { parseForm } from './form.ts';
import type { RequestedOutput } from './format-field.ts';

const SIZE = { width: '1080', height: '1920' };

function parse(values: Readonly<Record<string, unknown>>, form: Partial<Form> = {}): RequestedOutput {
  const fields = Object.entries({ text: 'Hello', ...SIZE, ...values }).map(([name, value]) => ({ name, value }));
  return parseForm({ fields, hasAsset: false, faults: [], ...form }).output;
}

function faultsOf(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
  }
  return [];
}

describe('duration and fps', () => {
  it('make a transparent video of a request without an asset, as WebM with 30 frames per second by default', () => {
    expect(parse({ duration: '2.5' })).toEqual({ clip: { seconds: 2.5, fps: 30 } });
    expect(parse({ duration: '2', fps: '25', format: 'apng' })).toEqual({
      format: 'apng',
      clip: { seconds: 2, fps: 25 },
    });
  });

  it('allow captions', () => {
    const captions = '1\n00:00:00,000 --> 00:00:01,000\nHi';
    expect(parse({ text: '', duration: '2', captions })).toEqual({ clip: { seconds: 2, fps: 30 } });
    expect(faultsOf(() => parse({ text: '', captions }))).toEqual(['#/captions conflict']);
  });

  it('conflict with an asset, and fps without duration', () => {
    const asset = { hasAsset: true, assetKind: 'video' } as const;
    expect(faultsOf(() => parse({ duration: '2', fps: '25' }, asset))).toEqual([
      '#/duration conflict',
      '#/fps conflict',
    ]);
    expect(faultsOf(() => parse({ fps: '25' }))).toEqual(['#/fps conflict']);
  });

  it('every fault of a transparent video is reported at once', () => {
    const faults = faultsOf(() =>
      parse({ duration: '61', fps: '61', format: 'mov', width: '2000', height: '5000', at: '1' }),
    );
    expect(faults).toEqual(['#/width out_of_range', '#/duration out_of_range', '#/fps out_of_range', '#/at conflict']);
    expect(faultsOf(() => parse({ duration: '61', width: '101', height: '103' }))).toEqual([
      '#/width out_of_range',
      '#/height out_of_range',
    ]);
    expect(faultsOf(() => parse({ duration: '2', format: 'png' }))).toEqual(['#/format invalid_format']);
    expect(faultsOf(() => parse({ duration: '2', format: 'webm', max_bytes: '50000' }))).toEqual([
      '#/max_bytes conflict',
    ]);
    expect(faultsOf(() => parse({ format: 'webm' }))).toEqual(['#/format invalid_format']);
  });
});
