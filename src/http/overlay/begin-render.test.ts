import { describe, expect, it } from 'vitest';
import type { Renderer } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import type { AssetProbe } from '../../render/compose.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../render/recipe.ts';
import type { RenderFacts } from '../../render/render.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../render/video-recipe.ts';
import type { ParsedRequest } from './asset.ts';
import { beginRender, type BegunRender } from './begin-render.ts';

const FACTS: RenderFacts = { width: 16, height: 16, bars: [], missingGlyphs: 0, timings: {} };
const PROBE: AssetProbe = { kind: 'image', width: 16, height: 16, isSrgb: true };
const REFUSAL = new AppError('asset_undecodable', 'broken');

/** Notes what it is asked; its renders end when the test says so. */
class ScriptedRenderer implements Renderer {
  readonly asked: string[] = [];
  onProbed: () => void = () => undefined;
  end: (facts: RenderFacts) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  assertRoom(): void {
    this.asked.push('room');
  }

  expect(): void {
    this.asked.push('expect');
  }

  async probe(): Promise<AssetProbe> {
    this.asked.push('probe');
    return PROBE;
  }

  async render(): Promise<RenderFacts> {
    this.asked.push('render');
    return await this.#running();
  }

  async renderImage(_job: unknown, _signal: unknown, _share: unknown, onProbed = this.onProbed): Promise<RenderFacts> {
    this.asked.push('image');
    this.onProbed = onProbed;
    return await this.#running();
  }

  status(): never {
    throw new Error('nobody asks');
  }

  async close(): Promise<void> {
    this.asked.push('close');
  }

  async #running(): Promise<RenderFacts> {
    return await new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  }
}

function wanted(asset: ParsedRequest['asset']): ParsedRequest {
  const overlays = [{ text: 'a', position: null }];
  return { overlays, canvas: { width: 16, height: 16 }, asset, receiveMs: 1, form: { asset: undefined } } as never;
}

const PHOTO = wanted({ path: '/photo', format: 'png', kind: 'image' });
const BARS = wanted(undefined);

async function begin(renderer: Renderer, what: ParsedRequest, isSure: boolean): Promise<BegunRender> {
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
  const share = { account: 'a', budgetMs: 1_000 };
  const order = { wanted: what, limits, watermark: false, output: '/output', share };
  return await beginRender(renderer, order, new AbortController().signal, () => isSure);
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, new Promise((resolve) => setImmediate(() => resolve(pending)))])) === pending;
}

describe('beginRender', () => {
  it('asks once for an image whose credits are certain, and goes on when it has been found good', async () => {
    const renderer = new ScriptedRenderer();
    const beginning = begin(renderer, PHOTO, true);
    expect(await isPending(beginning)).toBe(true);
    renderer.onProbed();
    const { credits, facts, ended } = await beginning;
    expect(credits).toBe(1);
    expect(await isPending(facts())).toBe(true);
    expect(await isPending(ended())).toBe(true);
    renderer.end(FACTS);
    expect(await facts()).toBe(FACTS);
    await ended();
    expect(renderer.asked).toEqual(['image']);
  });

  it('fails at once for an image that is no good', async () => {
    const renderer = new ScriptedRenderer();
    const beginning = begin(renderer, PHOTO, true);
    renderer.fail(REFUSAL);
    await expect(beginning).rejects.toBe(REFUSAL);
  });

  it('keeps a failure after the beginning for whoever asks, and nobody has to', async () => {
    const renderer = new ScriptedRenderer();
    const beginning = begin(renderer, PHOTO, true);
    renderer.onProbed();
    const { facts, ended } = await beginning;
    renderer.fail(REFUSAL);
    await ended();
    await expect(facts()).rejects.toBe(REFUSAL);
  });

  it('only looks at an image whose credits are in doubt', async () => {
    const renderer = new ScriptedRenderer();
    const { facts, ended } = await begin(renderer, PHOTO, false);
    await ended();
    expect(renderer.asked).toEqual(['probe']);
    const asked = facts();
    renderer.end(FACTS);
    expect(await asked).toBe(FACTS);
    expect(renderer.asked).toEqual(['probe', 'render']);
  });

  it('begins bars alone only where there is room, and at once if their credits are certain', async () => {
    const [sure, unsure] = [new ScriptedRenderer(), new ScriptedRenderer()];
    await begin(sure, BARS, true);
    await begin(unsure, BARS, false);
    expect(sure.asked).toEqual(['room', 'render']);
    expect(unsure.asked).toEqual(['room']);
  });
});
