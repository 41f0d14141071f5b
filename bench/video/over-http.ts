// Our renderer behind HTTP: measures from the first byte sent to the last byte received.

import { readFileSync, writeFileSync } from 'node:fs';
import { form, health, post, type RunningServer, startServer } from '../../test/running-server.ts';
import type { Figures, Job } from './contenders.ts';
import { OVERLAYS } from './overlays.ts';
import { ProcessorTime } from './processor-time.ts';

export class OverHttp {
  readonly #server: RunningServer;

  private constructor(server: RunningServer) {
    this.#server = server;
  }

  static async start(): Promise<OverHttp> {
    return new OverHttp(await startServer({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1' }));
  }

  async render({ clip, output }: Job): Promise<Figures> {
    const body = form({ asset: readFileSync(clip), overlays: JSON.stringify(OVERLAYS) });
    const time = new ProcessorTime([this.#server.pid, ...this.#server.workerPids()]);
    // The other contenders blocked this process, so the idle connection may be closed. Reconnect first.
    await health(this.#server).catch(() => health(this.#server));
    const start = performance.now();
    const response = await post(this.#server, body);
    const bytes = Buffer.from(await response.arrayBuffer());
    const wall = performance.now() - start;
    if (response.status !== 200) throw new Error(`the server responded with ${response.status}: ${bytes.toString()}`);
    writeFileSync(output, bytes);
    return { wall, ...time.figures() };
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }
}
