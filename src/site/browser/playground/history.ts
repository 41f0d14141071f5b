// Undo and redo: the drafts before and after the current one, as a value. Changes of the same field in quick succession are
// one step, so undo removes a phrase and not a letter.

const MAX_STEPS = 200;
const MERGE_MS = 1_000;

export interface EditHistory<Draft> {
  readonly past: readonly Draft[];
  readonly current: Draft;
  readonly future: readonly Draft[];
  /** The last change, which a further one with the same key joins until this time. */
  readonly merge: { readonly key: string; readonly until: number } | undefined;
}

export function newHistory<Draft>(current: Draft): EditHistory<Draft> {
  return { past: [], current, future: [], merge: undefined };
}

export interface Change {
  /** Changes with the same key merge into one step. */
  readonly key?: string | undefined;
  /** A gesture such as a drag has a key of its own, and is one step however long it takes. */
  readonly isGesture?: boolean;
  readonly now: number;
}

/** An unchanged draft adds no step. */
export function record<Draft>(
  history: EditHistory<Draft>,
  current: Draft,
  { key, isGesture = false, now }: Change,
): EditHistory<Draft> {
  if (JSON.stringify(current) === JSON.stringify(history.current)) return history;
  const { merge } = history;
  const merges = key !== undefined && merge?.key === key && now < merge.until;
  return {
    past: merges ? history.past : [...history.past, history.current].slice(-MAX_STEPS),
    current,
    future: [],
    merge: key === undefined ? undefined : { key, until: isGesture ? Number.POSITIVE_INFINITY : now + MERGE_MS },
  };
}

/** Returns the same history if there is nothing to undo. */
export function undo<Draft>(history: EditHistory<Draft>): EditHistory<Draft> {
  const current = history.past.at(-1);
  if (current === undefined) return history;
  const future = [history.current, ...history.future];
  return { past: history.past.slice(0, -1), current, future, merge: undefined };
}

export function redo<Draft>(history: EditHistory<Draft>): EditHistory<Draft> {
  const [current, ...future] = history.future;
  if (current === undefined) return history;
  return { past: [...history.past, history.current], current, future, merge: undefined };
}
