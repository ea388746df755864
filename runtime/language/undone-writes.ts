/**
 * Writes of the running chart that the holding chart takes back and nobody gives again (decisions 2.1, 2.4): after Restart a
 * frozen step goes on where it was, so what it wrote once stays as the holding chart left it. `rerunOnRestart`, and a cyclic action,
 * repeat what the step that is active wrote, and nothing of the steps before it.
 */
import type { Chart, ChartStep, ExceptionChartName } from '../vocabulary/chart.js';
import { successorsOf, type Write, writesOf } from './chart-writes.js';
import { parseAction } from './parser.js';
import { callsIn, ownExpressions, statementsIn } from './walk.js';

export interface UndoneWrite {
  readonly step: string;
  readonly message: string;
}

interface PhaseCharts extends Chart {
  readonly charts?: Readonly<Partial<Record<ExceptionChartName, Chart | undefined>>>;
  readonly restartStep?: string;
}

/** A phase with a `restartStep` begins anew there; a restarting chart that writes the tag has thought of it. */
export function undoneWrites(spec: PhaseCharts): UndoneWrite[] {
  const { steps = [], charts = {}, restartStep = '' } = spec;
  if (restartStep !== '') return [];
  const undone = writesBy(charts.holding);
  if (undone.size === 0) return [];
  const given = writesBy(charts.restarting);
  return steps.flatMap((step) => {
    const repeats = step.rerunOnRestart === true || step.actionMode === 'cyclic';
    const lost = writesOf(step).filter(({ address, value }) => {
      const held = undone.get(key(address));
      return held !== undefined && !given.has(key(address)) && (value === undefined || held.some((other) => other.value !== value));
    });
    return [...new Set(lost.map(({ address }) => address))].flatMap((address) => {
      const later = heldLater(spec, step, address);
      const begun = `the holding chart takes back the WRITE of ${address} in step ${step.name}, and`;
      if (repeats && later === undefined) return [];
      const message = repeats
        ? `${begun} Restart does not repeat it where the phase is held in a later step, such as ${later}: write ${address} in the restarting chart; ${step.rerunOnRestart === true ? 'rerunOnRestart repeats' : 'a cyclic action repeats'} it only while step ${step.name} is active`
        : `${begun} Restart does not repeat it: write ${address} in the restarting chart${later === undefined ? `, or set rerunOnRestart on the step` : ''}`;
      return [{ step: step.name, message }];
    });
  });
}

/** The first step after this one in which the phase may be held while what was written to `address` still stands; one that writes it again is judged by itself. */
function heldLater(spec: Chart, { name }: ChartStep, address: string): string | undefined {
  const { steps = [] } = spec;
  const writers = new Set(steps.filter((step) => writesOf(step).some((write) => key(write.address) === key(address))).map((step) => key(step.name)));
  const after = successorsOf(spec, [name], (step) => writers.has(step));
  return steps.find((step) => after.has(step.name) && !writers.has(key(step.name)) && isHoldable(spec, step))?.name;
}

const WAITS = /^(PROMPT|AWAIT)/i;

/** A last step ends the phase when its action is through, and that is at once where it asks and awaits nothing. */
function isHoldable(chart: Chart, { name, actionST = '' }: ChartStep): boolean {
  if (successorsOf(chart, [name]).size > 0) return true;
  return [...statementsIn(parseAction(actionST).statements)].some((statement) =>
    ownExpressions(statement).some((each) => [...callsIn(each)].some(({ callee }) => WAITS.test(callee))),
  );
}

function writesBy(chart: Chart | undefined): Map<string, Write[]> {
  const found = new Map<string, Write[]>();
  for (const step of chart?.steps ?? []) for (const write of writesOf(step)) found.set(key(write.address), [...(found.get(key(write.address)) ?? []), write]);
  return found;
}

/** Roles, modules and tags are named without regard to case. */
function key(address: string): string {
  return address.toLowerCase();
}
