/** What is in the way of a batch, and who can lift it. */
import type { Answered } from '../../client/typed.js';

export type Check = Answered<'/api/v1/sites/{site}/batches/preflight', 'post'>['checks'][number];

/** What is in the way first, then what is only worth knowing, then what is in order. */
export function preflightLines(checks: readonly Check[]): readonly string[] {
  const rank = ({ ok, severity }: Check): number => (ok ? 2 : severity === 'error' ? 0 : 1);
  return [...checks].sort((a, b) => rank(a) - rank(b)).map(lineOf);
}

function lineOf({ check, ok, severity, message, element, liftedBy }: Check): string {
  const mark = ok ? 'ok' : severity === 'error' ? 'no' : 'warning';
  const where = element === '' || message.includes(element) ? '' : ` (${element})`;
  const lifted =
    ok || !liftedBy ? '' : `; ${liftedBy.holder === undefined || liftedBy.holder === '' ? 'lifted' : `held by ${liftedBy.holder}, lifted`} by ${liftedBy.tier}: ${liftedBy.action}`;
  return `${mark.padEnd(7)} ${check}: ${message === '' ? 'in order' : message}${where}${lifted}`;
}
