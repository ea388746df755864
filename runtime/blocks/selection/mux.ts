import { block } from '../block.js';

/** IEC 61131-3:2013, Table 32 (MUX); decisions 5.2, Selection and conversion: K is limited to 0 .. highest connected index, quality as SEL. */
export const MUX = block({
  name: 'MUX',
  family: 'selection',
  description: 'The input with number K',
  inputs: 'K:INT, IN0:ANY, IN1:ANY, IN2..IN7:ANY?',
  outputs: 'OUT:ANY',
  total: true,
  code: (form) => {
    const highest = Math.max(0, ...form.used('IN').map((port) => Number(port.slice(2))));
    const cases: string[] = [];
    for (let n = 0; n < highest; n += 1) cases.push(`if ($K <= ${n}) { $OUT = $IN${n}; chosen = $IN${n}.q; } else`);
    return `
    let chosen = 0;
    ${cases.join('\n    ')} { $OUT = $IN${highest}; chosen = $IN${highest}.q; }
    $q = $K.q > chosen ? $K.q : chosen;`;
  },
});
