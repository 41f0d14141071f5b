// Reports with every field that a worker can send: all of them arrive, and none exceeds its limit.

import { describe, expect, it } from 'vitest';
import { FACTS, IMAGE_PROBE, VIDEO_PROBE } from '../../../test/dispatch/sample-reports.ts';
import { must } from '../../shared/must.ts';
import {
  composeLayoutRecipe,
  composeTransparentRecipe,
  DEFAULT_IMAGE_LIMITS,
  NOTHING_DRAWN,
} from '../../engine/render/recipe.ts';
import { composeSoundRecipe, composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../engine/render/video-recipe.ts';
import {
  InvalidReport,
  isStepFailureCode,
  parseFacts,
  parsePresence,
  parseProbe,
  parseProgress,
  parseResult,
  parseWorkerMessage,
  toError,
} from './reports.ts';

const OVERLAYS = [{ text: 'a b', position: null }];
const CANVAS = { width: 10, height: 20 };
const WORD = { text: 'a', start: 0.5, end: 0.9, left: 1, top: 2, width: 3, height: 4 };
const BAR = {
  top: -4.5,
  height: 6,
  left: 1,
  width: 8,
  fontSize: 5,
  direction: 'rtl',
  lines: [{ text: 'a b', x: 1.5, width: 7, baseline: 4 }],
  fonts: ['Inter'],
  missingCharacters: ['\u{10ffff}'],
  warnings: ['text_shrunk'],
  page: { text: 'a b', start: 0.5, end: 1.5, words: [WORD], source: { overlay: 0, firstWord: 0 } },
} as const;
const LAYOUT = { ...FACTS, layout: [BAR], logo: { left: 1, top: 2, width: 3, height: 4 } };
const LAYOUT_RECIPE = composeLayoutRecipe(CANVAS, OVERLAYS);
const FONT = { family: 'My Font', style: 'Bold', weights: [400, 700], characters: 300, scripts: ['Latin', 'Greek'] };
const FONT_FACTS = { ...FACTS, width: 1, height: 1, bars: [], font: FONT };

const withBar = (changes: object) => ({ ...LAYOUT, layout: [{ ...BAR, ...changes }] });
const withFont = (changes: object) => ({ ...FONT_FACTS, font: { ...FONT, ...changes } });
const many = <Item>(length: number, item: Item): Item[] => Array.from({ length }, () => item);

const OVERLAY_WITH_PAGES = { text: 'a b c', position: null, paging: { maxLines: 2 } };

describe('the report of a layout', () => {
  it('every detail of a layout arrives', () => {
    expect(parseFacts(LAYOUT, LAYOUT_RECIPE)).toEqual(LAYOUT);
    const ltr = withBar({ direction: 'ltr' });
    expect(parseFacts(ltr, LAYOUT_RECIPE)).toEqual(ltr);
  });

  it.each([
    ['facts.layout.0.top', { top: -1_000_001 }],
    ['facts.layout.0.width', { width: 1_000_001 }],
    ['facts.layout.0.direction', { direction: 'up' }],
    ['facts.layout.0.lines', { lines: many(2_001, BAR.lines[0]) }],
    ['facts.layout.0.lines.0.text', { lines: [{ ...BAR.lines[0], text: 'x'.repeat(2_001) }] }],
    ['facts.layout.0.lines.0.baseline', { lines: [{ text: '', x: 0, width: 0 }] }],
    ['facts.layout.0.fonts', { fonts: many(129, 'Inter') }],
    ['facts.layout.0.fonts.0', { fonts: ['x'.repeat(65)] }],
    ['facts.layout.0.missingCharacters', { missingCharacters: many(2_001, 'x') }],
    ['facts.layout.0.missingCharacters.0', { missingCharacters: ['x'.repeat(2_001)] }],
    ['facts.layout.0.warnings', { warnings: many(17, 'text_shrunk') }],
    ['facts.layout.0.warnings.0', { warnings: ['nonsense'] }],
    ['facts.layout.0.page.text', { page: { ...BAR.page, text: 'x'.repeat(2_001) } }],
    ['facts.layout.0.page.words', { page: { ...BAR.page, words: many(3_001, WORD) } }],
    ['facts.layout.0.page.words.0.text', { page: { ...BAR.page, words: [{ ...WORD, text: 'x'.repeat(2_001) }] } }],
    ['facts.layout.0.page.words.0.end', { page: { ...BAR.page, words: [{ ...WORD, end: '1' }] } }],
  ])('a layout is refused with the name of the field: %s', (field, changes) => {
    expect(() => parseFacts(withBar(changes), LAYOUT_RECIPE)).toThrow(`invalid ${field}: `);
  });

  it('only a recipe that asks for a layout gets one, with the details of each bar', () => {
    expect(() => parseFacts(FACTS, LAYOUT_RECIPE)).toThrow('invalid facts.layout: ');
    expect(() => parseFacts({ ...LAYOUT, layout: [BAR, BAR] }, LAYOUT_RECIPE)).toThrow('invalid facts.layout: ');
    expect(() => parseFacts(LAYOUT, composeTransparentRecipe(CANVAS, OVERLAYS))).toThrow('invalid facts.layout: ');
  });

  it('a layout has at most as many bars as there are cues and words', () => {
    const facts = { ...FACTS, bars: [], layout: many(3_501, BAR) };
    expect(() => parseFacts(facts, LAYOUT_RECIPE)).toThrow('invalid facts.layout: ');
  });
});

describe('the report of a sound', () => {
  const recipe = must(
    composeSoundRecipe(composeVideoRecipe(VIDEO_PROBE, [], DEFAULT_VIDEO_LIMITS)),
    'the sound of the video',
  );
  const facts = { ...NOTHING_DRAWN, audible: '01'.repeat(10) };

  it('the measurement arrives', () => {
    expect(parseFacts(facts, recipe)).toEqual(facts);
  });

  it.each([
    ['other characters', { audible: '2'.repeat(20) }],
    ['too many windows', { audible: '1'.repeat(21) }],
    ['too few windows', { audible: '1'.repeat(19) }],
    ['a number', { audible: 1 }],
    ['far too many windows', { audible: '1'.repeat(1_000_000) }],
  ])('a measurement is refused with the name of the field: %s', (_what, changes) => {
    expect(() => parseFacts({ ...facts, ...changes }, recipe)).toThrow('invalid facts.audible: ');
  });

  it('only a recipe that extracts the sound gets a measurement', () => {
    const { audible: _, ...others } = facts;
    expect(() => parseFacts(others, recipe)).toThrow('invalid facts.audible: ');
    const overlay = { ...FACTS, audible: '1' };
    expect(() => parseFacts(overlay, composeTransparentRecipe(CANVAS, OVERLAYS))).toThrow('invalid facts.audible: ');
  });
});

describe('the report of a font', () => {
  const recipe = { kind: 'font' } as const;

  it('every detail of a font arrives', () => {
    expect(parseFacts(FONT_FACTS, recipe)).toEqual(FONT_FACTS);
    expect(parseFacts(withFont({ weights: [1] }), recipe)).toMatchObject({ font: { weights: [1] } });
  });

  it.each([
    ['family', { family: '' }],
    ['family', { family: 'a\u0000b' }],
    ['style', { style: ' Bold' }],
    ['style', { style: 'x'.repeat(129) }],
    ['weights', { weights: [] }],
    ['weights', { weights: [1, 2, 3] }],
    ['weights.0', { weights: [0] }],
    ['weights.0', { weights: [1_001] }],
    ['characters', { characters: 0 }],
    ['characters', { characters: 150_001 }],
    ['scripts', { scripts: many(100, 'Latin') }],
    ['scripts.0', { scripts: ['Klingon'] }],
  ])('a font is refused with the name of the field: %s of %j', (field, changes) => {
    expect(() => parseFacts(withFont(changes), recipe)).toThrow(`invalid facts.font.${field}: `);
  });

  it('only a recipe that writes a font gets one', () => {
    expect(() => parseFacts({ ...FONT_FACTS, font: undefined }, recipe)).toThrow('invalid facts.font: ');
    const { font: _, ...others } = FONT_FACTS;
    expect(() => parseFacts(others, recipe)).toThrow('invalid facts.font: ');
    expect(() => parseFacts({ ...FACTS, font: FONT }, composeTransparentRecipe(CANVAS, OVERLAYS))).toThrow(
      'invalid facts.font: ',
    );
  });
});

describe('the facts of a render', () => {
  const recipe = composeTransparentRecipe(CANVAS, OVERLAYS);

  it('every fact of a render arrives', () => {
    const facts = {
      ...FACTS,
      missingGlyphs: 3,
      warnings: ['missing_glyphs', 'audio_dropped'],
      sourcePixels: 'kept',
      quality: 85,
      timings: Object.fromEntries(many(32, 0).map((_, index) => [`step_${index}`, 604_800_000])),
    };
    expect(parseFacts(facts, recipe)).toEqual(facts);
  });

  it.each([
    ['facts.width', { height: 21 }],
    ['facts.missingGlyphs', { missingGlyphs: -1 }],
    ['facts.missingGlyphs', { missingGlyphs: 100_001 }],
    ['facts.warnings', { warnings: undefined }],
    ['facts.warnings', { warnings: many(17, 'upscaled') }],
    ['facts.quality', { quality: 101 }],
    ['facts.quality', { quality: -1 }],
    ['facts.logo.height', { logo: { left: 1, top: 2, width: 3 } }],
    ['facts.timings.decode', { timings: { decode: -1 } }],
    ['facts.timings.decode', { timings: { decode: 604_800_001 } }],
    ['facts.bars.0.top', { bars: [{ top: -1_000_001, height: 1 }] }],
    ['facts.bars.0.height', { bars: [{ top: 1, height: -1 }] }],
  ])('the facts of a render are refused with the name of the field: %s of %j', (field, changes) => {
    expect(() => parseFacts({ ...FACTS, ...changes }, recipe)).toThrow(`invalid ${field}: `);
  });

  it('a caption with timed words may have a page for each of them', () => {
    const words = [0, 2, 4].map((from) => ({ from, to: from + 1, start: from, end: from + 1 }));
    const paged = composeLayoutRecipe(CANVAS, [{ ...OVERLAY_WITH_PAGES, words }]);
    const withBars = (count: number) => ({
      ...FACTS,
      bars: many(count, { top: 1, height: 2 }),
      layout: many(count, BAR),
    });
    expect(parseFacts(withBars(1), paged).bars).toHaveLength(1);
    expect(parseFacts(withBars(3), paged).bars).toHaveLength(3);
    expect(() => parseFacts(withBars(0), paged)).toThrow('invalid facts.bars: ');
    expect(() => parseFacts(withBars(4), paged)).toThrow('invalid facts.bars: ');
    const withoutWords = composeLayoutRecipe(CANVAS, [OVERLAY_WITH_PAGES]);
    expect(parseFacts(withBars(1), withoutWords).bars).toHaveLength(1);
    expect(() => parseFacts(withBars(2), withoutWords)).toThrow('invalid facts.bars: ');
  });
});

describe('the probe of an image', () => {
  const CHROMATICITIES = [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0, 1];

  it.each([
    { orientation: 2 },
    { orientation: 8 },
    { color: { from: 'profile', space: 'srgb' } },
    { color: { from: 'profile', space: 'b-w' } },
    { color: { from: 'cmyk' } },
    ...['srgb', 'pq', 'hlg', 2.2].map((transfer) => ({
      color: { from: 'encoding', bits: 8, encoding: { transfer, chromaticities: CHROMATICITIES } },
    })),
    { color: { from: 'encoding', bits: 16, encoding: { transfer: 'pq', chromaticities: CHROMATICITIES } } },
  ])('the probe of an image may say %j', (changes) => {
    expect(parseProbe({ ...IMAGE_PROBE, ...changes }, 'png')).toEqual({ ...IMAGE_PROBE, ...changes });
  });

  it.each([
    ['orientation', { orientation: 1 }],
    ['orientation', { orientation: 9 }],
    ['color.from', { color: { from: 'nowhere' } }],
    ['color.space', { color: { from: 'profile', space: 'cmyk' } }],
    [
      'color.bits',
      { color: { from: 'encoding', bits: 12, encoding: { transfer: 1, chromaticities: CHROMATICITIES } } },
    ],
    ...[many(7, 0.5), [...many(7, 0.5), 1.1], [...many(7, 0.5), -0.1]].map((chromaticities) => [
      'color.encoding.chromaticities',
      { color: { from: 'encoding', bits: 8, encoding: { transfer: 'pq', chromaticities } } },
    ]),
  ] as [string, object][])(
    'the probe of an image is refused with the name of the field: %s of %j',
    (field, changes) => {
      expect(() => parseProbe({ ...IMAGE_PROBE, ...changes }, 'png')).toThrow(`invalid probe.${field}`);
    },
  );
});

describe('the probe of a video', () => {
  const { video, audio } = VIDEO_PROBE;
  const tagged = (tags: object) => ({ ...VIDEO_PROBE, video: { ...video, tags: { ...video.tags, ...tags } } });

  it.each([
    ...['rgb', 'bt709', 'bt601', 'fcc', 'smpte240m', 'ycgco', 'bt2020', 'ictcp', 'unspecified'].map((matrix) => ({
      matrix,
    })),
    ...['bt709', 'bt601', 'bt2020', 'p3', 'unspecified'].map((primaries) => ({ primaries })),
    ...['sdr', 'pq', 'hlg'].map((transfer) => ({ transfer })),
    ...['limited', 'full'].map((range) => ({ range })),
  ])('the colors of a video may be tagged %j', (tags) => {
    expect(parseProbe(tagged(tags), 'mp4')).toEqual(tagged(tags));
  });

  it.each(['mp4', 'mov', 'webm', 'animation'] as const)('the probe of a video may have the format %s', (format) => {
    expect(parseProbe({ ...VIDEO_PROBE, format }, format)).toEqual({ ...VIDEO_PROBE, format });
  });

  it('every detail of a video arrives', () => {
    const probe = {
      ...VIDEO_PROBE,
      audio: { ...audio, action: 'encode' },
      isAudioDropped: true,
      keyframes: [0, 1.5],
    };
    expect(parseProbe(probe, 'mp4')).toEqual(probe);
  });

  it('a video that is shown turned has the turned size of its frames', () => {
    const orientation = { transpose: true, flipX: true, flipY: false };
    const turned = { ...VIDEO_PROBE, video: { ...video, orientation } };
    expect(() => parseProbe(turned, 'mp4')).toThrow('invalid probe.width: ');
    expect(parseProbe({ ...turned, width: 48, height: 64 }, 'mp4')).toMatchObject({ width: 48, height: 64 });
    expect(() => parseProbe({ ...VIDEO_PROBE, height: 49 }, 'mp4')).toThrow('invalid probe.width: ');
  });

  it.each([
    ['claimedSeconds', { durationSeconds: 3 }],
    ['video.index', { video: { ...video, index: 64 } }],
    ['video.timeBase.den', { video: { ...video, timeBase: { num: 1, den: 2 ** 31 } } }],
    ['video.pixelFormat', { video: { ...video, pixelFormat: 'yuv420p,evil' } }],
    ['video.pixelFormat', { video: { ...video, pixelFormat: '-yuv420p' } }],
    ['video.peakNits', { video: { ...video, peakNits: 10_001 } }],
    ['audio.action', { audio: { ...audio, action: 'drop' } }],
    ['keyframes', { keyframes: undefined }],
    ['keyframes', { keyframes: many(2_001, 1) }],
    ['keyframes.0', { keyframes: [-1] }],
    ['keyframes.0', { keyframes: [604_801] }],
  ])('the probe of a video is refused with the name of the field: %s of %j', (field, changes) => {
    expect(() => parseProbe({ ...VIDEO_PROBE, ...changes }, 'mp4')).toThrow(`invalid probe.${field}: `);
  });
});

describe('the messages of a worker', () => {
  it.each([
    { type: 'ready' },
    { type: 'ready', codecs: { ffmpeg: '8.0', available: { 'decode h264': true } } },
    { type: 'progress', id: 2, fraction: 0 },
    { type: 'progress', id: 2, fraction: 1 },
    { type: 'done', id: 2, result: { any: 'thing' } },
    { type: 'failed', id: 2, failure: { message: 'm' } },
    { type: 'failed', id: 2, failure: { code: 'cannot_fit', message: 'm', limit: { limit: 1, actual: 2 } } },
  ])('the message %j arrives', (message) => {
    expect(parseWorkerMessage(message)).toEqual(message);
  });

  it.each([
    ['message.type', { type: 'other' }],
    ['message.id', { type: 'done', id: 0 }],
    ['message.fraction', { type: 'progress', id: 1, fraction: 1.1 }],
    ['message.fraction', { type: 'progress', id: 1, fraction: -0.1 }],
    ['message.failure', { type: 'failed', id: 1 }],
    [
      'message.failure.limit.actual',
      { type: 'failed', id: 1, failure: { message: 'm', limit: { limit: 1, actual: -1 } } },
    ],
    ['message.codecs.ffmpeg', { type: 'ready', codecs: { ffmpeg: 'x'.repeat(101), available: {} } }],
  ])('a message is refused with the name of the field: %s of %j', (field, message) => {
    expect(() => parseWorkerMessage(message)).toThrow(`invalid ${field}: `);
  });

  it('the part of a step that is done is between 0 and 1', () => {
    expect([0, 0.5, 1].map((fraction) => parseProgress({ fraction }))).toEqual([0, 0.5, 1]);
    for (const fraction of [-0.1, 1.1, '1']) {
      expect(() => parseProgress({ fraction })).toThrow('invalid progress.fraction: ');
    }
  });

  it('a result is checked against its task', () => {
    const asset = { path: '/a.png', format: 'png', kind: 'image', bytes: 1 } as const;
    const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
    const recipe = composeTransparentRecipe(CANVAS, OVERLAYS);
    const probe = { type: 'probe', asset, limits } as const;
    const render = { type: 'render', job: { recipe, asset: undefined, output: '/b.png' } } as const;
    expect(parseResult(probe, IMAGE_PROBE)).toEqual(IMAGE_PROBE);
    expect(() => parseResult(probe, FACTS)).toThrow('invalid probe');
    expect(parseResult(render, FACTS)).toEqual(FACTS);
    expect(() => parseResult(render, IMAGE_PROBE)).toThrow('invalid facts');
  });

  it('the message of an invalid report is short, whatever the worker sent', () => {
    const timings = { ['x'.repeat(100_000)]: 1 };
    const parse = () => parseFacts({ ...FACTS, timings }, composeTransparentRecipe(CANVAS, OVERLAYS));
    expect(parse).toThrow(expect.objectContaining({ name: 'InvalidReport' }));
    expect(parse).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{1,300}$/u) }));
    expect(parse).toThrow(InvalidReport);
  });

  it('a worker announces at most 256 codecs', () => {
    const codecs = (count: number) => ({
      ffmpeg: '8.0',
      available: Object.fromEntries(many(count, 0).map((_, index) => [`decode ${index}`, true])),
    });
    expect(parseWorkerMessage({ type: 'ready', codecs: codecs(256) })).toMatchObject({ type: 'ready' });
    expect(() => parseWorkerMessage({ type: 'ready', codecs: codecs(257) })).toThrow(
      'invalid message.codecs.available',
    );
  });

  it('a worker on another machine may fail with more codes than a worker process, and not with any', () => {
    expect(['overloaded', 'asset_undecodable', 'shutting_down'].every((code) => isStepFailureCode(code as never))).toBe(
      true,
    );
    expect(isStepFailureCode('invalid_api_key')).toBe(false);
  });

  it('the limit of a failure is part of its error', () => {
    const limit = { limit: 60, actual: 61 };
    expect(toError({ code: 'asset_too_long', message: 'm', limit })).toMatchObject({ limit });
    expect(toError({ message: 'TypeError' }).message).toBe('render worker failed: TypeError');
  });

  it('a presence is bytes of JSON', () => {
    expect(() => parsePresence(new TextEncoder().encode('{}'))).toThrow('invalid presence.worker: ');
  });
});
