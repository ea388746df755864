import { block } from '../block.js';

export const OR = block({
  name: 'OR',
  family: 'logic',
  description: 'TRUE when any input is TRUE',
  inputs: 'IN1:BOOL, IN2:BOOL, IN3..IN8:BOOL?',
  outputs: 'OUT:BOOL',
  total: true,
  code: (form) =>
    `$OUT = ${
      form
        .used()
        .map((port) => `$${port}`)
        .join(' | ') || '0'
    };`,
});
