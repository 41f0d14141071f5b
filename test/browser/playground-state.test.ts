// The state of the playground without a browser: drafts and links, undo, requests and code, snapping, times, words and prices.

import { describe, expect, it } from 'vitest';
import { withWord } from '../../src/site/browser/playground/caption-pages.ts';
import {
  type Draft,
  draftFromJson,
  draftToJson,
  EMPTY_DRAFT,
  fromFragment,
  newBar,
  toFragment,
} from '../../src/site/browser/playground/draft.ts';
import {
  withBar,
  withCopy,
  withField,
  withMovedBar,
  withNewBar,
  withoutBar,
} from '../../src/site/browser/playground/edits.ts';
import { type EditHistory, newHistory, record, redo, undo } from '../../src/site/browser/playground/history.ts';
import { type PriceRules, quote, type RenderWork } from '../../src/site/browser/playground/payer.ts';
import { nextTarget, snapTargets, snapTo } from '../../src/site/browser/playground/snap.ts';
import { StateStore } from '../../src/site/browser/playground/store.ts';
import { ticksOf, withEnd } from '../../src/site/browser/playground/times.ts';

const DRAFT: Draft = {
  ...EMPTY_DRAFT,
  bars: [newBar({ text: 'שלום 👋 <b>', position: 33.3, start: 1, end: 2.5 })],
  fields: { preset: 'box', color: '#ff0000', shape: '9:16' },
  sample: 'bus.webp',
};

/** Ids differ in every visit. */
const stored = (draft: Draft | undefined): unknown => draft && JSON.parse(draftToJson(draft));

describe('a draft', () => {
  it('a draft survives a link and contains neither a key nor a file', () => {
    const fragment = toFragment(DRAFT) ?? '';
    expect(fragment).toMatch(/^draft=[\w-]+$/u);
    expect(stored(fromFragment(`#${fragment}`))).toEqual(stored(DRAFT));
  });

  it('a draft that is too long is refused as a link', () => {
    expect(toFragment({ ...DRAFT, captions: 'x'.repeat(8_000) })).toBeUndefined();
  });

  it.each(['', '#draft=', '#draft=%', '#draft=AAAA', '#other', `#draft=${btoa('[]')}`, `#draft=${btoa('{"bars":1}')}`])(
    'the broken link %j gives no draft',
    (fragment) => {
      expect(fromFragment(fragment)).toBeUndefined();
    },
  );

  it('a draft from a stranger keeps only values that make sense', () => {
    const hostile = {
      bars: [
        null,
        'text',
        { text: 5, position: 101, start: -1, end: Number.NaN, id: 'x" onclick=' },
        { text: 'x'.repeat(5_000), position: '50' },
        ...Array.from({ length: 20 }, () => ({ text: 'many' })),
      ],
      fields: { preset: 'box', onclick: 'alert(1)', color: { toString: 1 }, size: 'x'.repeat(100), shape: ['9:16'] },
      key: 'sb_live_secret',
    };
    const draft = draftFromJson(() => JSON.stringify(hostile));
    expect(draft?.bars).toHaveLength(8);
    expect(draft?.bars.every(({ id }) => /^bar-\d+$/u.test(id))).toBe(true);
    expect(stored(draft)).toMatchObject({
      bars: [{ text: '' }, { text: 'x'.repeat(2_000) }, ...Array.from({ length: 6 }, () => ({ text: 'many' }))],
    });
    expect(draft).toEqual({ ...EMPTY_DRAFT, bars: draft?.bars, fields: { preset: 'box', size: 'x'.repeat(50) } });
  });

  it('a draft of an earlier version keeps its look, format and shape', () => {
    const earlier = {
      bars: [{ text: 'a' }],
      look: { preset: 'box' },
      format: 'jpeg',
      colorSpace: 'srgb',
      maxWords: '3',
    };
    const draft = draftFromJson(() => JSON.stringify({ ...earlier, shape: '1:1', isOverlayOnly: true }));
    const fields = {
      preset: 'box',
      format: 'jpeg',
      color_space: 'srgb',
      max_words: '3',
      shape: '1:1',
      overlay_only: 'on',
    };
    expect(draft?.fields).toEqual(fields);
  });

  it('a draft is undefined for text other than JSON and for storage that is switched off', () => {
    expect(draftFromJson(() => '{')).toBeUndefined();
    expect(
      draftFromJson(() => {
        throw new Error('storage is off');
      }),
    ).toBeUndefined();
  });
});

describe('the edits of a draft', () => {
  const [one, two] = [newBar({ text: 'one', position: 20 }), newBar({ text: 'two' })];
  const draft: Draft = { ...EMPTY_DRAFT, bars: [one, two] };
  const texts = ({ bars }: Draft): string[] => bars.map(({ text }) => text);

  it('the edits of a draft add, copy, move and remove captions, and leave the draft itself alone', () => {
    expect(texts(withNewBar(draft, newBar({ text: 'three' }), one.id))).toEqual(['one', 'three', 'two']);
    const copied = withCopy(draft, one.id);
    expect(copied.bars[1]).toMatchObject({ text: 'one', position: undefined });
    expect(new Set(copied.bars.map(({ id }) => id)).size).toBe(3);
    expect(texts(withMovedBar(draft, two.id, -1))).toEqual(['two', 'one']);
    expect(withMovedBar(draft, two.id, 1)).toBe(draft);
    expect(texts(withoutBar(draft, one.id))).toEqual(['two']);
    expect(withBar(draft, two.id, { start: 1 }).bars).toEqual([one, { ...two, start: 1 }]);
    expect(texts(draft)).toEqual(['one', 'two']);
  });

  it('the edits of a draft add no eleventh caption', () => {
    let full = draft;
    for (let count = 0; count < 12; count += 1) full = withNewBar(full, newBar({ text: '' }));
    expect(full.bars).toHaveLength(10);
  });

  it('a field at its default is absent', () => {
    const changed = withField(draft, 'preset', 'box');
    expect(changed.fields).toEqual({ preset: 'box' });
    expect(withField(changed, 'preset', '').fields).toEqual({});
  });
});

describe('the edit history', () => {
  const recorded = (texts: readonly [text: string, key?: string, now?: number][]): EditHistory<string> => {
    let history = newHistory('a');
    for (const [text, key, now = 0] of texts) history = record(history, text, { key, now });
    return history;
  };
  const undone = (history: EditHistory<string>, count: number): string[] => {
    const found: string[] = [];
    let current = history;
    for (let step = 0; step < count; step += 1) {
      current = undo(current);
      found.push(current.current);
    }
    return found;
  };

  it('the edit history undoes and redoes steps, and forgets undone ones after a change', () => {
    const history = recorded([['b'], ['c']]);
    expect(undone(history, 3)).toEqual(['b', 'a', 'a']);
    const back = redo(undo(undo(history)));
    expect(back.current).toBe('b');
    const changed = record(back, 'd', { now: 0 });
    expect([changed.future, redo(changed).current, undo(changed).current]).toEqual([[], 'd', 'b']);
  });

  it('the edit history merges changes of one field in quick succession, but not of two fields or after a pause', () => {
    const history = recorded([
      ['b', 'text 1'],
      ['bc', 'text 1'],
      ['bcd', 'text 1'],
      ['other', 'text 2'],
      ['other!', 'text 2', 1_500],
    ]);
    expect(undone(history, 3)).toEqual(['other', 'bcd', 'a']);
  });

  it('the edit history takes a drag back as one step, however long it takes', () => {
    let history = newHistory('a');
    for (const [now, text] of ['b', 'c', 'd'].entries()) {
      history = record(history, text, { key: 'gesture 1', isGesture: true, now: now * 60_000 });
    }
    expect(undo(history).current).toBe('a');
    const next = record(history, 'e', { key: 'gesture 2', isGesture: true, now: 120_001 });
    expect(undone(next, 2)).toEqual(['d', 'a']);
  });

  it('the edit history ignores a change that changes nothing', () => {
    expect(recorded([['a']]).past).toEqual([]);
  });
});

describe('the store', () => {
  it('the store draws a view when a part that it watches was replaced, also by another view', () => {
    const store = new StateStore({ one: 1, two: 1, sum: 0 });
    const drawn: number[] = [];
    store.watch(['one', 'two'], ({ one, two }) => store.update({ sum: one + two }));
    store.watch(['sum'], ({ sum }) => drawn.push(sum));
    store.update({ one: 5 });
    store.update({ one: 5 });
    store.update({ two: 2 });
    expect(drawn).toEqual([2, 6, 7]);
  });
});

describe('snapping', () => {
  const targets = snapTargets(10, [{ top: 70, height: 10, number: 2 }]);

  it('offers edges, thirds, the center and both sides of other bars, from top to bottom', () => {
    expect(targets.map(({ name, position }) => [name, position])).toEqual([
      ['top edge', 0],
      ['upper third', 33.333],
      ['center', 50],
      ['above caption 2', 65],
      ['lower third', 66.667],
      ['below caption 2', 85],
      ['bottom edge', 100],
    ]);
  });

  it('takes the nearest target within the tolerance', () => {
    expect(snapTo(50.8, targets, 1)?.name).toBe('center');
    expect(snapTo(6, targets, 1)?.name).toBe('top edge');
    expect(snapTo(40, targets, 1)).toBeUndefined();
  });

  it('jumps to the next target for the keyboard', () => {
    expect(nextTarget(50, targets, 1)?.name).toBe('above caption 2');
    expect(nextTarget(50, targets, -1)?.name).toBe('upper third');
    expect(nextTarget(5, targets, -1)).toBeUndefined();
  });

  it('leaves out a place beside a bar that is outside the image', () => {
    const names = snapTargets(10, [{ top: 0, height: 10, number: 1 }]).map(({ name }) => name);
    expect(names).toContain('below caption 1');
    expect(names).not.toContain('above caption 1');
  });
});

describe('the timeline', () => {
  it('the timeline has ticks that are far enough apart, whatever its length', () => {
    expect(ticksOf(6, 400)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(ticksOf(60, 400)).toEqual([0, 10, 20, 30, 40, 50, 60]);
    expect(ticksOf(0.4, 400)).toEqual([0]);
    for (const seconds of [1, 7.3, 59, 300, 3_600]) expect(ticksOf(seconds, 400).length).toBeLessThan(9);
  });

  it('an end of a caption stays in the video and apart from the other, and has no time at the edge', () => {
    const bar = { start: 2, end: 4 };
    expect(withEnd(bar, 'start', 9, 6)).toEqual({ start: 3.9 });
    expect(withEnd(bar, 'end', 0, 6)).toEqual({ end: 2.1 });
    expect(withEnd(bar, 'start', -1, 6)).toEqual({ start: undefined });
    expect(withEnd(bar, 'end', 7, 6)).toEqual({ end: undefined });
  });
});

describe('a changed word', () => {
  const words = [
    { text: 'Hello', start: 0, end: 0.2 },
    { text: 'frend.', start: 0.25, end: 0.5 },
  ];
  const pages = [
    { text: 'Hello frend.', start: 0, end: 0.9, words },
    { text: 'Bye', start: 1, end: 2, words: [{ text: 'Bye', start: 1, end: 2 }] },
  ];

  it('a changed word keeps the times of all words', () => {
    const captions = withWord(pages, 0, 1, 'friend.');
    expect(captions).toContain('00:00:00.000 --> 00:00:00.900\nHello <00:00:00.250>friend.\n');
    expect(captions).toContain('00:00:01.000 --> 00:00:02.000\nBye\n');
  });

  it('a removed word leaves no gap, and a page without words is gone', () => {
    expect(withWord(pages, 0, 0, '')).toContain('--> 00:00:00.900\n<00:00:00.250>frend.\n');
    expect(withWord(pages, 1, 0, '')).not.toContain('00:00:01');
  });
});

describe('the price before the click', () => {
  const guests = { imageBytes: 25_000_000, videoBytes: 50_000_000, videoSeconds: 10 };
  const terms: PriceRules = { maxSide: 1_280, unmarkedSide: 720, guests, signUpPath: '/signup' };
  const limits = { imageBytes: 25_000_000, videoBytes: 200_000_000, videoSeconds: 60 };
  const account = {
    email: 'a@example.com',
    mode: 'live',
    credits: 3,
    token: 't',
    limits,
    styles: [],
    logos: [],
  } as const;
  const video = (seconds: number, bytes = 1): RenderWork => ({ seconds, file: { bytes, seconds } });
  const image = (bytes: number): RenderWork => ({ seconds: undefined, file: { bytes, seconds: undefined } });

  it.each([
    ['an image of a guest', { ...image(1), key: '' }, /^Free, with a watermark and at most 1,280/u, true],
    ['a short clip of a guest', { ...video(10.3), key: '' }, /^Free, with a watermark\. One clip per day/u, true],
    ['a long clip of a guest', { ...video(11), key: '' }, /over 10 seconds need an API key\. Get one free/u, false],
    ['a test key', { ...video(60), key: 'sb_test_x' }, /^Free with a test key/u, true],
    ['a live key', { ...video(12), key: 'sb_live_x' }, /^12\.0 s = 3 credits\.$/u, true],
    ['an account with enough credits', { ...video(12), key: '', account }, /3 credits\. You have 3 left\.$/u, true],
    ['an account without', { ...video(20), key: '', account }, /4 credits\. You have 3 left, which isn't/u, false],
    [
      'a large image',
      { ...image(31_240_000), key: '' },
      /^This file has 31\.2 MB\. Images can have up to 25 MB\.$/u,
      false,
    ],
    ['a large video', { ...video(5, 60_000_000), key: '' }, /60 MB\. Videos can have up to 50 MB\.$/u, false],
    ['a large video of an account', { ...video(5, 60_000_000), key: '', account }, /^5\.0 s = 1 credit/u, true],
    ['a long video of an account', { ...video(90), key: '', account }, /90\.0 seconds\. Your plan allows 60\./u, false],
    ['a large file with a key', { ...image(31_240_000), key: 'sb_live_x' }, /^1 credit\.$/u, true],
    ['a cover of a long video', { ...video(90), seconds: undefined, key: '', account }, /Your plan allows 60/u, false],
    ['a clip of captions', { seconds: 5, isClip: true, key: '' }, /^Clips of captions need an API key/u, false],
    ['a clip of captions of an account', { seconds: 5, isClip: true, key: '', account }, /^5\.0 s = 1 credit/u, true],
  ])('the price is shown before the click for %s', (_name, order, text, isPossible) => {
    const shown = quote({ account: undefined, ...order }, terms);
    expect(shown.text).toMatch(text);
    expect(shown.isPossible).toBe(isPossible);
  });

  it('the price before the click asks for a key when free clips are switched off', () => {
    const order = { ...video(2), key: '', account: undefined };
    expect(quote(order, { ...terms, guests: { ...guests, videoSeconds: 0 }, signUpPath: undefined })).toEqual({
      text: 'Videos need an API key.',
      isPossible: false,
    });
  });
});
