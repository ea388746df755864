/** Comparison of a written value with the one read back (decisions 7.7). */
import type { ChannelType } from './description.js';

const SPAN_SHARE = 0.001; // 0.1 % of the channel span
const ABSOLUTE = 0.001; // when no span is known

/** Bool and text exactly, numbers within the tolerance and what a float32 register rounds away. */
export function readbackAgrees(written: number | string, read: number | string, dataType: ChannelType, span: number | undefined): boolean {
  if (typeof written === 'string' || typeof read === 'string' || dataType === 'bool') return written === read;
  const tolerance = span !== undefined && span > 0 ? SPAN_SHARE * span : ABSOLUTE;
  return Math.abs(written - read) <= tolerance + Math.abs(written) * 2 ** -23;
}
