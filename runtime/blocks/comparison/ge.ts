import { block, comparison } from '../block.js';

export const GE = block({
  name: 'GE',
  family: 'comparison',
  description: 'IN1 greater than or equal to IN2; texts by code point',
  inputs: 'IN1:ANY, IN2:ANY',
  outputs: 'OUT:BOOL',
  total: true,
  refuses: ['BOOL'],
  code: comparison('>='),
});
