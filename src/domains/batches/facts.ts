/** Reading the append-only facts of a batch back from the ledger. */

/** Facts of one stream, as the ledger's query thread pages them. */
export interface FactReader {
  facts(stream: string, page: { readonly limit: number; readonly cursor?: string; readonly order: 'asc' | 'desc'; readonly from?: string; readonly to?: string }): Promise<{ readonly items: readonly unknown[]; readonly nextCursor: string | null }>;
}

/** Every fact of a stream, oldest first. */
export async function allFacts<Fact>(reader: FactReader, stream: string): Promise<Fact[]> {
  const found: Fact[] = [];
  let cursor: string | undefined;
  do {
    const part = await reader.facts(stream, { limit: 1000, order: 'asc', ...(cursor ? { cursor } : {}) });
    found.push(...(part.items as Fact[]));
    cursor = part.nextCursor ?? undefined;
  } while (cursor);
  return found;
}
