// Which workers are there: each tells everybody every second; one that was not heard for a while is gone.

import type { AssetKind } from '../../../media/sniff.ts';
import type { CodecInfo } from '../../../media/video/probe/codecs.ts';
import type { Presence } from '../shared/wire.ts';

/** Three beats missed. */
const GONE_AFTER_MS = 3_500;
/** Longer than the broker waits for a word before it gives a ticket to somebody else. */
const SILENT_AFTER_MS = 4_500;
const FORGET_AFTER_MS = 600_000;

export interface FleetCapacity {
  readonly workers: number;
  readonly slots: number;
  /** Warm slots of workers that still take new work. */
  readonly open: number;
  readonly busy: number;
}

export class WorkerRegistry {
  readonly #heard = new Map<string, { readonly presence: Presence; readonly at: number }>();

  onPresence(bytes: Uint8Array, now = performance.now()): void {
    const presence = parse(bytes);
    if (presence) this.#heard.set(presence.worker, { presence, at: now });
  }

  capacity(kind: AssetKind, now = performance.now()): FleetCapacity {
    const present = this.#present(now).filter(({ slots }) => slots[kind] > 0);
    const sum = (count: (presence: Presence) => number): number =>
      present.reduce((total, presence) => total + count(presence), 0);
    return {
      workers: present.length,
      slots: sum(({ slots }) => slots[kind]),
      open: sum(({ ready, isDraining }) => (isDraining ? 0 : ready[kind])),
      busy: sum(({ busy }) => busy[kind]),
    };
  }

  /** Worker machines that could take something up at once, by what they said last. */
  idle(kind: AssetKind, now = performance.now()): number {
    return this.#present(now).filter(({ ready, busy, isDraining }) => !isDraining && ready[kind] > busy[kind]).length;
  }

  /** Was heard once, but not lately. */
  isSilent(worker: string, now = performance.now()): boolean {
    const heard = this.#heard.get(worker);
    return heard !== undefined && now - heard.at > SILENT_AFTER_MS;
  }

  /** What some worker for videos says about its codecs. */
  codecs(now = performance.now()): CodecInfo | undefined {
    return this.#present(now).find(({ codecs }) => codecs)?.codecs;
  }

  #present(now: number): Presence[] {
    for (const [worker, { at }] of this.#heard) if (now - at > FORGET_AFTER_MS) this.#heard.delete(worker);
    const present = [...this.#heard.values()].filter(({ at }) => now - at <= GONE_AFTER_MS);
    return present.map(({ presence }) => presence);
  }
}

function parse(bytes: Uint8Array): Presence | undefined {
  try {
    const presence = JSON.parse(new TextDecoder().decode(bytes)) as Presence;
    const numbers = [presence.slots, presence.ready, presence.busy].flatMap(({ image, video }) => [image, video]);
    return typeof presence.worker === 'string' && numbers.every(isCount) ? presence : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= 10_000;
}
