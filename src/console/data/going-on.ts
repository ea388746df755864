/**
 * What is to be put right before a batch that stands can go on, as the gateway judges it (preflight of Restart and of Resume): asked again when what it
 * rests on has changed, and now and then, for as long as somebody looks. What the gateway said was open, and does not say any more, has been put right: it stays in the list.
 */
import { effect, signal } from '@preact/signals';
import { detail, preflight } from './batch.js';
import { Latest } from './latest.js';
import { alarms, modules, phases } from './plant.js';
import { can } from './session.js';
import { everySecond } from './timers.js';
import { listOf, type ToDo } from './to-do.js';
import type { BatchDetail } from './types.js';

/** What it rests on changes untold too: a device that goes into fault, a unit that becomes ready. What values are now, the page shows from the live data. */
const READ_EVERY_S = 10;

export type GoingOnCommand = 'Restart' | 'Resume';

export interface GoingOn {
  readonly batch: string;
  readonly command: GoingOnCommand;
  readonly list: readonly ToDo[];
}

export const goingOn = signal<GoingOn | null>(null);
/** Why it could not be asked. */
export const goingOnFault = signal<unknown>(undefined);

/** @returns undefined of a batch that does not stand. */
export function wayOn({ phase, heldInside }: Pick<BatchDetail, 'phase' | 'heldInside'>): GoingOnCommand | undefined {
  if (phase === 'Held' || phase === 'Holding' || (phase === 'Running' && heldInside)) return 'Restart';
  return phase === 'Paused' || phase === 'Pausing' ? 'Resume' : undefined;
}

/** For as long as somebody looks. @returns ends it. */
export function watchGoingOn(): () => void {
  const latest = new Latest();
  const read = async (): Promise<void> => {
    const batch = detail.peek();
    const command = batch ? wayOn(batch) : undefined;
    if (!batch || !command || !can('batch:preflight')) {
      latest.forget();
      goingOn.value = null;
      goingOnFault.value = undefined;
      return;
    }
    try {
      await latest.read(
        () => preflight(batch.name, command),
        ({ problems, lifted }) => {
          const { batch: was, command: wasFor, list = [] } = goingOn.peek() ?? {};
          const next = { batch: batch.name, command, list: listOf(was === batch.name && wasFor === command ? list : [], problems, lifted) };
          if (JSON.stringify(next) !== JSON.stringify(goingOn.peek())) goingOn.value = next;
          goingOnFault.value = undefined;
        },
      );
    } catch (fault) {
      goingOnFault.value = fault;
    }
  };
  let stood = '';
  let seconds = 0;
  const ends = [
    effect(() => {
      const batch = detail.value;
      const now = batch ? `${standsAs(batch)} ${restsOn(batch.units)}` : '';
      if (now === stood) return;
      stood = now;
      if (!document.hidden) void read();
    }),
    everySecond(async () => {
      if (document.hidden) return;
      seconds += 1;
      if (seconds % READ_EVERY_S === 0) await read();
    }),
  ];
  return () => {
    for (const end of ends) end();
    latest.forget();
    goingOn.value = null;
  };
}

/** What of the batch itself is judged; it is read each second while it is open, and tells more that says nothing of this. */
function standsAs({ name, phase, heldInside, failure, furtherFailures = [] }: BatchDetail): string {
  const failures = [...(failure ? [failure] : []), ...furtherFailures].map(({ rule, since, active }) => `${rule} ${since} ${active}`);
  return [name, phase, heldInside, ...failures].join();
}

/** Modes and bypasses of the modules of these units, the alarms that stand on them, the phases at work. Reads signals. */
function restsOn(units: readonly string[]): string {
  const modes = [...modules.value.values()].filter(({ unit }) => units.includes(unit)).map(({ name, mode, interlockBypass }) => `${name} ${mode} ${interlockBypass.active}`);
  const atWork = [...phases.value.values()].filter(({ unit }) => units.includes(unit)).map(({ name, state }) => `${name} ${state}`);
  const standing = alarms.value.filter(({ unit, state }) => units.includes(unit) && state.startsWith('Active')).map(({ name }) => name);
  return [...modes, ...standing, ...atWork].sort().join();
}
