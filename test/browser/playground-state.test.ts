// The state of the playground without a browser: drafts and links, undo, snapping and prices.

import { describe, expect, it } from 'vitest';
import {
  type Draft,
  EMPTY_DRAFT,
  fromFragment,
  parseDraft,
  parseJson,
  toFragment,
} from '../../src/dashboard/browser/playground/draft.ts';
import { EditHistory } from '../../src/dashboard/browser/playground/history.ts';
import { type PriceRules, quote } from '../../src/dashboard/browser/playground/payer.ts';
import { nextTarget, snapTargets, snapTo } from '../../src/dashboard/browser/playground/snap.ts';

const DRAFT: Draft = {
  ...EMPTY_DRAFT,
  bars: [{ text: 'שלום 👋 <b>', position: 33.3, start: 1, end: 2.5 }],
  look: { preset: 'box', color: '#ff0000' },
  shape: '9:16',
  sample: 'bus.webp',
};

describe('a draft', () => {
  it('a draft survives a link and contains neither a key nor a file', () => {
    const fragment = toFragment(DRAFT) ?? '';
    expect(fragment).toMatch(/^draft=[\w-]+$/u);
    expect(fromFragment(`#${fragment}`)).toEqual(DRAFT);
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
        { text: 5, position: 101, start: -1, end: Number.NaN },
        { text: 'x'.repeat(5_000), position: '50' },
        ...Array.from({ length: 20 }, () => ({ text: 'many' })),
      ],
      look: { preset: 'box', onclick: 'alert(1)', color: { toString: 1 }, size: 'x'.repeat(100) },
      key: 'sb_live_secret',
      shape: ['9:16'],
      isOverlayOnly: 'yes',
    };
    const draft = parseDraft(JSON.parse(JSON.stringify(hostile)));
    expect(draft?.bars).toHaveLength(8);
    expect(draft?.bars.slice(0, 2)).toEqual([{ text: '' }, { text: 'x'.repeat(2_000) }]);
    expect(draft).toEqual({
      ...EMPTY_DRAFT,
      bars: draft?.bars,
      look: { preset: 'box', size: 'x'.repeat(40) },
    });
  });

  it('a draft is undefined for text other than JSON and for storage that is switched off', () => {
    expect(parseJson(() => '{')).toBeUndefined();
    expect(
      parseJson(() => {
        throw new Error('storage is off');
      }),
    ).toBeUndefined();
  });
});

describe('the edit history', () => {
  const start = () => {
    let now = 0;
    const history = new EditHistory('a', () => now);
    return { history, wait: (ms: number) => (now += ms) };
  };

  it('the edit history undoes and redoes steps, and forgets undone ones after a change', () => {
    const { history } = start();
    history.record('b');
    history.record('c');
    expect([history.undo(), history.undo(), history.undo()]).toEqual(['b', 'a', undefined]);
    expect(history.redo()).toBe('b');
    history.record('d');
    expect([history.canRedo, history.redo(), history.undo()]).toEqual([false, undefined, 'b']);
  });

  it('the edit history merges changes of one field in quick succession, but not of two fields or after a pause', () => {
    const { history, wait } = start();
    for (const text of ['b', 'bc', 'bcd']) history.record(text, 'text 1');
    history.record('other', 'text 2');
    wait(1_500);
    history.record('other!', 'text 2');
    expect([history.undo(), history.undo(), history.undo()]).toEqual(['other', 'bcd', 'a']);
  });

  it('the edit history ignores a change that changes nothing', () => {
    const { history } = start();
    history.record('a');
    expect(history.canUndo).toBe(false);
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

describe('the price before the click', () => {
  const terms: PriceRules = {
    maxSide: 1_280,
    freeSeconds: 10,
    signUpPath: '/signup',
  };
  const account = { email: 'a@example.com', mode: 'live', credits: 3, token: 't' } as const;

  it.each([
    ['an image of a guest', { seconds: undefined, key: '' }, /^Free, with a watermark and at most 1,280/u, true],
    ['a short clip of a guest', { seconds: 10.3, key: '' }, /^Free, with a watermark\. One clip per day/u, true],
    ['a long clip of a guest', { seconds: 11, key: '' }, /over 10 seconds need an API key\. Get one free/u, false],
    ['a test key', { seconds: 60, key: 'sb_test_x' }, /^Free with a test key/u, true],
    ['a live key', { seconds: 12, key: 'sb_live_x' }, /^12\.0 s = 3 credits\.$/u, true],
    ['an account with enough credits', { seconds: 12, key: '', account }, /3 credits\. You have 3 left\.$/u, true],
    ['an account without', { seconds: 20, key: '', account }, /4 credits\. You have 3 left, which isn't/u, false],
  ])('the price is shown before the click for %s', (_name, order, text, isPossible) => {
    const shown = quote({ account: undefined, ...order }, terms);
    expect(shown.text).toMatch(text);
    expect(shown.isPossible).toBe(isPossible);
  });

  it('the price before the click asks for a key when free clips are switched off', () => {
    const order = { seconds: 2, key: '', account: undefined };
    expect(quote(order, { ...terms, freeSeconds: 0, signUpPath: undefined })).toEqual({
      text: 'Videos need an API key.',
      isPossible: false,
    });
  });
});
