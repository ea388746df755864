import { block } from '../block.js';

export const AND = block({
  name: 'AND',
  family: 'logic',
  description: 'TRUE when every connected or constant input is TRUE',
  inputs: 'IN1:BOOL, IN2:BOOL, IN3..IN8:BOOL?',
  outputs: 'OUT:BOOL',
  total: true,
  code: (form) =>
    `$OUT = ${
      form
        .used()
        .map((port) => `$${port}`)
        .join(' & ') || '0'
    };`,
});
