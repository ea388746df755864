/** Coalescing of addresses into few requests (decisions 7.3 `maxRegisters`, `maxBits`, `maxGap`). */
export interface Span {
  readonly start: number;
  readonly length: number;
  /** What the caller wants back in the block. */
  readonly position: number;
}

export interface Block {
  readonly start: number;
  readonly length: number;
  readonly spans: readonly Span[];
}

/**
 * Blocks that cover all spans: neighbours and overlaps join while the gap between them is at most `gapMax` and the
 * block at most `lengthMax`. A span longer than `lengthMax` stands alone: a value is never torn over two requests.
 */
export function coalesce(spans: readonly Span[], lengthMax: number, gapMax: number): Block[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || a.length - b.length);
  const blocks: { start: number; end: number; spans: Span[] }[] = [];
  for (const span of sorted) {
    const block = blocks.at(-1);
    const end = span.start + span.length;
    if (block && span.start - block.end <= gapMax && Math.max(end, block.end) - block.start <= lengthMax) {
      block.end = Math.max(end, block.end);
      block.spans.push(span);
    } else {
      blocks.push({ start: span.start, end, spans: [span] });
    }
  }
  return blocks.map(({ start, end, spans: within }) => ({ start, length: end - start, spans: within }));
}
