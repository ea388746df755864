import { block } from '../block.js';

/** IEC 61131-3:2013, Table 29 (DIV); decisions 5.2, Arithmetic. Both INT: truncates toward zero; adding zero turns the -0 of a truncation into 0. */
export const DIV = block({
  name: 'DIV',
  family: 'arithmetic',
  description: 'Quotient; of two INT cut toward zero; division by zero is a block error',
  inputs: 'IN1:NUM, IN2:NUM',
  outputs: 'OUT:NUM',
  code: (form) => `
    if ($IN2 === 0) $fail;
    $OUT = ${form.type('OUT') === 'INT' ? 'Math.trunc($IN1 / $IN2) + 0' : '$IN1 / $IN2'};`,
});
