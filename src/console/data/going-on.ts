/**
 * What is to be put right before a batch that stands can go on, as the gateway judges it (preflight of Restart and of Resume): asked again when what it
 * rests on has changed, and now and then, for as long as somebody looks. What the gateway said was open, and does not say any more, has been put right: it stays in the list.
 */
import { effect, signal } from '@preact/signals';
import { detail, preflight } from './batch.js';
import { Latest } from './latest.js';
import { alarms, modules } from './plant.js';
import { can } from './session.js';
import { everySecond } from './timers.js';
import { listOf, type ToDo } from './to-do.js';
import type { BatchDetail } from './types.js';

/** What it rests on changes untold too: the value of a tag, a unit that becomes ready. */
const READ_EVERY_S = 5;

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
      const now = batch ? `${batch.name} ${batch.phase} ${batch.updatedAt} ${restsOn(batch.units)}` : '';
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

/** Modes of the modules of these units, and the alarms that stand on them. Reads signals. */
function restsOn(units: readonly string[]): string {
  const modes = [...modules.value.values()].filter(({ unit }) => units.includes(unit)).map(({ name, mode }) => `${name} ${mode}`);
  const standing = alarms.value.filter(({ unit, state }) => units.includes(unit) && state.startsWith('Active')).map(({ name }) => name);
  return [...modes, ...standing].sort().join();
}
