// The fair queue for renders of one kind. An asset waits once, before its probe: its account is charged for an average
// render, and the charge is corrected when the recipe is known.

import type { Asset } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import type { Recipe } from '../render/compose.ts';
import { CostModel } from './cost-model.ts';
import { FairQueue, type QueueEntry, type SlotSource } from './fair-queue.ts';
import type { Requester, RenderJob } from './renderer.ts';

const PROBE_MS: Readonly<Record<AssetKind, number>> = { image: 2, video: 100 };

/** Callers without an account share one account in the queue and have no deadline. */
const ANONYMOUS: Requester = { account: '', budgetMs: Number.POSITIVE_INFINITY };

export class RenderQueue<Slot> extends FairQueue<Slot> {
  readonly #kind: AssetKind;
  readonly #costs: CostModel;
  /** What was charged for the render of an asset before its probe. */
  readonly #prepaid = new WeakMap<Asset, number>();

  constructor(kind: AssetKind, slots: SlotSource<Slot>, maxWaiting: number) {
    super(slots, maxWaiting);
    this.#kind = kind;
    this.#costs = new CostModel(kind);
  }

  /** The entry for a probe pays for the render that usually follows. */
  probeEntry(asset: Asset, requester: Requester = ANONYMOUS): QueueEntry {
    const { usualMs } = this.#costs;
    this.#prepaid.set(asset, usualMs);
    return { ...requester, cost: PROBE_MS[this.#kind] + usualMs };
  }

  /** With an asset, charges what the render costs beyond the prepaid amount; its entry does not wait a second time. */
  renderEntry({ recipe, asset }: Pick<RenderJob, 'recipe' | 'asset'>, requester: Requester = ANONYMOUS): QueueEntry {
    const cost = this.#costs.estimateMs(recipe);
    if (!asset) return { ...requester, cost };
    this.adjustCost(requester.account, cost - (this.#prepaid.get(asset) ?? 0));
    this.#prepaid.delete(asset);
    return { ...requester, cost, isRetry: true };
  }

  learn(recipe: Recipe, milliseconds: number): void {
    this.#costs.learn(recipe, milliseconds);
  }
}
