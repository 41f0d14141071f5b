import { describe, expect, it } from 'vitest';
import { checkFacts, checkFailure, checkProbe, toError } from './reported.ts';
import { parseTicket } from '../shared/wire.ts';

const facts = { width: 10, height: 20, bars: [{ top: 2, height: 6 }], missingGlyphs: 0, timings: { decode: 1.5 } };

describe('what a worker reports', () => {
  it('is taken when it is plausible', () => {
    expect(checkFacts(facts)).toEqual(facts);
    const probe = { kind: 'image', width: 10, height: 20, isSrgb: true };
    expect(checkProbe(probe, 'image')).toBe(probe);
    expect(
      checkFailure({ code: 'asset_too_long', message: 'm', again: false, limit: { limit: 1, actual: 2 } }),
    ).toEqual({
      code: 'asset_too_long',
      message: 'm',
      again: false,
      limit: { limit: 1, actual: 2 },
    });
  });

  it.each([
    null,
    'text',
    {},
    { ...facts, width: 0 },
    { ...facts, height: 1e9 },
    { ...facts, missingGlyphs: '1' },
    { ...facts, bars: [{ top: 1 }] },
    { ...facts, bars: Array.from({ length: 11 }, () => ({ top: 1, height: 2 })) },
    { ...facts, timings: { 'x\r\nset-cookie': 1 } },
    { ...facts, timings: { decode: Number.NaN } },
  ])('is refused as facts: %j', (value) => {
    expect(() => checkFacts(value)).toThrow('implausible');
  });

  it.each([
    null,
    { kind: 'video', width: 1, height: 1 },
    { kind: 'image', width: -1, height: 1 },
    { kind: 'image', width: 1.5, height: 1 },
  ])('is refused as the probe of an image: %j', (value) => {
    expect(() => checkProbe(value, 'image')).toThrow('implausible');
  });

  const cut = { pts: -5, frames: 3, decodeFrom: 0, decodeTo: 4 };
  const video = {
    kind: 'video',
    width: 2,
    height: 2,
    durationSeconds: 1,
    claimedSeconds: 1,
    frameRate: 30,
    video: { frames: 30 },
  };

  it('says where a video can be cut, or nothing about it', () => {
    expect(checkProbe({ ...video, cuts: [cut] }, 'video')).toMatchObject({ cuts: [cut] });
    expect(checkProbe(video, 'video')).toMatchObject({ cuts: [] });
  });

  it.each([
    { ...video, frameRate: Number.NaN },
    { ...video, cuts: 'none' },
    { ...video, cuts: [null] },
    { ...video, cuts: [{ ...cut, frames: 1.5 }] },
    { ...video, cuts: [{ ...cut, decodeTo: undefined }] },
    { ...video, cuts: Array.from({ length: 1_001 }, () => cut) },
  ])('is refused as the probe of a video: %j', (value) => {
    expect(() => checkProbe(value, 'video')).toThrow('implausible');
  });

  it('is refused as a failure that only the front can have', () => {
    for (const code of ['invalid_api_key', 'client_closed', 'nonsense', 7]) {
      expect(() => checkFailure({ code, message: 'm', again: false })).toThrow('implausible');
    }
  });

  it('becomes the error it would have been here', () => {
    expect(toError({ code: 'asset_undecodable', message: 'broken', again: false })).toMatchObject({
      code: 'asset_undecodable',
      message: 'broken',
    });
    expect(toError({ code: undefined, message: 'TypeError', again: false })).not.toHaveProperty('code');
  });
});

describe('a ticket', () => {
  const ticket = {
    front: 'http://front:8081',
    session: '136baddd-222c-4011-a6ac-7c6054962783',
    generation: 1,
    token: 't',
    expires: 5,
  };
  const parse = (value: unknown) => parseTicket(new TextEncoder().encode(JSON.stringify(value)));

  it('is read as it was written', () => {
    expect(parse(ticket)).toEqual(ticket);
  });

  it.each([
    null,
    [],
    { ...ticket, front: 'file:///etc/passwd' },
    { ...ticket, front: 'http://' },
    { ...ticket, session: '../../x' },
    { ...ticket, generation: '1' },
    { ...ticket, token: 1 },
    { ...ticket, expires: undefined },
  ])('is refused when it is none: %j', (value) => {
    expect(parse(value)).toBeUndefined();
  });

  it('is refused when it is no JSON', () => {
    expect(parseTicket(new Uint8Array([0xff, 0x00]))).toBeUndefined();
  });
});
