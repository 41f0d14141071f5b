// What a saved style adds to a request: the same form is read, resolved and parsed with a preset and with a saved style, in turns.

import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import { SavedStyles } from '../../src/service/brand/saved-styles.ts';
import { readFields } from '../../src/engine/caption/field-reader.ts';
import { parseFields } from '../../src/engine/caption/form.ts';
import { must } from '../../src/shared/must.ts';
import type { Store } from '../../src/service/store/store.ts';

const ROUNDS = 2_000;
const WARM_UP_ROUNDS = 200;
const STYLES = 50;
const UNKNOWN_KEY = Buffer.alloc(32);

/** Medians in milliseconds: what a saved style adds, and the lookup of a key, which every request needs. */
export async function measureSavedStyle(
  { styles, keys }: Store,
  accountId: string,
): Promise<{ readonly added: number; readonly key: number }> {
  const saved = new SavedStyles(styles, { ids: async () => new Set() });
  const caller = { accountId, plan: DEFAULT_PLANS.get('business') };
  for (let index = 0; index < STYLES; index += 1) {
    const style = { preset: 'box', color: '#ffcc00', size: 1 + index / 100, position: 80, safe_area: 'all' };
    await saved.put(caller, `brand-${index}`, style, 'cli:bench');
  }
  const added: number[] = [];
  const lookups: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round += 1) {
    const plain = await timed(saved, accountId, 'box');
    const branded = await timed(saved, accountId, `brand-${round % STYLES}`);
    const startedAt = performance.now();
    await keys.find(UNKNOWN_KEY);
    const lookup = performance.now() - startedAt;
    if (round < WARM_UP_ROUNDS) continue;
    added.push(branded - plain);
    lookups.push(lookup);
  }
  return { added: median(added), key: median(lookups) };
}

function median(values: readonly number[]): number {
  return must(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)], 'the median');
}

async function timed(saved: SavedStyles, accountId: string, style: string): Promise<number> {
  const fields = Object.entries({ text: 'Golden hour', width: 1080, height: 1920, style });
  const form = {
    fields: fields.map(([name, value]) => ({ name, value })),
    isJson: true,
    hasAsset: false,
    faults: [],
  };
  const startedAt = performance.now();
  await parseFields(await saved.resolve(accountId, readFields(form)));
  return performance.now() - startedAt;
}
