import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { assertNoCues } from './captions-field.ts';
import type { Form } from './field-reader.ts';
import { type CaptionForm, parseForm } from './form.ts';
import { LAYOUT_FIELDS } from './request-fields.ts';

const SRT = '1\n00:00:01,000 --> 00:00:02,500\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>Bye</i>\n';

function parse(fields: Readonly<Record<string, unknown>>, rest: Partial<Form> = {}): CaptionForm {
  const list = Object.entries(fields).map(([name, value]) => ({ name, value }));
  return parseForm({ fields: list, hasAsset: true, faults: [], ...rest });
}

function faultsOf(fields: Readonly<Record<string, unknown>>, rest: Partial<Form> = {}): readonly FieldFault[] {
  try {
    parse(fields, rest);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_fields') return error.faults;
    throw error;
  }
  throw new Error('expected faults');
}

const codesOf = (...args: Parameters<typeof faultsOf>): string[] =>
  faultsOf(...args).map(({ pointer, code }) => `${pointer} ${code}`);

describe('the captions field', () => {
  it('the captions field becomes one overlay per cue, at the default position for cues', () => {
    expect(parse({ captions: SRT }).overlays).toEqual([
      { text: 'Hello', position: null, start: 1, end: 2.5, isCue: true },
      { text: 'Bye', position: null, start: 3, end: 4, isCue: true },
    ]);
  });

  it('the captions field takes the position and the language of the request', () => {
    const { overlays } = parse({ captions: SRT, position: '12.5', lang: 'ja' });
    expect(overlays.map(({ position, lang }) => [position, lang])).toEqual([
      [12.5, 'ja'],
      [12.5, 'ja'],
    ]);
  });

  it('the captions field cleans the text of cues, and leaves out cues without visible text', () => {
    const captions = '0:01 --> 0:02\na\u202e\tb \n\n0:02 --> 0:03\n<i> </i>\u200b\n\n0:03 --> 0:04\nc';
    expect(parse({ captions }).overlays.map(({ text }) => text)).toEqual(['a b', 'c']);
  });

  it.each(['', ' \n'])('the captions field counts as absent when it is %j', (captions) => {
    expect(parse({ captions, text: 'hello' }).overlays).toEqual([{ text: 'hello', position: null }]);
    expect(codesOf({ captions })).toEqual(['#/text required']);
  });

  it('the captions field reports every invalid cue by its index, with the line', () => {
    const captions = `0:02 --> 0:01\nA\n\n0:03 --> 0:04\n${'x'.repeat(181)}\n\n0:05 --> 0:06\nfine\n\n0:07 > 0:08\n\n9\n0:09 --> x\nB`;
    expect(faultsOf({ captions })).toEqual([
      {
        pointer: '#/captions/0',
        code: 'invalid_captions',
        detail: 'Line 1: it ends at 1 s and must end after its start at 2 s.',
      },
      {
        pointer: '#/captions/1',
        code: 'invalid_captions',
        detail: 'Line 4: Caption is 181 characters long; the limit is 180.',
      },
      {
        pointer: '#/captions/3',
        code: 'invalid_captions',
        detail: 'Line 13: "0:09 --> x" isn\'t a time range such as 00:00:01.000 --> 00:00:02.500.',
      },
    ]);
  });

  it('the captions field allows 180 characters, 2,000 bytes and 500 cues, and no more', () => {
    const minute = (at: number): string => `0${Math.floor(at / 60)}:${String(at % 60).padStart(2, '0')}`;
    const cues = (count: number): string =>
      Array.from({ length: count }, (_, at) => `${minute(at)}:00 --> ${minute(at)}:01\nx`).join('\n\n');
    expect(parse({ captions: cues(500) }).overlays).toHaveLength(500);
    expect(codesOf({ captions: cues(501) })).toEqual(['#/captions invalid_captions']);
    expect(parse({ captions: `0:01 --> 0:02\n${'x'.repeat(180)}` }).overlays).toHaveLength(1);
    expect(
      faultsOf({ captions: `0:01 --> 0:02\n${'\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(112)}` })[0]?.detail,
    ).toMatch(/2,016 bytes/u);
  });

  it('the captions field allows ten cues at the same time, and no more', () => {
    const together = (count: number): string =>
      Array.from({ length: count }, (_, at) => `00:0${at % 10} --> 01:00\nx`).join('\n\n');
    expect(parse({ captions: together(10) }).overlays).toHaveLength(10);
    expect(codesOf({ captions: together(11) })).toEqual(['#/captions invalid_captions']);
    // A cue that starts when the others end isn't shown with them.
    expect(parse({ captions: `${together(10)}\n\n01:00 --> 01:01\nx` }).overlays).toHaveLength(11);
  });

  it('the captions field allows 1 MiB', () => {
    const padded = (bytes: number): string =>
      'WEBVTT\n\n00:01 --> 00:02\nOne\n\n00:02 --> 00:03\nTwo\n\nNOTE '.padEnd(bytes, 'a comment ');
    expect(parse({ captions: padded(1_048_576) }).overlays).toHaveLength(2);
    expect(faultsOf({ captions: padded(1_048_577) })).toEqual([
      { pointer: '#/captions', code: 'too_large', detail: 'The field is 1048577 bytes long; the limit is 1048576.' },
    ]);
  });

  it('the captions field must have a cue', () => {
    expect(faultsOf({ captions: 'WEBVTT\n\nNOTE nothing here' })).toEqual([
      {
        pointer: '#/captions',
        code: 'invalid_captions',
        detail: 'Captions have no cue with text. Send the content of an SRT or WebVTT file, or a transcript as JSON.',
      },
    ]);
    expect(codesOf({ captions: 'Just text' })).toEqual(['#/captions/0 invalid_captions']);
  });

  it('the captions field excludes text and overlays, and the faults of all are reported', () => {
    const overlays = JSON.stringify([{ text: 'a', start: -1 }]);
    expect(codesOf({ captions: SRT, text: 'hello' })).toEqual(['#/captions conflict']);
    expect(codesOf({ captions: '0:02 --> 0:01\nA', overlays })).toEqual([
      '#/overlays/0/start out_of_range',
      '#/captions conflict',
      '#/captions/0 invalid_captions',
    ]);
  });

  it('the captions field must be a string, an array or an object in JSON', () => {
    expect(codesOf({ captions: 5 }, { isJson: true })).toEqual(['#/captions wrong_type']);
    expect(codesOf({ captions: [SRT] }, { isJson: true })).toEqual(['#/captions/0 invalid_captions']);
  });

  it('the captions field needs a video: it is refused without an asset, and without asking for a size', () => {
    expect(codesOf({ captions: SRT }, { hasAsset: false })).toEqual(['#/captions conflict']);
    expect(codesOf({ captions: SRT, width: '10', height: 'x' }, { hasAsset: false })).toEqual(['#/captions conflict']);
    expect(parse({ captions: SRT, asset_url: 'https://example.com/a.mp4' }, { hasAsset: false }).overlays).toHaveLength(
      2,
    );
  });

  it('the captions field needs the duration of the video in a layout', () => {
    const layout = { hasAsset: false, allowed: LAYOUT_FIELDS, isJson: true };
    const size = { width: 640, height: 480 };
    expect(parse({ captions: SRT, ...size, duration: 10 }, layout).overlays).toHaveLength(2);
    expect(codesOf({ captions: SRT, ...size }, layout)).toEqual(['#/duration required']);
  });

  it('the captions field is refused for an asset that turns out to be an image', () => {
    const { overlays } = parse({ captions: SRT });
    expect(() => assertNoCues(overlays)).toThrow(expect.objectContaining({ code: 'invalid_fields' }));
    expect(() => assertNoCues([{ text: 'a', position: null, start: 1 }])).not.toThrow();
  });
});

describe('the position field', () => {
  it.each(['0', '100', '33.3', ' 50 '])('the position field places text at %j', (position) => {
    expect(parse({ text: 'a', position }).overlays).toEqual([{ text: 'a', position: Number(position) }]);
    expect(parse({ text: 'a', position: Number(position) }, { isJson: true }).overlays[0]?.position).toBe(
      Number(position),
    );
  });

  it.each([
    ['-1', 'out_of_range', 'Position must be between 0 and 100; got -1.'],
    ['100.5', 'out_of_range', 'Position must be between 0 and 100; got 100.5.'],
    ['middle', 'wrong_type', 'Position must be a number between 0 and 100; got "middle".'],
  ])('the position field rejects %j', (position, code, detail) => {
    expect(faultsOf({ text: 'a', position })).toEqual([{ pointer: '#/position', code, detail }]);
  });

  it('the position field rejects numeric strings in JSON', () => {
    expect(faultsOf({ text: 'a', position: '50' }, { isJson: true })).toEqual([
      {
        pointer: '#/position',
        code: 'wrong_type',
        detail: 'Position must be a number between 0 and 100; got a string.',
      },
    ]);
  });

  it('the position field counts as absent when it is blank in a form or null in JSON', () => {
    expect(parse({ text: 'a', position: ' ' }).overlays[0]?.position).toBeNull();
    expect(parse({ text: 'a', position: null }, { isJson: true }).overlays[0]?.position).toBeNull();
  });

  it('the position field excludes overlays', () => {
    expect(codesOf({ overlays: '[{"text":"a"}]', position: '50' })).toEqual(['#/position conflict']);
  });
});
