// Delivered renders and credits per key and type.

import type { KeySummary } from '../../store/accounts/keys.ts';
import type { RenderKind, UsageDetail } from '../../store/ledger/usage-details.ts';
import { count } from '../account/fields.ts';
import { type Html, html } from '../html.ts';
import { table } from '../tables.ts';
import { KIND_LABELS } from './usage-filter.ts';

interface KeySums {
  readonly renders: Record<RenderKind, number>;
  test: number;
  credits: number;
}

/** Rows whose renders cost nothing because they failed aren't counted. */
function sumsPerKey(details: readonly UsageDetail[]): Map<string | null, KeySums> {
  const sums = new Map<string | null, KeySums>();
  for (const { keyId, kind, mode, outcome, renders, credits } of details) {
    if (outcome !== 'delivered' && credits === 0) continue;
    const sum = sums.get(keyId) ?? { renders: { image: 0, video: 0, overlay: 0 }, test: 0, credits: 0 };
    sum.renders[kind] += renders;
    if (mode === 'test') sum.test += renders;
    sum.credits += credits;
    sums.set(keyId, sum);
  }
  return new Map([...sums].toSorted(([, a], [, b]) => b.credits - a.credits || totalOf(b) - totalOf(a)));
}

/** The names of keys are links for visitors who may open them. `keyless` is what renders without a key are called. */
export function keyUsageTable(
  details: readonly UsageDetail[],
  keys: readonly KeySummary[],
  { hasLinks, keyless }: { readonly hasLinks: boolean; readonly keyless: string },
): Html {
  const sums = sumsPerKey(details);
  if (sums.size === 0) return html`<p>No renders in this range.</p>`;
  return table(
    'Usage per key',
    ['Key', ...Object.values(KIND_LABELS), 'Test mode', 'Renders', 'Credits'],
    [...sums].map(([keyId, sum]) => [
      keyId === null ? keyless : keyLabel(keyId, keys, hasLinks),
      ...(Object.keys(KIND_LABELS) as RenderKind[]).map((kind) => count(sum.renders[kind])),
      count(sum.test),
      count(totalOf(sum)),
      count(sum.credits),
    ]),
  );
}

function totalOf({ renders }: KeySums): number {
  return renders.image + renders.video + renders.overlay;
}

function keyLabel(keyId: string, keys: readonly KeySummary[], hasLinks: boolean): Html {
  const key = keys.find(({ id }) => id === keyId);
  if (key !== undefined) {
    const name = hasLinks ? html`<a href="/dashboard/keys/${key.id}">${key.name}</a>` : key.name;
    return html`${name} <code>…${key.lastFour}</code>`;
  }
  return html`deleted key`;
}
