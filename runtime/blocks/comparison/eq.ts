import { block } from '../block.js';

/** IEC 61131-3:2013, Table 33 (EQ); decisions 5.2, Comparison. Equal texts have equal ids, so one comparison serves every type. */
export const EQ = block({
  name: 'EQ',
  family: 'comparison',
  description: 'IN1 equals IN2',
  inputs: 'IN1:ANY, IN2:ANY',
  outputs: 'OUT:BOOL',
  total: true,
  code: '$OUT = $IN1 === $IN2 ? 1 : 0;',
});
