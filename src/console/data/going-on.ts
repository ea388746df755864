/**
 * What is to be put right before a batch that stands can go on, as the gateway judges it (preflight of Restart and of Resume), asked again while
 * somebody looks. What the gateway said was open, and does not say any more, has been put right: it stays in the list.
 */
import { effect, signal } from '@preact/signals';
import { detail, preflight } from './batch.js';
import { Latest } from './latest.js';
import { can } from './session.js';
import { everySecond } from './timers.js';
import { listOf, type ToDo } from './to-do.js';
import type { BatchDetail } from './types.js';

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
  const ends = [
    effect(() => {
      const batch = detail.value;
      const now = batch ? `${batch.name} ${batch.phase} ${batch.updatedAt}` : '';
      if (now === stood) return;
      stood = now;
      void read();
    }),
    everySecond(async () => {
      if (!document.hidden) await read();
    }),
  ];
  return () => {
    for (const end of ends) end();
    latest.forget();
    goingOn.value = null;
  };
}
