/**
 * Blocks that stand for a channel and have none. They load, so that a plant can be engineered in any order: an input is of quality Bad and an
 * output goes nowhere. Nobody should have to find that out at the device.
 */
import { CHANNEL_BLOCKS } from './kind.js';

interface ChannelBlock {
  readonly name: string;
  readonly type: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

const READS: readonly string[] = ['AI', 'DI'];

/** @param way how it gets one, as the end of a sentence. @returns a sentence for each. */
export function openChannelsOf(blocks: readonly ChannelBlock[], way: string): readonly string[] {
  return blocks
    .filter(({ type, params }) => CHANNEL_BLOCKS.includes(type) && String(params?.addr ?? '').trim() === '')
    .map(({ name, type }) => `block ${name} (${type}) has no channel, so ${READS.includes(type) ? 'it reads nothing and its value is Bad' : 'nothing is written'}: ${way}`);
}
