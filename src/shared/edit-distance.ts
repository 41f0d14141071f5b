/** Letters to change, add, remove or swap; `limit` if that many or more. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + change,
        isSwap ? (before[column - 2] ?? 0) + 1 : limit,
      );
    }
    [before, previous] = [previous, current];
  }
  return Math.min(limit, previous[b.length] ?? limit);
}

/** The most similar of the names, for "did you mean"; undefined if none is similar. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let distance = Math.max(2, Math.ceil(typed.length / 3) + 1);
  for (const name of names) {
    const far = name.startsWith(typed) ? 1 : editDistance(typed, name, distance);
    if (far < distance) [nearest, distance] = [name, far];
  }
  return nearest;
}

/** Up to three names that are similar, the most similar first. */
export function nearestNames(typed: string, names: readonly string[]): string[] {
  const limit = Math.max(2, Math.ceil(typed.length / 3) + 1);
  return names
    .map((name) => ({ name, far: name.startsWith(typed) ? 1 : editDistance(typed, name, limit) }))
    .filter(({ far }) => far < limit)
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ name }) => name);
}
