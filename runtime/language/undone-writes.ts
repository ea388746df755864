/**
 * Writes of the running chart that the holding chart takes back and nobody gives again (decisions 2.1, 2.4): after Restart a
 * frozen step goes on where it was, so what it wrote once stays as the holding chart left it.
 */
import type { Chart, ExceptionChartName } from '../vocabulary/chart.js';
import { type Write, writesOf } from './chart-writes.js';

export interface UndoneWrite {
  readonly step: string;
  readonly message: string;
}

interface PhaseCharts extends Chart {
  readonly charts?: Readonly<Partial<Record<ExceptionChartName, Chart | undefined>>>;
  readonly restartStep?: string;
}

/** A phase with a `restartStep` begins anew there; a restarting chart that writes the tag has thought of it. */
export function undoneWrites({ steps = [], charts = {}, restartStep = '' }: PhaseCharts): UndoneWrite[] {
  if (restartStep !== '') return [];
  const undone = writesBy(charts.holding);
  if (undone.size === 0) return [];
  const given = writesBy(charts.restarting);
  return steps.flatMap((step) => {
    if (step.rerunOnRestart === true || step.actionMode === 'cyclic') return [];
    const lost = writesOf(step).filter(({ address, value }) => {
      const held = undone.get(key(address));
      return held !== undefined && !given.has(key(address)) && (value === undefined || held.some((other) => other.value !== value));
    });
    return [...new Set(lost.map(({ address }) => address))].map((address) => ({
      step: step.name,
      message: `the holding chart takes back the WRITE of ${address} in step ${step.name}, and Restart does not repeat it: set rerunOnRestart on the step, or write ${address} in the restarting chart`,
    }));
  });
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
