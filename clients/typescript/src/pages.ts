// Lists that the service returns in pages.

/** The most entries that the service returns at once. */
export const LARGEST_PAGE = 100;

/** Iterates over the entries of all pages. A page is read when the one before it is used up. */
export async function* entriesOf<Entry>(
  readPage: (cursor: string | undefined) => Promise<readonly [entries: readonly Entry[], next: string | null]>,
): AsyncGenerator<Entry, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const [entries, next] = await readPage(cursor);
    yield* entries;
    if (next === null) return;
    cursor = next;
  }
}
