// Uploaded fonts on several worker nodes: the same letters everywhere, and never those of another account.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BANGERS, fontForm, INTER_BOLD, renamedTo } from '../font-samples.ts';
import { hasNats, type RunningNats, startNats } from '../running-nats.ts';
import { form, health, post, type RunningServer, startServer, until } from '../running-server.ts';
import { type RunningWorker, startWorker } from '../running-worker.ts';
import { plainClip } from '../video/plain-clip.ts';
import { workDirectory } from '../video/render-clip.ts';
import { lowestPsnr } from '../video/psnr.ts';

describe.skipIf(!hasNats)('uploaded fonts on remote workers (need nats-server)', () => {
  const work = workDirectory();
  let nats: RunningNats;
  let server: RunningServer;
  let workers: readonly RunningWorker[];
  beforeAll(async () => {
    nats = await startNats();
    const one = { STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' };
    [server, ...workers] = await Promise.all([
      startServer({
        STORYBAR_WORKERS: '0',
        STORYBAR_VIDEO_WORKERS: '0',
        STORYBAR_INTERNAL_PORT: '0',
        STORYBAR_NATS_URL: nats.url,
      }),
      startWorker(nats.url, one),
      startWorker(nats.url, one),
    ]);
    await until(async () => {
      const { images, videos } = (await health(server)).renderer;
      return images.ready === 2 && videos.ready === 2;
    });
  });
  afterAll(async () => {
    await Promise.all([server, ...workers].map(async (program) => await program.stop()));
    await nats.stop();
    work.remove();
  });

  async function upload(file: Buffer, key = server.key): Promise<{ id: string; family: string }> {
    const headers = { 'x-api-key': key };
    const response = await fetch(`${server.url}/v1/fonts`, { method: 'POST', headers, body: fontForm(file) });
    expect(response.status).toBe(201);
    return (await response.json()) as { id: string; family: string };
  }

  async function render(fields: Readonly<Record<string, string | Buffer>>, font: string, key: string): Promise<Buffer> {
    const style = JSON.stringify({ font, size: 2 });
    const response = await post({ url: server.url, key }, form({ text: 'Golden hour', style, ...fields }));
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.status, response.headers.get('x-warnings')]).toEqual([200, null]);
    return bytes;
  }

  it('a font never meets one of the same name of another account, on any worker', async () => {
    const { key } = JSON.parse(await server.cli('keys', 'create', '--plan', 'business', '--json')) as { key: string };
    const [own, theirs] = await Promise.all([upload(BANGERS), upload(renamedTo('Bangers', INTER_BOLD), key)]);
    expect(theirs.family).toBe(own.family);
    const canvas = { width: '300', height: '200' };
    const [usual, expected] = [await render(canvas, own.id, server.key), await render(canvas, theirs.id, key)];
    expect(usual.equals(expected)).toBe(false);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        expect((await render(canvas, own.id, server.key)).equals(usual)).toBe(true);
        expect((await render(canvas, theirs.id, key)).equals(expected)).toBe(true);
      }),
    );
    await until(async () => {
      const used = await Promise.all(workers.map(async (worker) => (await worker.health()).tickets.used));
      return used.every((count) => count > 0);
    });
  });

  it('a video on a remote worker has the letters of its font', async () => {
    const { id } = await upload(BANGERS);
    const changes = { width: 320, height: 240, frames: 30 };
    const asset = readFileSync(plainClip(work.path('clip.mp4'), changes));
    const video = async (font: string): Promise<string> => {
      const path = work.path(`${font}.mp4`);
      writeFileSync(path, await render({ asset }, font, server.key));
      return path;
    };
    const own = await video(id);
    const [same, other] = [lowestPsnr(own, await video('bangers')), lowestPsnr(own, await video('inter'))];
    expect(same).toBeGreaterThan(other + 10);
  });
});
