import { describe, expect, it } from 'vitest';
import { snippetsFor } from '../snippets.ts';
import { type DraftFields, EMPTY_DRAFT, newBar } from './draft.ts';
import { withBar } from './edits.ts';
import { newHistory } from './history.ts';
import type { Media } from './media.ts';
import { captionFields, type Composed, formOf, momentOf, previewOf, snippetOf } from './request.ts';
import { factsOf } from './result.ts';
import { savedStyleOf } from './save-style.ts';
import { placedBars } from './stage.ts';
import { formatsOf, secondsOf, sourceOf, targetOf } from './state.ts';

interface Setup {
  readonly fields?: DraftFields;
  readonly captions?: string;
  readonly media?: Partial<Media>;
  readonly time?: number;
  readonly account?: Composed['account'];
}

const PHOTO = { kind: 'image', width: 1_080, height: 1_920, seconds: undefined } as const;
const VIDEO = { kind: 'video', width: 1_920, height: 1_080, seconds: 12, file: new File(['v'], 'clip.mp4') } as const;
const SUBTITLES = '1\n00:00:00,000 --> 00:00:01,500\nHello\n';
const BAR = newBar({ text: ' Hi ', start: 1, end: 2 });

function compose({ fields = {}, captions = '', media = {}, time = 0, account }: Setup = {}): Composed & {
  readonly pages: undefined;
} {
  const file = new File(['photo'], 'photo.jpg');
  return {
    history: newHistory({ ...EMPTY_DRAFT, bars: [BAR, newBar({ text: '  ' })], fields, captions }),
    media: { ...PHOTO, file, sample: '', release: () => undefined, element: {} as HTMLImageElement, ...media },
    account,
    time,
    pages: undefined,
  };
}

const sent = (setup: Setup, maxSide?: number): Record<string, unknown> =>
  Object.fromEntries([...formOf(compose(setup), maxSide)].filter(([name]) => name !== 'asset'));

describe('the request of the playground', () => {
  it('the request of the playground has the captions with text, and times only for a video', () => {
    expect(sent({})).toEqual({ overlays: '[{"text":"Hi"}]' });
    expect(sent({ media: VIDEO })).toEqual({ overlays: '[{"text":"Hi","start":1,"end":2}]' });
    expect(formOf(compose()).has('asset')).toBe(true);
  });

  it('the request of the playground has subtitles instead of captions, with the size of their pages', () => {
    const fields = { max_words: '3', highlight: 'pop' };
    expect(sent({ media: VIDEO, captions: SUBTITLES, fields })).toEqual({
      captions: SUBTITLES,
      style: '{"highlight":"pop"}',
      max_words: '3',
    });
    expect(sent({ captions: SUBTITLES, fields })).toEqual({ overlays: '[{"text":"Hi"}]' });
  });

  it('the request of the playground has the colors of a highlight only where it uses them', () => {
    const colors = { highlight_color: '#111111', highlight_background: '#222222' };
    const styleFor = (fields: DraftFields, captions = SUBTITLES): unknown =>
      JSON.parse(captionFields(compose({ media: VIDEO, captions, fields }))['style'] ?? 'null');
    expect(styleFor({ ...colors, highlight: 'box' })).toEqual({
      highlight: { mode: 'box', color: '#111111', background: '#222222' },
    });
    expect(styleFor({ ...colors, highlight: 'pop' })).toEqual({ highlight: { mode: 'pop', color: '#111111' } });
    expect(styleFor({ ...colors, highlight: 'reveal' })).toEqual({ highlight: 'reveal' });
    expect(styleFor(colors)).toBeNull();
    expect(styleFor({ ...colors, highlight: 'box' }, '')).toBeNull();
  });

  it('the request of the playground has a logo of the account, which saved styles have too, and none of another one', () => {
    const id = `logo_${'a'.repeat(32)}`;
    const limits = { imageBytes: 1, videoBytes: 1, videoSeconds: 1 };
    const account = { email: 'a@example.com', mode: 'live', credits: 3, token: 't', limits, styles: [] } as const;
    const owner = { ...account, logos: [{ id, label: '200 × 100' }] };
    const fields = { logo: id, logo_corner: 'bottom-left' };
    expect(sent({ fields: { logo: id }, account: owner })['style']).toBe(`{"logo":{"id":"${id}"}}`);
    const style = { logo: { id, corner: 'bottom-left' } };
    expect(JSON.parse(String(sent({ fields, account: owner })['style']))).toEqual(style);
    expect(savedStyleOf(compose({ fields, account: owner }))).toEqual(style);
    expect(sent({ fields, account: { ...account, logos: [] } })).not.toHaveProperty('style');
    expect(sent({ fields })).not.toHaveProperty('style');
  });

  it('the request of the playground brings a file to another shape, and a small one to at most twice its size', () => {
    expect(sent({ fields: { shape: '1:1' } })).toMatchObject({ width: '1080', height: '1080', fit: 'crop' });
    const pad = { shape: '9:16', fit: 'pad', fit_color: '#ffcc00' };
    expect(sent({ media: VIDEO, fields: pad })).toMatchObject({
      width: '1080',
      height: '1920',
      fit: '{"mode":"pad","color":"#ffcc00"}',
    });
    expect(targetOf(compose({ media: { width: 300, height: 400 }, fields: { shape: '9:16' } }))).toEqual({
      width: 450,
      height: 800,
    });
    expect(targetOf(compose({ media: { width: 6_000, height: 4_000 }, fields: { shape: '1:1' } }))?.width).toBe(4_000);
    const custom = { shape: 'custom', width: '640', height: '640', fit: 'blur' };
    expect(sent({ fields: custom })).toMatchObject({ width: '640', height: '640', fit: 'blur' });
  });

  it('the request of the playground names the moment of a cover', () => {
    const cover = { media: VIDEO, fields: { format: 'jpeg' }, time: 1.2345 };
    expect(sent(cover)).toMatchObject({ at: '1.235', format: 'jpeg' });
    expect(sourceOf(compose(cover))).toBe('frame');
    expect(sent({ ...cover, fields: {} })).not.toHaveProperty('at');
    expect(formatsOf(compose({ media: VIDEO }))).toEqual(['mp4', 'png', 'jpeg', 'webp']);
  });

  it('the request of the playground asks for a transparent clip with a length, and sends no file', () => {
    const fields = { overlay_only: 'on', format: 'webm', fps: '25' };
    expect(sent({ fields, captions: SUBTITLES })).toEqual({
      width: '1080',
      height: '1920',
      captions: SUBTITLES,
      duration: '5',
      fps: '25',
    });
    expect(secondsOf(compose({ fields, media: VIDEO }))).toBe(12);
    expect(sent({ fields: { ...fields, format: 'mov', duration: '3' } })).toMatchObject({
      format: 'mov',
      duration: '3',
    });
    expect(formOf(compose({ fields })).has('asset')).toBe(false);
  });

  it('the request of the playground limits the bytes of formats that allow it', () => {
    const fields = { max_kilobytes: '500' };
    expect(sent({ fields: { ...fields, format: 'jpeg' } })).toMatchObject({ max_bytes: '500000' });
    expect(sent({ fields, media: VIDEO })).toMatchObject({ max_bytes: '500000' });
    for (const other of [{ format: 'png' }, { format: 'webp', overlay_only: 'on' }]) {
      expect(sent({ fields: { ...fields, ...other } })).not.toHaveProperty('max_bytes');
    }
  });

  it('the request of the playground has the color space of a JPEG unless it is the default', () => {
    const fields = { format: 'jpeg', color_space: 'srgb' };
    expect(sent({ fields })).toMatchObject({ color_space: 'srgb' });
    for (const other of [{ format: 'png' }, { color_space: 'source' }, { overlay_only: 'on' }]) {
      expect(sent({ fields: { ...fields, ...other } })).not.toHaveProperty('color_space');
    }
    expect(sent({ fields, media: VIDEO })).not.toHaveProperty('color_space');
  });

  it('the request of the playground leaves out a background that the preset has no place for', () => {
    const fields = { preset: 'outline', background: '#ff0000', size: '1.5' };
    expect(captionFields(compose({ fields }))).toEqual({ style: '{"preset":"outline","size":1.5}' });
  });

  it('an overlay without a file has at most the size that visitors without a key get', () => {
    expect(sent({ fields: { overlay_only: 'on' } }, 1_280)).toMatchObject({ width: '720', height: '1280' });
    expect(sent({ fields: { overlay_only: 'on' } })).toMatchObject({ width: '1080', height: '1920' });
  });
});

describe('the code of the playground', () => {
  it('the code of the playground has every field of the request in each language', () => {
    const fields = { shape: '1:1', fit: 'pad', fit_color: '#ffcc00', format: 'jpeg', max_kilobytes: '500' };
    const request = snippetOf(compose({ fields }), 'https://captions.example.com');
    expect(request).toMatchObject({ asset: 'photo.jpg', output: 'captioned.jpg' });
    for (const { code } of request ? snippetsFor(request) : []) {
      for (const part of ['1080', 'ffcc00', '500000', 'jpeg']) expect(code).toContain(part);
    }
  });
});

describe('the preview of the playground', () => {
  it('the preview of the playground is scaled down, and is for one moment if captions have times', () => {
    expect(previewOf(compose(), 720)).toEqual({
      width: 405,
      height: 720,
      overlays: [{ text: 'Hi' }],
      look: {},
      token: undefined,
    });
    expect(momentOf(compose({ media: VIDEO, time: 1.5 }))).toMatchObject({ milliseconds: 1_500, shown: '0' });
    expect(momentOf(compose({ media: VIDEO, time: 2 }))).toMatchObject({ shown: '' });
    expect(momentOf(compose())).toBeUndefined();
  });
});

describe('the bars on the stage', () => {
  it('the bars on the stage are where the server drew them, and a moved one where the server will draw it', () => {
    const state = compose();
    const size = { width: 405, height: 720 };
    const shown = { url: '', bitmap: {} as ImageBitmap, size, rows: [{ top: 340, height: 40 }] };
    const overlay = { ...shown, bars: [{ id: BAR.id, text: 'Hi' }] };
    expect(placedBars({ ...state, overlay })).toMatchObject([{ top: 340, height: 40, isMoved: false, isShown: true }]);
    const moved = newHistory(withBar(state.history.current, BAR.id, { position: 0 }));
    expect(placedBars({ ...state, overlay, history: moved })).toMatchObject([{ top: 0, isMoved: true }]);
    const video = compose({ media: VIDEO, time: 3 });
    const timed = { ...overlay, bars: [{ id: BAR.id, text: 'Hi', start: 1, end: 2 }] };
    expect(placedBars({ ...video, overlay: timed })).toMatchObject([{ isShown: false }]);
  });
});

describe('the facts of a result', () => {
  it('the facts of a result name its size, format, bytes, time and credits', () => {
    const blob = new Blob([new Uint8Array(1_640_000)], { type: 'image/png' });
    const headers = new Headers({ 'x-render-duration-ms': '312', 'x-credits-charged': '1' });
    expect(factsOf({ blob, headers }, '1080 × 1920')).toBe('1080 × 1920 PNG, 1.6 MB, 0.3 s, 1 credit');
    const free = new Headers({ 'x-credits-charged': '0' });
    expect(factsOf({ blob: new Blob(['abc'], { type: 'video/webm' }), headers: free }, '')).toBe('WebM, 1 KB, free');
  });
});

describe('a style that is saved', () => {
  it('a style that is saved contains the saved style that it changes, with numbers as numbers', () => {
    const limits = { imageBytes: 1, videoBytes: 1, videoSeconds: 1 };
    const styles = [{ name: 'acme', style: { preset: 'box', color: '#ff0000' } as const }];
    const owner = { email: 'a@example.com', mode: 'live', credits: 1, token: 't' } as const;
    const account = { ...owner, limits, styles, logos: [] };
    const fields = { preset: 'acme', size: '1.2', safe_area: 'all', max_words: '4' };
    expect(savedStyleOf(compose({ account, fields, media: VIDEO, captions: SUBTITLES }))).toEqual({
      preset: 'box',
      color: '#ff0000',
      size: 1.2,
      safe_area: 'all',
      max_words: 4,
    });
    expect(savedStyleOf(compose({ fields: { preset: 'box' } }))).toEqual({ preset: 'box' });
  });
});
