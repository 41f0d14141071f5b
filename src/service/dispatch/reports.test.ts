import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACTS, IMAGE_PROBE, VIDEO_PROBE } from '../../../test/dispatch/sample-reports.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { composeImageRecipe, composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../../engine/render/recipe.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../engine/render/video-recipe.ts';
import {
  InvalidReport,
  parseFacts,
  parsePresence,
  parseProbe,
  parseStepFailure,
  parseWorkerMessage,
  toError,
} from './reports.ts';

const OVERLAYS = [{ text: 'a', position: null }];
const TRANSPARENT = composeTransparentRecipe({ width: 10, height: 20 }, OVERLAYS);
const PRESENCE = {
  worker: '136baddd-222c-4011-a6ac-7c6054962783',
  slots: { image: 4, video: 1 },
  ready: { image: 3, video: 1 },
  busy: { image: 2, video: 0 },
  isDraining: false,
  protocol: 7,
  version: '0.2.0',
  codecs: { ffmpeg: '8.0', available: { 'decode h264': true } },
};
const FAILURE = { code: 'asset_too_long', message: 'm', isRetryable: false, limit: { limit: 1, actual: 2 } };

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe('the probe of an image', () => {
  it('the probe of an image is rebuilt from the fields of the schema', () => {
    expect(parseProbe({ ...IMAGE_PROBE, extra: 1 }, 'png')).toEqual(IMAGE_PROBE);
  });

  it.each([
    ['probe: ', null],
    ['probe.kind: ', { ...IMAGE_PROBE, kind: 'video' }],
    ['probe.width: ', { ...IMAGE_PROBE, width: -1 }],
    ['probe.width: ', { ...IMAGE_PROBE, width: 1.5 }],
    ['probe.height: ', { ...IMAGE_PROBE, height: 65_536 }],
    ['probe.isSrgb: ', { ...IMAGE_PROBE, isSrgb: undefined }],
  ])('an invalid probe of an image is refused with the name of the field: %s%j', (field, value) => {
    expect(() => parseProbe(value, 'png')).toThrow(`invalid ${field}`);
  });
});

describe('the probe of a video', () => {
  const { video, audio } = VIDEO_PROBE;

  it('the probe of a video is rebuilt from the fields of the schema', () => {
    expect(parseProbe({ ...VIDEO_PROBE, video: { ...video, extra: 1 } }, 'mp4')).toEqual(VIDEO_PROBE);
    expect(parseProbe({ ...VIDEO_PROBE, audio: null }, 'mp4')).toEqual({ ...VIDEO_PROBE, audio: null });
  });

  it('the probe of a video accepts a clip whose clock began long before it', () => {
    const shifted = { ...VIDEO_PROBE, audio: null, video: { ...video, start: 1e9, lastStart: 1e9 + 1, end: 1e9 + 2 } };
    expect(parseProbe(shifted, 'mp4')).toEqual(shifted);
  });

  it.each([
    ['probe.kind', IMAGE_PROBE],
    ['probe.format', { ...VIDEO_PROBE, format: 'mov' }],
    ['probe.frameRate', { ...VIDEO_PROBE, frameRate: Number.NaN }],
    ['probe.durationSeconds', { ...VIDEO_PROBE, durationSeconds: 0 }],
    ['probe.claimedSeconds', { ...VIDEO_PROBE, claimedSeconds: 1.9 }],
    ['probe.claimedSeconds', { ...VIDEO_PROBE, video: { ...video, start: -1 } }],
    ['probe.claimedSeconds', { ...VIDEO_PROBE, audio: { ...audio, end: 3 } }],
    ['probe.width', { ...VIDEO_PROBE, width: 66 }],
    ['probe.video.frames', { ...VIDEO_PROBE, video: { ...video, frames: undefined } }],
    ['probe.video.frames', { ...VIDEO_PROBE, video: { ...video, frames: 400_001 } }],
    ['probe.video.bitRate', { ...VIDEO_PROBE, video: { ...video, bitRate: 1e300 } }],
    ['probe.video.timeBase.num', { ...VIDEO_PROBE, video: { ...video, timeBase: { num: 0, den: 1 } } }],
    ['probe.video.decoder', { ...VIDEO_PROBE, video: { ...video, decoder: 'h264,evil' } }],
    ['probe.video.tags.matrix', { ...VIDEO_PROBE, video: { ...video, tags: { ...video.tags, matrix: 'toString' } } }],
    ['probe.audio.channels', { ...VIDEO_PROBE, audio: { ...audio, channels: 1e6 } }],
  ])('an invalid probe of a video is refused with the name of the field: %s', (field, value) => {
    expect(() => parseProbe(value, 'mp4')).toThrow(`invalid ${field}: `);
  });

  it.each([
    ['a time base of 1e307', 'probe.video.timeBase.den', { timeBase: { num: 1, den: 1e307 } }],
    ['an end of 1e12', 'probe.claimedSeconds', { end: 1e12 }],
  ])('the probe of a video is refused when %s would make planning segments take forever', (_what, field, changes) => {
    const value = { ...VIDEO_PROBE, video: { ...video, ...changes } };
    expect(() => parseProbe(value, 'mp4')).toThrow(`invalid ${field}: `);
  });
});

describe('the facts of a render', () => {
  it('render facts are rebuilt from the fields of the schema', () => {
    expect(parseFacts({ ...FACTS, frames: 3 }, TRANSPARENT)).toEqual(FACTS);
  });

  it.each([
    ['facts', null],
    ['facts', 'text'],
    ['facts.width', {}],
    ['facts.width', { ...FACTS, width: 0 }],
    ['facts.width', { ...FACTS, width: 11 }],
    ['facts.height', { ...FACTS, height: 1e9 }],
    ['facts.missingGlyphs', { ...FACTS, missingGlyphs: '1' }],
    ['facts.bars', { ...FACTS, bars: [] }],
    ['facts.bars.0.height', { ...FACTS, bars: [{ top: 1 }] }],
    ['facts.bars', { ...FACTS, bars: Array.from({ length: 11 }, () => ({ top: 1, height: 2 })) }],
    ['facts.timings.x\r\nset-cookie', { ...FACTS, timings: { 'x\r\nset-cookie': 1 } }],
    ['facts.timings.decode', { ...FACTS, timings: { decode: Number.NaN } }],
    ['facts.timings', { ...FACTS, timings: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`t${i}`, 1])) }],
  ])('invalid render facts are refused with the name of the field: %j of %j', (field, value) => {
    expect(() => parseFacts(value, TRANSPARENT)).toThrow(`invalid ${field}: `);
  });

  it('render facts may have another size than the image’s header stated, within the limit of pixels', () => {
    const recipe = composeImageRecipe(IMAGE_PROBE, OVERLAYS, { ...DEFAULT_IMAGE_LIMITS, imagePixels: 300 });
    expect(parseFacts({ ...FACTS, width: 11 }, recipe)).toMatchObject({ width: 11 });
    expect(() => parseFacts({ ...FACTS, width: 31 }, recipe)).toThrow('invalid facts.width: ');
  });
});

describe('a failure', () => {
  it('a failure is rebuilt from the fields of the schema', () => {
    expect(parseStepFailure({ ...FAILURE, extra: 1 })).toEqual(FAILURE);
  });

  it('a failure keeps only the beginning of a long message', () => {
    expect(parseStepFailure({ ...FAILURE, message: 'x'.repeat(10_000) }).message).toHaveLength(2_000);
  });

  it.each(['invalid_api_key', 'client_closed', 'nonsense', 7])('a failure with the code %j is refused', (code) => {
    expect(() => parseStepFailure({ ...FAILURE, code })).toThrow('invalid failure.code: ');
  });

  it('a failure of a worker process cannot have the codes of a worker node', () => {
    const failed = (code: string) => ({ type: 'failed', id: 1, failure: { code, message: 'm' } });
    expect(() => parseWorkerMessage(failed('overloaded'))).toThrow('invalid message.failure.code: ');
    expect(parseStepFailure({ ...FAILURE, code: 'overloaded' })).toMatchObject({ code: 'overloaded' });
  });

  it('the end of the processor time on another machine counts against the account', () => {
    const failure = { code: 'deadline_exceeded', message: 'used up', isRetryable: false };
    expect(toError(parseStepFailure(failure))).toMatchObject({ code: 'deadline_exceeded', usedUpTime: true });
  });

  it('a failure becomes the error it would have been in this process', () => {
    const error = toError({ code: 'asset_undecodable', message: 'broken' });
    expect(error).toMatchObject({ code: 'asset_undecodable', message: 'broken' });
    expect(toError({ message: 'TypeError' })).not.toHaveProperty('code');
  });
});

describe('the presence of a worker', () => {
  it('the presence of a worker is rebuilt from the fields of the schema', () => {
    expect(parsePresence(bytesOf({ ...PRESENCE, extra: 1 }))).toEqual(PRESENCE);
  });

  it.each([
    ['presence.worker', { worker: 1 }],
    ['presence.worker', { worker: 'a b' }],
    ['presence.worker', { worker: 'x'.repeat(65) }],
    ['presence.slots', { slots: null }],
    ['presence.slots.image', { slots: { image: 1_025, video: 0 } }],
    ['presence.busy.image', { busy: { image: -1, video: 0 } }],
    ['presence.ready.video', { ready: { image: 1 } }],
    ['presence.isDraining', { isDraining: 'no' }],
    ['presence.codecs.ffmpeg', { codecs: { available: {} } }],
  ])('an invalid presence is refused with the name of the field: %s of %j', (field, changes) => {
    expect(() => parsePresence(bytesOf({ ...PRESENCE, ...changes }))).toThrow(`invalid ${field}: `);
  });

  it("a presence that isn't JSON is refused", () => {
    expect(() => parsePresence(new Uint8Array([1, 2, 3]))).toThrow("invalid presence: isn't JSON");
  });
});

describe('any report', () => {
  const READY = { type: 'ready', codecs: PRESENCE.codecs };
  const valid: readonly (readonly [unknown, (value: unknown) => unknown])[] = [
    [READY, parseWorkerMessage],
    // `parseResult` checks the result against its task.
    [{ type: 'done', id: 1, result: {} }, (value) => ({ ...parseWorkerMessage(value), result: undefined })],
    [{ type: 'failed', id: 1, failure: { code: 'asset_too_long', message: 'm' } }, parseWorkerMessage],
    [IMAGE_PROBE, (value) => parseProbe(value, 'png')],
    [VIDEO_PROBE, (value) => parseProbe(value, 'mp4')],
    [FACTS, (value) => parseFacts(value, TRANSPARENT)],
    [FAILURE, parseStepFailure],
    [PRESENCE, (value) => parsePresence(bytesOf(value))],
  ];

  it('any JSON is accepted with finite numbers only, or refused as invalid', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const [, parse] of valid) expect(nonFiniteIn(parsedOrInvalid(parse, value))).toEqual([]);
      }),
      { numRuns: randomCases({ usually: 60, all: 300 }) },
    );
  });

  it('a changed report is accepted with finite numbers only, or refused as invalid', () => {
    fc.assert(
      fc.property(fc.constantFrom(...valid), fc.nat(), mutation, ([report, parse], at, value) => {
        expect(nonFiniteIn(parsedOrInvalid(parse, mutate(report, at, value)))).toEqual([]);
      }),
      { numRuns: randomCases({ usually: 400, all: 2_000 }) },
    );
  });

  it('a valid probe leads to a recipe with finite numbers', () => {
    fc.assert(
      fc.property(fc.nat(), mutation, (at, value) => {
        const probe = outcomeOf(() => parseProbe(mutate(VIDEO_PROBE, at, value), 'mp4'));
        if (probe?.kind !== 'video') return;
        const recipe = outcomeOf(() => composeVideoRecipe(probe, OVERLAYS, DEFAULT_VIDEO_LIMITS));
        if (recipe === undefined) return;
        expect(nonFiniteIn(recipe)).toEqual([]);
      }),
      { numRuns: randomCases({ usually: 200, all: 1_000 }) },
    );
  });
});

/** Values that a worker could put in the place of a field. `undefined` removes it. */
const mutation = fc.oneof(
  fc.constant(undefined),
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -1, 0.5, 1e307, Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, '', '__proto__', [], {}, null, true),
  fc.jsonValue(),
);

/** Returns a copy with the value in the place of one field, anywhere inside. */
function mutate(report: unknown, at: number, value: unknown): unknown {
  const paths = pathsIn(report);
  const path = paths[at % paths.length] ?? [];
  return replace(report, path, value);
}

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

function replace(report: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(report))
    return report.map((item, index) => (String(index) === key ? replace(item, rest, value) : item));
  const entries = Object.entries(Object(report));
  return Object.fromEntries(entries.map(([name, inner]) => [name, name === key ? replace(inner, rest, value) : inner]));
}

/** Any error other than `InvalidReport` fails the test. */
function parsedOrInvalid(parse: (value: unknown) => unknown, value: unknown): unknown {
  try {
    return parse(value);
  } catch (error) {
    if (error instanceof InvalidReport) return undefined;
    throw error;
  }
}

/** Returns the paths of numbers that aren't finite. */
function nonFiniteIn(value: unknown): string[] {
  return pathsIn(value)
    .filter((path) => Number.isNaN(valueAt(value, path)) || Math.abs(Number(valueAt(value, path))) === Infinity)
    .map((path) => path.join('.'));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => new Map(Object.entries(Object(inner))).get(key), value);
}

function outcomeOf<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
