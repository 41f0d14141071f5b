// What a visitor can do to a draft, as functions from one draft to the next.

import { MAX_OVERLAYS } from '../../../engine/caption/overlay.ts';
import { type Draft, type DraftBar, newBar } from './draft.ts';

type BarChanges = Partial<Omit<DraftBar, 'id'>>;

export function withField(draft: Draft, name: string, value: string): Draft {
  const { [name]: _previous, ...fields } = draft.fields;
  return { ...draft, fields: value === '' ? fields : { ...fields, [name]: value } };
}

export function withBar(draft: Draft, id: string, changes: BarChanges): Draft {
  return { ...draft, bars: draft.bars.map((bar) => (bar.id === id ? { ...bar, ...changes } : bar)) };
}

/** A new caption is the last one, or follows another. A full list stays as it is. */
export function withNewBar(draft: Draft, bar: DraftBar, after?: string): Draft {
  const { bars } = draft;
  if (bars.length >= MAX_OVERLAYS) return draft;
  const index = bars.findIndex(({ id }) => id === after);
  return { ...draft, bars: bars.toSpliced(index === -1 ? bars.length : index + 1, 0, bar) };
}

/** A copy follows the original, at a default position so that it covers nothing. */
export function withCopy(draft: Draft, id: string): Draft {
  const bar = draft.bars.find((one) => one.id === id);
  return bar === undefined ? draft : withNewBar(draft, newBar({ ...bar, position: undefined }), id);
}

export function withoutBar(draft: Draft, id: string): Draft {
  return { ...draft, bars: draft.bars.filter((bar) => bar.id !== id) };
}

export function withMovedBar(draft: Draft, id: string, by: -1 | 1): Draft {
  const index = draft.bars.findIndex((bar) => bar.id === id);
  const [bar, other] = [draft.bars[index], draft.bars[index + by]];
  if (bar === undefined || other === undefined) return draft;
  return { ...draft, bars: draft.bars.with(index, other).with(index + by, bar) };
}
