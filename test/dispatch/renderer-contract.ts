// Tests that every renderer must pass: with worker processes on this machine, and with workers behind the queue.

import { setMaxListeners } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANONYMOUS, type Renderer } from '../../src/dispatch/renderer.ts';
import { type Asset, createAsset } from '../../src/media/asset.ts';
import type { AssetFormat } from '../../src/media/sniff.ts';
import { type AssetLimits, composeRecipe, type BaseLayer } from '../../src/render/compose.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../src/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/render/video-recipe.ts';
import { decode, noisyJpeg, plainPng } from '../pictures.ts';
import { until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';

const LIMITS: AssetLimits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
const OVERLAYS = [{ text: 'Hello', position: 50 }];
const never = new AbortController().signal;

export interface RendererUnderTest {
  readonly renderer: Renderer;
  stop(): Promise<void>;
}

export function rendererContract(start: () => Promise<RendererUnderTest>): void {
  let subject: RendererUnderTest;
  let directory: string;
  let slow: Buffer;
  let files = 0;
  beforeAll(async () => {
    slow = await noisyJpeg(2400, 1600);
    directory = mkdtempSync(path.join(tmpdir(), 'storybar-contract-'));
    subject = await start();
    await until(() => subject.renderer.status().images.ready > 0 && subject.renderer.status().videos.ready > 0);
  });
  afterAll(async () => {
    await subject.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const newPath = (): string => {
    files += 1;
    return path.join(directory, `file-${files}`);
  };
  const store = (bytes: Buffer, format: AssetFormat): Asset => {
    const asset = createAsset({ path: newPath(), format, bytes: bytes.length });
    writeFileSync(asset.path, bytes);
    return asset;
  };
  const clip = (frames: number): Asset => {
    const file = plainClip(newPath(), { frames });
    return createAsset({ path: file, format: 'mp4', bytes: statSync(file).size });
  };
  const render = async (base: BaseLayer, asset: Asset | undefined, signal = never) => {
    const output = newPath();
    const facts = await subject.renderer.render(
      { recipe: composeRecipe(base, OVERLAYS, LIMITS), asset, output },
      signal,
    );
    return { facts, bytes: readFileSync(output) };
  };

  it('renders a transparent overlay', async () => {
    const { facts, bytes } = await render({ kind: 'canvas', width: 64, height: 48 }, undefined);
    expect(facts).toMatchObject({ width: 64, height: 48, missingGlyphs: 0 });
    expect(await decode(bytes)).toMatchObject({ width: 64, height: 48, channels: 4 });
  });

  it('probes an image and renders on it', async () => {
    const asset = store(await plainPng(120, 80, '#336699'), 'png');
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    expect(probe).toMatchObject({ kind: 'image', width: 120, height: 80 });
    const { facts, bytes } = await render(probe, asset);
    expect(facts.timings).toHaveProperty('encode');
    const { data } = await decode(bytes);
    expect([...data.subarray(0, 3)]).toEqual([0x33, 0x66, 0x99]);
  });

  it('draws a watermark on an image only when the recipe says so', async () => {
    const asset = store(await plainPng(120, 80, '#336699'), 'png');
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    const of = async (watermark: boolean): Promise<Buffer> => {
      const output = newPath();
      const recipe = composeRecipe(probe, OVERLAYS, LIMITS, { watermark });
      await subject.renderer.render({ recipe, asset, output }, never);
      return readFileSync(output);
    };
    expect((await of(true)).equals(await of(false))).toBe(false);
  });

  it('renders long after the probe, and more than once', async () => {
    const asset = store(await plainPng(50, 40, '#ffffff'), 'png');
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const [first, second] = await Promise.all([render(probe, asset), render(probe, asset)]);
    expect(first.bytes.equals(second.bytes)).toBe(true);
  });

  it('probes the same asset several times at once', async () => {
    const asset = store(await plainPng(50, 40, '#ffffff'), 'png');
    const once = async (): Promise<Buffer> => {
      const probe = await subject.renderer.probe(asset, LIMITS, never);
      return (await render(probe, asset)).bytes;
    };
    for (let round = 0; round < 3; round += 1) {
      const [first, ...others] = await Promise.all([once(), once(), once()]);
      expect(others.every((other) => first?.equals(other))).toBe(true);
    }
  });

  it('probes a video and renders on it', async () => {
    const asset = clip(10);
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    expect(probe).toMatchObject({ kind: 'video', width: 96, height: 64 });
    const { facts, bytes } = await render(probe, asset);
    expect(facts).toMatchObject({ width: 96, height: 64 });
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('tells a requester that wants to know how much of a video is encoded', async () => {
    const asset = clip(10);
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    const recipe = composeRecipe(probe, OVERLAYS, LIMITS);
    const fractions: number[] = [];
    const requester = { ...ANONYMOUS, onProgress: (fraction: number) => fractions.push(fraction) };
    await subject.renderer.render({ recipe, asset, output: newPath() }, never, requester);
    expect(fractions.length).toBeGreaterThan(0);
    expect(fractions.every((fraction) => fraction > 0 && fraction <= 1)).toBe(true);
  });

  it('reports what is wrong with an asset', async () => {
    const broken = store(Buffer.from('89504e470d0a1a0a0000', 'hex'), 'png');
    await expect(subject.renderer.probe(broken, LIMITS, never)).rejects.toMatchObject({ code: 'asset_undecodable' });
    const large = clip(2);
    await expect(subject.renderer.probe(large, { ...LIMITS, videoSide: 32 }, never)).rejects.toMatchObject({
      code: 'asset_dimensions_too_large',
      limit: { limit: 32, actual: 96 },
    });
  });

  it('refuses an asset beyond the limits when it is probed', async () => {
    const image = store(await plainPng(120, 80, '#336699'), 'png');
    await expect(subject.renderer.probe(image, { ...LIMITS, imagePixels: 9_599 }, never)).rejects.toMatchObject({
      code: 'asset_too_many_pixels',
      limit: { limit: 9_599, actual: 9_600 },
    });
    const wide = store(await plainPng(70_000, 1, '#336699'), 'png');
    await expect(subject.renderer.probe(wide, LIMITS, never)).rejects.toMatchObject({
      code: 'asset_dimensions_too_large',
      limit: { limit: 65_535, actual: 70_000 },
    });
    await expect(subject.renderer.probe(clip(60), { ...LIMITS, videoSeconds: 1 }, never)).rejects.toMatchObject({
      code: 'asset_too_long',
      limit: { limit: 1, actual: 2 },
    });
  });

  it('writes nothing when a render fails', async () => {
    const asset = store(await plainPng(50, 40, '#ffffff'), 'png');
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    const output = newPath();
    writeFileSync(asset.path, Buffer.from('89504e470d0a1a0a0000', 'hex'));
    // A remote worker keeps its copy of the asset for a moment after the probe.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const job = { recipe: composeRecipe(probe, OVERLAYS, LIMITS), asset, output };
    await expect(subject.renderer.render(job, never)).rejects.toMatchObject({ code: 'asset_undecodable' });
    expect(existsSync(output)).toBe(false);
  });

  it('stops with the reason of the signal and renders the next job', async () => {
    const asset = store(slow, 'jpeg');
    const probe = await subject.renderer.probe(asset, LIMITS, never);
    const canceled = new AbortController();
    const rendering = render(probe, asset, canceled.signal);
    setTimeout(() => canceled.abort(new Error('gone')), 50);
    await expect(rendering).rejects.toThrow('gone');
    const { facts } = await render({ kind: 'canvas', width: 64, height: 48 }, undefined);
    expect(facts.width).toBe(64);
    await expect(render(probe, asset, AbortSignal.abort(new Error('never began')))).rejects.toThrow('never began');
  });

  it('completes more jobs than it has workers', async () => {
    const results = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((side) => render({ kind: 'canvas', width: side * 16, height: 16 }, undefined)),
    );
    expect(results.map(({ facts }) => facts.width)).toEqual([16, 32, 48, 64, 80, 96]);
  });

  it('rejects with overloaded when the queue is full', async () => {
    const asset = store(slow, 'jpeg');
    const canceled = new AbortController();
    setMaxListeners(64, canceled.signal);
    // A render with an asset waits for its worker before the probe.
    const many = Array.from({ length: 16 }, async () => {
      const probe = await subject.renderer.probe(asset, LIMITS, canceled.signal);
      return await render(probe, asset, canceled.signal);
    });
    const codes = Promise.all(many.map((one) => one.catch((error: { code?: string }) => error.code ?? 'canceled')));
    setTimeout(() => canceled.abort(new Error('enough')), 300);
    expect(await codes).toContain('overloaded');
  });
}
