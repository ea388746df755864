import { block } from '../block.js';

export const ADD = block({
  name: 'ADD',
  family: 'arithmetic',
  description: 'Sum of the connected and constant inputs',
  inputs: 'IN1:NUM, IN2:NUM, IN3..IN8:NUM?',
  outputs: 'OUT:NUM',
  code: (form) =>
    `$OUT = ${
      form
        .used()
        .map((port) => `$${port}`)
        .join(' + ') || '0'
    };`,
});
