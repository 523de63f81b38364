/** A page of a list, as the service answers it. */
export type Page<T> = { data: T[]; hasMore: boolean; nextCursor: string | null };

/**
 * A list that was asked for. Awaited, it is its first page; in `for await`, every entry of the list, whose further pages are
 * fetched as they are needed.
 */
export interface List<T, P extends Page<T> = Page<T>> extends Promise<P>, AsyncIterable<T> {
  /** The pages, one after the other. */
  pages(): AsyncGenerator<P, void, undefined>;
}

/**
 * @param load asks for the page at a cursor; undefined for the first
 */
export function listOf<T, P extends Page<T>>(load: (cursor: string | undefined) => Promise<P>): List<T, P> {
  const first = load(undefined);
  async function* pages(): AsyncGenerator<P, void, undefined> {
    let page = await first;
    yield page;
    while (page.nextCursor !== null) {
      page = await load(page.nextCursor);
      yield page;
    }
  }
  async function* entries(): AsyncGenerator<T, void, undefined> {
    for await (const { data } of pages()) for (const entry of data) yield entry;
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: entries });
}
