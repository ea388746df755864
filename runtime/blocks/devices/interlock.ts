import { block, type BlockForm } from '../block.js';

/** One bit per unhealthy input: connected or constant and FALSE, or of quality Bad (decisions 5.5). */
function unhealthy(form: BlockForm): string {
  const bits = form.used('IN').map((port) => `($${port} === 0 || $${port}.q === BAD ? ${1 << (Number(port.slice(2)) - 1)} : 0)`);
  return bits.join(' | ') || '0';
}

/** Text of the input that tripped first; the texts are parameters of the instance. */
function firstText(form: BlockForm): string {
  return form.used('IN').reduce((rest, port) => `$tripped === ${port.slice(2)} ? $text${port.slice(2)} : ${rest}`, '0');
}

/**
 * Decisions 5.5, INTERLOCK. A bad input is unhealthy and thereby dealt with, so it does not make the outputs Bad: an
 * output block behind OK must be able to follow the trip.
 */
export const INTERLOCK = block({
  name: 'INTERLOCK',
  family: 'devices',
  description: 'Interlock of up to eight permissives with first-out and latch',
  inputs: 'IN1..IN8:BOOL?=TRUE, RESET:BOOL',
  outputs: 'OK:BOOL, TRIPPED:BOOL, FIRST:INT, BYPASSED:BOOL, TEXT:STRING',
  params: 'latch:BOOL=FALSE, text1..text8:STRING=',
  state: { first: 1, on: 0, bits: 0, tripped: 0, resetWas: 0, bypass: 0, shadowTrips: 0 },
  total: true,
  code: (form) => `
    const bits = ${unhealthy(form)};
    if (bits !== 0) {
      if ($on === 0) {
        const fresh = bits & ~$bits;
        $tripped = 32 - Math.clz32((fresh !== 0 ? fresh : bits) & -(fresh !== 0 ? fresh : bits));
        if ($bypass !== 0) $shadowTrips += 1;
      }
      $on = 1;
    } else if ($on !== 0 && ($latch === 0 || ($RESET !== 0 && $resetWas === 0 && $first === 0))) {
      $on = 0;
      $tripped = 0;
    }
    $bits = bits;
    $resetWas = $RESET;
    $TRIPPED = $on;
    $FIRST = $tripped;
    $BYPASSED = $bypass;
    $OK = $on === 0 || $bypass !== 0 ? 1 : 0;
    $TEXT = ${firstText(form)};
    $q = 0;`,
});
