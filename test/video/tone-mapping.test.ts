// The WebAssembly tone mapper, compared with the filters that define the look.

import { AVCOL_PRI_BT2020, AVCOL_RANGE_MPEG, AVCOL_SPC_BT2020_NCL, AVCOL_TRC_ARIB_STD_B67 } from 'node-av/constants';
import { Frame, Packet } from 'node-av/lib';
import { afterAll, describe, expect, it } from 'vitest';
import { Decoder } from '../../src/engine/media/video/frames/decoder.ts';
import { VideoFilterGraph } from '../../src/engine/media/video/frames/graph.ts';
import { filterSteps, toneMappingOf } from '../../src/engine/media/video/frames/steps.ts';
import { ToneMapper } from '../../src/engine/media/video/frames/tone-mapper.ts';
import { Container } from '../../src/engine/media/video/probe/container.ts';
import { UPRIGHT } from '../../src/engine/media/video/probe/orientation.ts';
import type { VideoSource } from '../../src/engine/media/probe-schema.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { filterColorOptions, writeColorTags } from '../../src/engine/media/video/probe/tags.ts';
import { must } from '../../src/shared/must.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { BT2020, paintYuv } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

interface Mapped {
  readonly mapper: Buffer;
  readonly filters: Buffer;
}

/** Every frame of a clip, by the mapper and by the filters, without rotation. */
function mapBothWays(path: string, format: 'mp4' | 'mov'): { readonly source: VideoSource; readonly frames: Mapped[] } {
  const { video: source } = probeVideo(path, format, { maxSide: 4_096 });
  const { width, height } = source.decoded;
  const container = new Container(path, format);
  container.select([source.index]);
  const decoder = new Decoder(source.decoder, container.streamAt(source.index), { maxPixels: 1e8, threads: 1 });
  const mapper = new ToneMapper(must(toneMappingOf(source), 'a clip that the mapper supports'));
  // The filters ignore the name of the pixel format, and the mapper supports only one.
  const steps = filterSteps({ ...source, orientation: UPRIGHT, pixelFormat: 'yuv420p10' });
  expect(steps.map(({ filter }) => filter)).toContain('curves');
  const input = { width, height, pixelFormat: source.pixelFormat, timeBase: source.timeBase };
  const graph = new VideoFilterGraph({ ...input, ...filterColorOptions(source.tags) }, steps, []);
  const [packet, decoded, filtered] = [new Packet(), new Frame(), new Frame()];
  for (const buffer of [packet, decoded, filtered]) buffer.alloc();
  const frames: Mapped[] = [];
  const receive = (): void => {
    while (decoder.receive(decoded)) {
      writeColorTags(decoded, source.tags);
      const mapped = mapper.map(decoded);
      graph.push(decoded);
      if (graph.pull(filtered)) frames.push({ mapper: mapped.toBuffer(), filters: filtered.toBuffer() });
      mapped.free();
      filtered.unref();
    }
  };
  while (container.read(packet)) {
    decoder.send(packet);
    packet.unref();
    receive();
  }
  decoder.send(null);
  receive();
  for (const { free } of [packet, decoded, filtered].map((buffer) => ({ free: () => buffer.free() }))) free();
  graph.free();
  decoder.free();
  container.close();
  return { source, frames };
}

function meanDifference(a: Buffer, b: Buffer): number {
  expect(a.length).toBe(b.length);
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += Math.abs((a[at] ?? 0) - (b[at] ?? 0));
  return sum / a.length;
}

function hdrClip(name: string, pixelFormat: 'yuv420p10le' | 'yuv422p10le', width = 512): string {
  return plainClip(work.path(name), {
    codec: 'libx265',
    pixelFormat,
    width,
    height: 96,
    frames: 3,
    // From black to white, and in the lower rows from gray to a saturated color.
    paint: paintYuv((x, y) => (y < 48 ? [x / 2, x / 2, x / 2] : [128, 128 - x / 8, 128 - x / 6]), {
      ...BT2020,
      bits: 10,
    }),
    tags: {
      space: AVCOL_SPC_BT2020_NCL,
      primaries: AVCOL_PRI_BT2020,
      transfer: AVCOL_TRC_ARIB_STD_B67,
      range: AVCOL_RANGE_MPEG,
    },
    encoderOptions: { preset: 'ultrafast', 'x265-params': 'log-level=none:qp=4:bframes=0' },
  });
}

describe('the tone mapper', () => {
  it('the tone mapper differs from the filters by less than a level on average', () => {
    const { frames } = mapBothWays(hdrClip('gradient.mp4', 'yuv420p10le'), 'mp4');
    expect(frames).toHaveLength(3);
    for (const { mapper, filters } of frames) expect(meanDifference(mapper, filters)).toBeLessThan(1);
  });

  it('the tone mapper shows no more banding in a gray gradient than the filters', () => {
    const { frames } = mapBothWays(hdrClip('bands.mp4', 'yuv420p10le'), 'mp4');
    const [frame] = frames;
    expect(banding(must(frame, 'a frame').mapper)).toBeLessThanOrEqual(banding(must(frame, 'a frame').filters) * 1.1);
  });

  /**
   * Returns how far the mean of each 16x16 area is, on average, from a smooth ramp, which is the mean of its two
   * neighbors.
   */
  function banding(luma: Buffer): number {
    const means = Array.from({ length: 32 }, (_, area) => {
      let sum = 0;
      for (let y = 8; y < 24; y += 1) for (let x = 0; x < 16; x += 1) sum += luma[y * 512 + area * 16 + x] ?? 0;
      return sum / 256;
    });
    const bends = means.slice(1, -1).map((mean, at) => Math.abs(mean - ((means[at] ?? 0) + (means[at + 2] ?? 0)) / 2));
    return bends.reduce((sum, bend) => sum + bend, 0) / bends.length;
  }

  it.each([
    ['4:2:2', hdrClip('sampling.mp4', 'yuv422p10le')],
    ['a width that is not a multiple of four', hdrClip('width.mp4', 'yuv420p10le', 250)],
  ])('the tone mapper leaves other frames to the filters: %s', async (name, path) => {
    const { recipe, clip } = await renderClip(path, work.path(`${name}.mp4`.replaceAll(':', '')));
    expect(recipe.steps.map(({ filter }) => filter)).toContain('curves');
    expect(clip.frames).toHaveLength(3);
  });
});

describe.skipIf(!hasSharedMedia)('the tone mapper on real clips (skipped without ../shared/media)', () => {
  it.each([
    'video_hdr/media__dolbyVision-hdr.MOV',
    'video_hdr/media__sample_with_color_info.mp4',
    'video_hdr/media__hlg10-color-test.mp4',
    'video_mp4/shakapackager__bear-640x360-hevc-hdr10.mp4',
  ])('the tone mapper differs from the filters by less than a level on average in every frame: %s', (name) => {
    const { frames } = mapBothWays(sharedMedia(name), name.endsWith('.MOV') ? 'mov' : 'mp4');
    expect(frames.length).toBeGreaterThan(2);
    for (const { mapper, filters } of frames) expect(meanDifference(mapper, filters)).toBeLessThan(1);
  });
});
