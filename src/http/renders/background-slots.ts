// Which asynchronous renders may use a worker now. They take workers that no other request needs, and always at least one in
// ten. One video worker stays free, because a video can keep its worker busy for minutes.

import { setTimeout as wait } from 'node:timers/promises';
import type { RendererStatus } from '../../dispatch/renderer.ts';
import type { AssetKind } from '../../media/sniff.ts';

const MIN_SHARE = 0.1;
const KEPT_FREE: Readonly<Record<AssetKind, number>> = { image: 0, video: 1 };
const CHECK_MS = 50;

export class BackgroundSlots {
  readonly #status: () => Pick<RendererStatus, 'images' | 'videos'>;
  readonly #running: Record<AssetKind, number> = { image: 0, video: 0 };

  constructor(status: () => Pick<RendererStatus, 'images' | 'videos'>) {
    this.#status = status;
  }

  /** Workers of a kind, and at least one, so that a render is claimed even while all of them restart. */
  total(kind: AssetKind): number {
    return Math.max(1, this.#pool(kind).ready);
  }

  async run<Result>(kind: AssetKind, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    while (!this.#mayStart(kind)) await wait(CHECK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    this.#running[kind] += 1;
    try {
      return await work();
    } finally {
      this.#running[kind] -= 1;
    }
  }

  #mayStart(kind: AssetKind): boolean {
    const { ready, busy, waiting } = this.#pool(kind);
    const running = this.#running[kind];
    const needed = Math.max(0, busy - running) + waiting + KEPT_FREE[kind];
    return running < Math.max(1, Math.ceil(ready * MIN_SHARE), ready - needed);
  }

  #pool(kind: AssetKind): RendererStatus['images'] {
    const { images, videos } = this.#status();
    return kind === 'image' ? images : videos;
  }
}
