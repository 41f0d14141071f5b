import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import type { Form } from './field-reader.ts';
import { parseForm } from './form.ts';
import { assertFormatFits, type RequestedOutput } from './format-field.ts';
import type { OutputSource } from './output-format.ts';

const SIZE = [
  { name: 'width', value: '100' },
  { name: 'height', value: '100' },
];

function parse(values: Readonly<Record<string, unknown>>, form: Partial<Form> = {}): RequestedOutput {
  const fields = Object.entries({ text: 'Hello', ...values }).map(([name, value]) => ({ name, value }));
  return parseForm({ fields: [...fields, ...SIZE], hasAsset: false, faults: [], ...form }).output;
}

function faultsOf(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError)
      return error.faults.map(({ pointer, code, detail }) => `${pointer} ${code} ${detail}`);
  }
  return [];
}

const ON_IMAGE = { hasAsset: true, assetKind: 'image' } as const;
const ON_VIDEO = { hasAsset: true, assetKind: 'video' } as const;

describe('format and quality', () => {
  it('format and quality are absent by default, also when a form sends them blank', () => {
    expect(parse({}, ON_IMAGE)).toEqual({});
    expect(parse({ format: ' ', quality: '' }, ON_IMAGE)).toEqual({});
  });

  it('take the color space of a JPEG, and report any other one', () => {
    expect(parse({ color_space: 'srgb' }, ON_IMAGE)).toEqual({ colorSpace: 'srgb' });
    expect(parse({ color_space: ' ' }, ON_IMAGE)).toEqual({});
    expect(faultsOf(() => parse({ color_space: 'p3' }, ON_IMAGE))).toEqual([
      '#/color_space invalid_choice Color_space must be source or srgb; got "p3".',
    ]);
  });

  it.each([
    ['png', 'png'],
    ['jpeg', 'jpeg'],
    ['jpg', 'jpeg'],
    ['webp', 'webp'],
  ])('an image accepts the format %s', (name, format) => {
    expect(parse({ format: name, quality: '75' }, ON_IMAGE)).toEqual({ format, quality: 75 });
  });

  it('a video accepts the format mp4, and a quality that has no effect on it', () => {
    expect(parse({ format: 'mp4', quality: '75' }, ON_VIDEO)).toEqual({ format: 'mp4', quality: 75 });
  });

  it('format and quality accept a number for quality in JSON, and null for both', () => {
    expect(parse({}, { isJson: true, ...ON_IMAGE, fields: jsonFields(1) })).toEqual({
      quality: 1,
    });
  });

  it.each<[string, Exclude<OutputSource, 'frame' | 'clip'>, string]>([
    ['mp4', 'image', 'Format must be png, jpeg or webp for an image; got mp4.'],
    ['png', 'video', 'Format must be mp4 for a video; got png.'],
    ['jpeg', 'canvas', 'Format must be png or webp for a request without an asset; got jpeg.'],
  ])('the format %s is refused for the source %s', (format, source, detail) => {
    const form = source === 'canvas' ? {} : ({ hasAsset: true, assetKind: source } as const);
    expect(faultsOf(() => parse({ format }, form))).toEqual([`#/format invalid_format ${detail}`]);
  });

  it('at asks for an image of a video, and needs one', () => {
    expect(parse({ at: '0', format: 'jpeg' }, ON_VIDEO)).toEqual({ at: 0, format: 'jpeg' });
    expect(
      parse(
        { at: 1.25 },
        {
          isJson: true,
          ...ON_VIDEO,
          fields: [
            { name: 'text', value: 'a' },
            { name: 'at', value: 1.25 },
          ],
        },
      ),
    ).toEqual({ at: 1.25 });
    expect(faultsOf(() => parse({ at: '1', format: 'mp4' }, ON_VIDEO))).toEqual([
      '#/format invalid_format Format must be png, jpeg or webp for a cover; got mp4.',
    ]);
    const needsVideo = ['#/at conflict At needs a video. Send one in asset or asset_url, or leave out at.'];
    expect(faultsOf(() => parse({ at: '1' }, ON_IMAGE))).toEqual(needsVideo);
    expect(faultsOf(() => parse({ at: '1' }))).toEqual(needsVideo);
    expect(faultsOf(() => parse({ at: '-1' }, ON_VIDEO))).toEqual([
      '#/at wrong_type At must be a number of seconds between 0 and 86400; got "-1".',
    ]);
    expect(faultsOf(() => assertFormatFits({ at: 1 }, 'image'))).toEqual(needsVideo);
  });

  it('all faults of format and quality are reported in one error, with those of other fields', () => {
    expect(faultsOf(() => parse({ format: 'tiff', quality: '101', text: '' }, ON_IMAGE))).toEqual([
      "#/text blank Caption can't be empty.",
      '#/format invalid_format Format must be png, jpeg, webp, mp4, webm, mov or apng; got "tiff".',
      '#/quality out_of_range Quality must be between 1 and 100; got 101.',
    ]);
  });

  it.each([['0'], ['-1'], ['100.5'], ['high']])('the quality %s is refused', (quality) => {
    expect(faultsOf(() => parse({ quality }, ON_IMAGE))).toHaveLength(1);
  });

  it('format does not accept the names of properties that every object has', () => {
    expect(faultsOf(() => parse({ format: 'constructor' }, ON_IMAGE))).toHaveLength(1);
  });

  it('format and quality are checked against the asset later when it has yet to be fetched', () => {
    const output = parse({ format: 'jpeg' }, { hasAsset: true });
    expect(() => assertFormatFits(output, 'image')).not.toThrow();
    expect(faultsOf(() => assertFormatFits(output, 'video'))).toEqual([
      '#/format invalid_format Format must be mp4 for a video; got jpeg.',
    ]);
  });
});

function jsonFields(quality: unknown): Form['fields'] {
  return [
    { name: 'text', value: 'Hello' },
    { name: 'format', value: null },
    { name: 'quality', value: quality },
  ];
}
