import { block } from '../block.js';

export const MAX = block({
  name: 'MAX',
  family: 'selection',
  description: 'Largest of the connected and constant inputs',
  inputs: 'IN1:NUM, IN2:NUM, IN3..IN8:NUM?',
  outputs: 'OUT:NUM',
  total: true,
  code: (form) =>
    form.used().length === 0
      ? '$OUT = 0;'
      : `$OUT = Math.max(${form
          .used()
          .map((port) => `$${port}`)
          .join(', ')});`,
});
