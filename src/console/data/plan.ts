/** The next hours of the units, while somebody looks: read again when a batch moves, and now and then because time goes on. */
import { effect, signal } from '@preact/signals';
import { get } from './api.js';
import { Latest } from './latest.js';
import { atSite, batches, site } from './plant.js';
import { can } from './session.js';
import { coalesced } from './timers.js';
import type { Plan, PlannedBatch } from './types.js';

const EVERY_MS = 10_000;
const MOVED_MS = 500;

export const plan = signal<Plan | null>(null);
const latest = new Latest();
let planned = '';

const readSoon = coalesced(MOVED_MS, async () => {
  if (site.peek() === '' || !can('plan:read') || document.hidden) return;
  await latest
    .read(
      () => get<Plan>(atSite('plan'), { background: true }),
      (found) => (plan.value = found),
    )
    .catch(() => undefined); // what was read stands, with its time
});

/** @returns ends it. */
export function watchPlan(): () => void {
  const timer = window.setInterval(readSoon, EVERY_MS);
  const ends = [
    effect(() => {
      if (batches.value && site.value !== '') readSoon();
    }),
    effect(() => {
      if (site.value === planned) return;
      planned = site.value; // what was planned elsewhere is about other units and batches, of whatever name
      latest.forget();
      plan.value = null;
    }),
  ];
  return () => {
    clearInterval(timer);
    for (const end of ends) end();
    latest.forget();
  };
}

export function plannedOf(batch: string): PlannedBatch | undefined {
  return plan.value?.batches.find((each) => each.batch === batch);
}
