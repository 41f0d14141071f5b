// The fair queue for renders of one kind. An asset waits once, before its probe: its account is charged for an average
// render, and the charge is corrected when the recipe is known.

import { AppError } from '../errors.ts';
import type { Asset } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import type { Recipe } from '../render/compose.ts';
import { CostModel } from './cost-model.ts';
import { FairQueue, type QueueEntry, type SlotSource } from './fair-queue.ts';
import { ANONYMOUS, ASYNC_BUDGET_MS, type RenderJob, type Requester } from './renderer.ts';

const PROBE_MS: Readonly<Record<AssetKind, number>> = { image: 2, video: 100 };

/** Estimates can be too high, so a render is refused only when its estimate exceeds the deadline by this factor. */
const MAX_OVER_BUDGET = 1.25;

/** Renders with a higher estimate leave some slots to shorter ones. */
const LONG_RENDER_MS = 10_000;

export class RenderQueue<Slot> extends FairQueue<Slot> {
  readonly #kind: AssetKind;
  readonly #costs: CostModel;
  /** The asset and the average cost of a render, for entries of probes. */
  readonly #probes = new WeakMap<QueueEntry, { readonly asset: Asset; readonly usualMs: number }>();
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
    const entry = { ...requester, cost: PROBE_MS[this.#kind] + usualMs };
    this.#probes.set(entry, { asset, usualMs });
    return entry;
  }

  override async take(signal: AbortSignal, entry: QueueEntry): Promise<Slot> {
    const slot = await super.take(signal, entry);
    const probe = this.#probes.get(entry);
    // Only now: an entry that leaves the queue earlier is not charged.
    if (probe) this.#prepaid.set(probe.asset, probe.usualMs);
    return slot;
  }

  /** Returns what the probe has paid for the render, when the probe fails and no render follows. */
  refund(asset: Asset, { account }: Requester = ANONYMOUS): void {
    this.adjustCost(account, -(this.#prepaid.get(asset) ?? 0));
    this.#prepaid.delete(asset);
  }

  /** Throws `asset_too_heavy` for a render that one slot can't finish in time. */
  assertFeasible({ recipe, asset }: Pick<RenderJob, 'recipe' | 'asset'>, requester: Requester = ANONYMOUS): void {
    const estimateMs = this.#costs.leastMs(recipe);
    if (estimateMs <= requester.budgetMs * MAX_OVER_BUDGET) return;
    if (asset) this.refund(asset, requester);
    throw tooHeavy(estimateMs, requester.budgetMs);
  }

  /** With an asset, charges what the render costs beyond the prepaid amount; its entry does not wait a second time. */
  renderEntry({ recipe, asset }: Pick<RenderJob, 'recipe' | 'asset'>, requester: Requester = ANONYMOUS): QueueEntry {
    const cost = this.#costs.estimateMs(recipe);
    if (!asset) return { ...requester, cost, isLayout: recipe.kind === 'layout' };
    this.adjustCost(requester.account, cost - (this.#prepaid.get(asset) ?? 0));
    this.#prepaid.delete(asset);
    return { ...requester, cost, isRetry: true, isLong: cost > LONG_RENDER_MS };
  }

  learn(recipe: Recipe, milliseconds: number): void {
    this.#costs.learn(recipe, milliseconds);
  }
}

/** Refusing at once is better than keeping a worker busy until the deadline, and the caller waiting. */
function tooHeavy(estimateMs: number, budgetMs: number): AppError {
  const actual = Math.round(estimateMs / 1_000);
  const limit = Math.round(budgetMs / 1_000);
  const isHeld = budgetMs < ASYNC_BUDGET_MS;
  const detail = `Rendering would take about ${actual} seconds; the limit is ${limit}. Send a shorter video, or one with a smaller frame or a lower frame rate${isHeld ? ', or send the request with `prefer: respond-async`' : ''}.`;
  return new AppError('asset_too_heavy', detail, { limit: { limit, actual } });
}
