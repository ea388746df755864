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
/** What was read longer ago promises nothing any more. */
const STANDS_MS = 60_000;

export const plan = signal<Plan | null>(null);
const latest = new Latest();
let planned = { site: '', readMonoMs: 0 };

const readSoon = coalesced(MOVED_MS, async () => {
  if (site.peek() === '' || !can('plan:read') || document.hidden) return;
  const asked = site.peek();
  await latest
    .read(
      () => get<Plan>(atSite('plan'), { background: true }),
      (found) => {
        planned = { site: asked, readMonoMs: performance.now() };
        plan.value = found;
      },
    )
    .catch(() => {
      if (performance.now() - planned.readMonoMs > STANDS_MS) plan.value = null; // its tiles tell no end then, rather than an old one
    });
});

/** @returns ends it. */
export function watchPlan(): () => void {
  const timer = window.setInterval(readSoon, EVERY_MS);
  const ends = [
    effect(() => {
      if (batches.value && site.value !== '') readSoon();
    }),
    effect(() => {
      if (site.value === planned.site) return;
      planned = { site: site.value, readMonoMs: 0 }; // what was planned elsewhere is about other units and batches, of whatever name
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
