// The request bodies of the scenarios.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { noisyJpeg } from '../../test/pictures.ts';
import { plainClip } from '../../test/video/plain-clip.ts';
import { multipart } from './client.ts';
import { CAPTION } from './invariants.ts';

/** A story-sized photo of about 220 kB, the typical request. */
export async function storyForm(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const rough = sharp({ create: { width: 68, height: 120, channels: 3, background: '#888', noise } });
  const photo = await sharp(await rough.png().toBuffer())
    .resize(1080, 1920, { kernel: 'cubic' })
    .jpeg({ quality: 80 })
    .toBuffer();
  return multipart({ asset: photo, text: CAPTION });
}

/** A thumbnail, for scenarios that need many cheap requests. */
export async function smallForm(): Promise<Buffer> {
  return multipart({ asset: await noisyJpeg(160, 120), text: CAPTION });
}

/** This form takes about a second to render, and the result is larger than the buffers of a connection. */
export async function slowForm(): Promise<Buffer> {
  return multipart({ asset: await noisyJpeg(6_000, 4_000), text: CAPTION });
}

export function clip(): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-prove-clip-'));
  try {
    return readFileSync(plainClip(path.join(folder, 'clip.mp4'), { frames: 10 }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
