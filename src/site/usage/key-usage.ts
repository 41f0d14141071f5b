// Delivered renders and credits per key and type.

import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { RenderKind, UsageDetail } from '../../service/store/ledger/usage-details.ts';
import { count } from '../account/fields.ts';
import { type Html, html } from '../html.ts';
import { entryList } from '../tables.ts';
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

/** Rows are links for visitors who may open the keys. `keyless` is what renders without a key are called. */
export function keyUsageTable(
  details: readonly UsageDetail[],
  keys: readonly KeySummary[],
  { hasLinks, keyless }: { readonly hasLinks: boolean; readonly keyless: string },
): Html {
  const sums = sumsPerKey(details);
  if (sums.size === 0) return html`<p>No renders in this range.</p>`;
  const most = Math.max(...[...sums.values()].map(({ credits }) => credits));
  return entryList(
    'Usage per key',
    [
      { label: 'Key', place: 'lead', isName: true },
      { label: 'Share of credits', place: 'across' },
      { label: 'Renders', place: 'below' },
      { label: 'Credits', place: 'end', isNumber: true },
    ],
    [...sums].map(([keyId, sum]) => ({
      ...(hasLinks && keys.some(({ id }) => id === keyId) && { href: `/dashboard/keys/${keyId}` }),
      cells: [
        keyId === null ? keyless : keyLabel(keyId, keys),
        shareBar(sum.credits, most),
        rendersLabel(sum),
        count(sum.credits),
      ],
    })),
  );
}

/** Such as `1,200 image, 4 video, of these 3 test`. */
function rendersLabel(sum: KeySums): string {
  const kinds = (Object.keys(KIND_LABELS) as RenderKind[]).filter((kind) => sum.renders[kind] > 0);
  const parts = kinds.map((kind) => `${count(sum.renders[kind])} ${KIND_LABELS[kind].toLowerCase()}`);
  return `${parts.join(', ')}${sum.test > 0 ? `, of these ${count(sum.test)} test` : ''}`;
}

/** Decoration: the number of credits stands beside it. */
function shareBar(credits: number, most: number): Html {
  const width = most === 0 ? 0 : (credits / most) * 100;
  return html`<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="whole" width="100" height="4"/><rect class="part" width="${width.toFixed(1)}" height="4"/></svg>`;
}

function totalOf({ renders }: KeySums): number {
  return renders.image + renders.video + renders.overlay;
}

function keyLabel(keyId: string, keys: readonly KeySummary[]): string {
  const key = keys.find(({ id }) => id === keyId);
  return key === undefined ? 'deleted key' : `${key.name} (…${key.lastFour})`;
}
