/**
 * Questions of stopping, aborting and resetting charts whose runtime has been started again: the chart begins anew (decisions 3.8) and asks
 * once more, so that an answer to the old question would be on record, signed, and reach nobody. Nobody is asked it any more.
 */
import type { State } from '../../../runtime/vocabulary/states.js';
import { RECOVERIES } from '../../../runtime/vocabulary/transitions.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import { phasesAtWork } from './at-work.js';
import type { ElementStatus } from './kind.js';

class VoidPrompts {
  readonly #store: Store;
  /** Id of the question, by site and phase. */
  readonly #ids = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The runtimes of these units, or of all, have ended: what their exception charts have asked is asked again. */
  runtimeEnded(site?: string, unit?: string): void {
    for (const { metadata, spec, status } of phasesAtWork(this.#store).all())
      if ((site === undefined || (metadata.site === site && spec.unitRef === unit)) && status.pendingPrompt && beginsAnew(status.state))
        this.#ids.set(`${metadata.site}/${metadata.name}`, status.pendingPrompt.id);
  }

  /** The question of the phase, unless it is asked no more. */
  asked(site: string, phase: string, { pendingPrompt }: Pick<ElementStatus, 'pendingPrompt'>): ElementStatus['pendingPrompt'] {
    return pendingPrompt && this.#ids.get(`${site}/${phase}`) === pendingPrompt.id ? undefined : pendingPrompt;
  }
}

/** A Holding phase may wait in the chart that it left, whose question stays. */
function beginsAnew(state: State): boolean {
  return RECOVERIES[state] === state && state !== 'Holding';
}

export const voidPrompts = onePerStore((store) => new VoidPrompts(store));
