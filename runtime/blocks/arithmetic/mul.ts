import { block } from '../block.js';

export const MUL = block({
  name: 'MUL',
  family: 'arithmetic',
  description: 'Product of the connected and constant inputs',
  inputs: 'IN1:NUM, IN2:NUM, IN3..IN8:NUM?',
  outputs: 'OUT:NUM',
  code: (form) =>
    `$OUT = ${
      form
        .used()
        .map((port) => `$${port}`)
        .join(' * ') || '0'
    };`,
});
