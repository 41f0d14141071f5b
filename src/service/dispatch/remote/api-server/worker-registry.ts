// The workers that are available. Each announces itself every second. One that has been silent for a while counts as
// gone.

import type { AssetKind } from '../../../../engine/media/sniff.ts';
import type { CodecInfo } from '../../../../engine/media/video/probe/codecs.ts';
import type { Presence } from '../../reports.ts';

/** A worker is gone after three missed announcements. */
const GONE_AFTER_MS = 3_500;
/** Longer than NATS waits for a heartbeat before it redelivers a ticket. */
const SILENT_AFTER_MS = 4_500;
const FORGET_AFTER_MS = 600_000;
/**
 * Workers choose their own names. A worker that makes up new ones must neither fill the memory nor displace the others.
 */
const MAX_WORKERS = 10_000;

export interface FleetCapacity {
  readonly workers: number;
  readonly slots: number;
  /** Warm slots of workers that still take tickets. */
  readonly open: number;
  readonly busy: number;
}

export class WorkerRegistry {
  readonly #seen = new Map<string, { readonly presence: Presence; readonly at: number }>();

  onPresence(presence: Presence, now = performance.now()): void {
    if (this.#seen.size >= MAX_WORKERS && !this.#seen.has(presence.worker)) return;
    this.#seen.set(presence.worker, { presence, at: now });
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

  /** Returns true for a worker that has announced itself before, but not lately. */
  isSilent(worker: string, now = performance.now()): boolean {
    const seen = this.#seen.get(worker);
    return seen !== undefined && now - seen.at > SILENT_AFTER_MS;
  }

  /** Returns the codecs of any video worker. */
  codecs(now = performance.now()): CodecInfo | undefined {
    return this.#present(now).find(({ codecs }) => codecs)?.codecs;
  }

  #present(now: number): Presence[] {
    const present: Presence[] = [];
    for (const [worker, { presence, at }] of this.#seen) {
      if (now - at > FORGET_AFTER_MS) this.#seen.delete(worker);
      else if (now - at <= GONE_AFTER_MS) present.push(presence);
    }
    return present;
  }
}
