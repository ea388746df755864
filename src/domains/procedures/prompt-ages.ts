/** How long prompts have been waiting: elapsed time, whatever the clock is set to (D-C-07). */
import type { Clock } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import { Phase, type PendingPrompt } from './kind.js';

class PromptAges {
  /** By site and phase. */
  readonly #waiting = new Map<string, { readonly id: string; readonly since: Stopwatch }>();

  /** One that is first seen later than it was asked, after a start, begins with what the clocks say of it. */
  ageMs(site: string, phase: string, { id, timestamp }: PendingPrompt, clock: Clock): number {
    const key = `${site}/${phase}`;
    let known = this.#waiting.get(key);
    if (known?.id !== id) this.#waiting.set(key, (known = { id, since: new Stopwatch(clock, Math.max(0, clock.wallMs() - Date.parse(timestamp))) }));
    return known.since.elapsedMs;
  }

  forget(site: string, phase: string): void {
    this.#waiting.delete(`${site}/${phase}`);
  }
}

export const promptAges = onePerStore((store) => {
  const ages = new PromptAges();
  store.watch(Phase, ({ type, resource: { metadata } }) => {
    if (type === 'remove') ages.forget(metadata.site, metadata.name);
  });
  return ages;
});
