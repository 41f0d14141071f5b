import { setImmediate as nextTurn } from 'node:timers/promises';
import { Packet } from 'node-av/lib';
import type { Container } from './probe/container.ts';

interface LoopOptions {
  readonly signal?: AbortSignal | undefined;
  /** Every few frames. */
  readonly onTurn?: (() => void) | undefined;
}

/** Short enough for a signal to take effect at once, long enough to cost nothing. */
const TURN_MS = 40;

/**
 * Reads packet after packet, to the end or until `take` returns false. Synchronous calls inside an asynchronous loop, because
 * they are a tenth faster than asynchronous ones; the event loop gets its turn every few frames, so that a signal or a
 * message is heard.
 */
export async function forEachPacket(
  container: Container,
  take: (packet: Packet) => boolean,
  { signal, onTurn }: LoopOptions,
): Promise<void> {
  const packet = new Packet();
  packet.alloc();
  let turnEnds = performance.now() + TURN_MS;
  try {
    while (container.read(packet)) {
      const goesOn = take(packet);
      packet.unref();
      if (!goesOn) return;
      if (performance.now() < turnEnds) continue;
      onTurn?.();
      await nextTurn();
      signal?.throwIfAborted();
      turnEnds = performance.now() + TURN_MS;
    }
  } finally {
    packet.free();
  }
}
