import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Packet } from 'node-av/lib';
import type { Container } from './probe/container.ts';

interface LoopOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called each time the loop yields to the event loop. */
  readonly onYield?: (() => void) | undefined;
}

/** Short enough to react to a signal promptly, long enough to cost nothing. */
const YIELD_INTERVAL_MS = 40;

/**
 * Calls `handle` for each packet, until the end of the file or until `handle` returns false. Uses the synchronous API,
 * because it is about 10 % faster than the asynchronous one, and yields regularly so that signals and messages get
 * through.
 */
export async function forEachPacket(
  container: Container,
  handle: (packet: Packet) => boolean,
  { signal, onYield }: LoopOptions,
): Promise<void> {
  const packet = new Packet();
  packet.alloc();
  let yieldAt = performance.now() + YIELD_INTERVAL_MS;
  try {
    while (container.read(packet)) {
      const shouldContinue = handle(packet);
      packet.unref();
      if (!shouldContinue) return;
      if (performance.now() < yieldAt) continue;
      onYield?.();
      await yieldToEventLoop();
      signal?.throwIfAborted();
      yieldAt = performance.now() + YIELD_INTERVAL_MS;
    }
  } finally {
    packet.free();
  }
}
