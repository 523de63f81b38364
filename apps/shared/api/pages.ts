type Page<T> = { data: T[]; nextCursor: string | null };

/**
 * Every entry of a list, page by page.
 * @param load asks for the page that this query means
 */
export async function allPages<T>(load: (query: { limit: string; cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await load({ limit: "100", ...(cursor === null ? {} : { cursor }) });
    found.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}
