import { block } from '../block.js';

/** Decisions 5.2. Until its input was good once it holds what the channel has (3.8, fail-safe value). */
export const DO = block({
  name: 'DO',
  family: 'io',
  description: 'Digital output with inversion',
  inputs: 'IN:BOOL',
  outputs: 'OUT:BOOL, OK:BOOL',
  params: 'addr:STRING!, invert:BOOL=FALSE',
  channel: { direction: 'output', raw: 'raw' },
  state: { value: -1, raw: 0 },
  code: `
    if ($value < 0) $value = ($channel !== 0 ? 1 : 0) ^ $invert;
    if ($IN.q !== BAD) $value = $IN;
    $OUT = $value;
    $OK.q = 0;`,
  after: `
    $raw = $OUT ^ $invert;
    $OK = $ack === 1 ? 1 : 0;`,
});
