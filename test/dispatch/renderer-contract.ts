// Tests that every renderer must pass: with worker processes on this machine, and with workers behind the queue.

import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lease, type Renderer, withLease } from '../../src/service/dispatch/renderer.ts';
import { type Asset, createAsset } from '../../src/engine/media/asset.ts';
import type { AssetFormat } from '../../src/engine/media/sniff.ts';
import { type AssetLimits, composeRecipe, type BaseLayer } from '../../src/engine/render/compose.ts';
import { composeLayoutRecipe, DEFAULT_IMAGE_LIMITS } from '../../src/engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { decode, noisyJpeg, plainPng } from '../pictures.ts';
import { until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';
import { anyone } from './lease-requests.ts';

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
  const lease = async <Result>(use: (lease: Lease) => Promise<Result>, signal = never): Promise<Result> =>
    await withLease(subject.renderer, anyone(signal), use);
  const probe = async (asset: Asset, limits = LIMITS) =>
    await lease(async (opened) => await opened.probe(asset, limits));
  const draw = async (opened: Lease, base: BaseLayer, asset: Asset | undefined) => {
    const output = newPath();
    const facts = await opened.render({ recipe: composeRecipe(base, OVERLAYS, LIMITS), asset, output });
    return { facts, bytes: readFileSync(output) };
  };
  const render = async (base: BaseLayer, asset: Asset | undefined, signal = never) =>
    await lease(async (opened) => await draw(opened, base, asset), signal);

  it('renders a transparent overlay', async () => {
    const { facts, bytes } = await render({ kind: 'canvas', width: 64, height: 48 }, undefined);
    expect(facts).toMatchObject({ width: 64, height: 48, missingGlyphs: 0 });
    expect(await decode(bytes)).toMatchObject({ width: 64, height: 48, channels: 4 });
  });

  it('writes an uploaded font anew, and draws with it', async () => {
    const upload = createRequire(import.meta.url).resolve(
      '@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf',
    );
    const written = newPath();
    const { font } = await lease(
      async (opened) =>
        await opened.render({ recipe: { kind: 'font' }, asset: undefined, attachment: upload, output: written }),
    );
    expect(font).toMatchObject({ family: 'Bangers', characters: 555 });
    const bytes = readFileSync(written);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const [id, other] = [`font_${'a'.repeat(32)}`, `font_${'b'.repeat(32)}`];
    const drawn = async (used: string, fileId: string): Promise<readonly string[] | undefined> => {
      const recipe = composeLayoutRecipe({ width: 300, height: 300 }, [
        { text: 'Golden hour', position: null, style: { font: used } },
      ]);
      const file = { id: fileId, sha256, bytes: bytes.length, path: written };
      const job = { recipe, asset: undefined, files: [file], output: newPath() };
      return (await lease(async (opened) => await opened.render(job))).layout?.[0]?.fonts;
    };
    expect(await drawn(id, id)).toEqual([id, 'main']);
    expect(await drawn(other, other)).toEqual([other, 'main']);
    // A render knows only its own fonts, although the worker has loaded the file.
    await expect(drawn(id, other)).rejects.toThrow(id);
  });

  it('refuses a damaged font', async () => {
    const upload = newPath();
    writeFileSync(upload, 'OTTO and nothing else');
    const job = { recipe: { kind: 'font' }, asset: undefined, attachment: upload, output: newPath() } as const;
    const refused = lease(async (opened) => await opened.render(job));
    await expect(refused).rejects.toMatchObject({ code: 'asset_undecodable' });
  });

  it('probes an image and renders on it', async () => {
    const asset = store(await plainPng(120, 80, '#336699'), 'png');
    const { facts, bytes } = await lease(async (opened) => {
      const base = await opened.probe(asset, LIMITS);
      expect(base).toMatchObject({ kind: 'image', width: 120, height: 80 });
      return await draw(opened, base, asset);
    });
    expect(facts.timings).toHaveProperty('encode');
    const { data } = await decode(bytes);
    expect([...data.subarray(0, 3)]).toEqual([0x33, 0x66, 0x99]);
  });

  it('draws a watermark on an image only when the recipe says so', async () => {
    const asset = store(await plainPng(120, 80, '#336699'), 'png');
    const base = await probe(asset);
    const of = async (watermark: boolean): Promise<Buffer> => {
      const output = newPath();
      const recipe = composeRecipe(base, OVERLAYS, LIMITS, { watermark });
      await lease(async (opened) => await opened.render({ recipe, asset, output }));
      return readFileSync(output);
    };
    expect((await of(true)).equals(await of(false))).toBe(false);
  });

  it('renders after it was left, and more than once', async () => {
    const asset = store(await plainPng(50, 40, '#ffffff'), 'png');
    await lease(async (opened) => {
      const base = await opened.probe(asset, LIMITS);
      opened.leave();
      // The worker is free for others meanwhile.
      expect((await probe(asset)).kind).toBe('image');
      const first = await draw(opened, base, asset);
      expect((await draw(opened, base, asset)).bytes.equals(first.bytes)).toBe(true);
    });
  });

  it('lays out captions between the probe and the render, on the same worker', async () => {
    const asset = clip(10);
    const workers = new Set<string>();
    const request = { ...anyone(), onAssigned: (worker: string) => workers.add(worker) };
    await withLease(subject.renderer, request, async (opened) => {
      const base = await opened.probe(asset, LIMITS);
      const recipe = composeLayoutRecipe(base, OVERLAYS);
      const { layout } = await opened.render({ recipe, asset: undefined, output: newPath() });
      expect(layout).toHaveLength(1);
      const { facts } = await draw(opened, base, asset);
      expect(facts.width).toBe(96);
    });
    expect(workers.size).toBe(1);
  });

  it('probes the same asset several times at once', async () => {
    const asset = store(await plainPng(50, 40, '#ffffff'), 'png');
    const once = async (): Promise<Buffer> =>
      await lease(async (opened) => (await draw(opened, await opened.probe(asset, LIMITS), asset)).bytes);
    for (let round = 0; round < 3; round += 1) {
      const [first, ...others] = await Promise.all([once(), once(), once()]);
      expect(others.every((other) => first?.equals(other))).toBe(true);
    }
  });

  it('probes a video and renders on it', async () => {
    const asset = clip(10);
    const { facts, bytes } = await lease(async (opened) => {
      const base = await opened.probe(asset, LIMITS);
      expect(base).toMatchObject({ kind: 'video', width: 96, height: 64 });
      return await draw(opened, base, asset);
    });
    expect(facts).toMatchObject({ width: 96, height: 64 });
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('tells how much of a video is encoded', async () => {
    const asset = clip(10);
    const fractions: number[] = [];
    await lease(async (opened) => {
      const recipe = composeRecipe(await opened.probe(asset, LIMITS), OVERLAYS, LIMITS);
      await opened.render({ recipe, asset, output: newPath() }, (fraction) => fractions.push(fraction));
    });
    expect(fractions.length).toBeGreaterThan(0);
    expect(fractions.every((fraction) => fraction >= 0 && fraction <= 1)).toBe(true);
  });

  it('reports what is wrong with an asset', async () => {
    const broken = store(Buffer.from('89504e470d0a1a0a0000', 'hex'), 'png');
    await expect(probe(broken)).rejects.toMatchObject({ code: 'asset_undecodable' });
    const large = clip(2);
    await expect(probe(large, { ...LIMITS, videoSide: 32 })).rejects.toMatchObject({
      code: 'asset_dimensions_too_large',
      limit: { limit: 32, actual: 96 },
    });
  });

  it('refuses an asset beyond the limits when it is probed', async () => {
    const image = store(await plainPng(120, 80, '#336699'), 'png');
    await expect(probe(image, { ...LIMITS, imagePixels: 9_599 })).rejects.toMatchObject({
      code: 'asset_too_many_pixels',
      limit: { limit: 9_599, actual: 9_600 },
    });
    const wide = store(await plainPng(70_000, 1, '#336699'), 'png');
    await expect(probe(wide)).rejects.toMatchObject({
      code: 'asset_dimensions_too_large',
      limit: { limit: 65_535, actual: 70_000 },
    });
    await expect(probe(clip(60), { ...LIMITS, videoSeconds: 1 })).rejects.toMatchObject({
      code: 'asset_too_long',
      limit: { limit: 1, actual: 2 },
    });
  });

  it('writes nothing when a render fails', async () => {
    const asset = store(await plainPng(50, 40, '#ffffff'), 'png');
    const base = await probe(asset);
    const output = newPath();
    writeFileSync(asset.path, Buffer.from('89504e470d0a1a0a0000', 'hex'));
    const job = { recipe: composeRecipe(base, OVERLAYS, LIMITS), asset, output };
    const rendering = lease(async (opened) => await opened.render(job));
    await expect(rendering).rejects.toMatchObject({ code: 'asset_undecodable' });
    expect(existsSync(output)).toBe(false);
  });

  it('stops with the reason of the signal and renders the next job', async () => {
    const asset = store(slow, 'jpeg');
    const base = await probe(asset);
    const canceled = new AbortController();
    const rendering = render(base, asset, canceled.signal);
    setTimeout(() => canceled.abort(new Error('gone')), 50);
    await expect(rendering).rejects.toThrow('gone');
    const { facts } = await render({ kind: 'canvas', width: 64, height: 48 }, undefined);
    expect(facts.width).toBe(64);
    await expect(render(base, asset, AbortSignal.abort(new Error('never began')))).rejects.toThrow('never began');
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
    const many = Array.from(
      { length: 16 },
      async () =>
        await lease(async (opened) => await draw(opened, await opened.probe(asset, LIMITS), asset), canceled.signal),
    );
    const codes = Promise.all(many.map((one) => one.catch((error: { code?: string }) => error.code ?? 'canceled')));
    setTimeout(() => canceled.abort(new Error('enough')), 300);
    expect(await codes).toContain('overloaded');
  });
}
