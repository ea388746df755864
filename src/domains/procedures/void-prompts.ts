/**
 * Questions of stopping, aborting and resetting charts whose runtime has been started again: the chart begins anew (decisions 3.8) and asks
 * once more, so that an answer to the old question would be on record, signed, and reach nobody. Nobody is asked it any more.
 */
import { RECOVERIES } from '../../../runtime/vocabulary/transitions.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import type { Resource } from '../../platform/store/resource.js';
import { phasesAtWork } from './at-work.js';
import { type ElementStatus, Phase, type PhaseSpec } from './kind.js';

class VoidPrompts {
  readonly #store: Store;
  /** Id of the question, by site and phase. */
  readonly #ids = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
    store.watch(Phase, ({ type, resource: { metadata, status } }) => {
      if (this.#ids.size === 0) return;
      const key = `${metadata.site}/${metadata.name}`;
      if (type === 'remove' || status.pendingPrompt?.id !== this.#ids.get(key)) this.#ids.delete(key);
    });
  }

  /** The runtimes of these units, or of all, have ended: what their exception charts have asked is asked again. */
  runtimeEnded(site?: string, unit?: string): void {
    for (const phase of phasesAtWork(this.#store).all()) {
      const { metadata, spec, status } = phase;
      if ((site === undefined || (metadata.site === site && spec.unitRef === unit)) && status.pendingPrompt && asksAgain(phase))
        this.#ids.set(`${metadata.site}/${metadata.name}`, status.pendingPrompt.id);
    }
  }

  /** The question of the phase, unless it is asked no more. */
  asked(site: string, phase: string, { pendingPrompt }: Pick<ElementStatus, 'pendingPrompt'>): ElementStatus['pendingPrompt'] {
    return pendingPrompt && this.#ids.get(`${site}/${phase}`) === pendingPrompt.id ? undefined : pendingPrompt;
  }
}

/** Its chart begins anew. A Holding phase may show the question of the chart that it left, which stays. */
function asksAgain({ spec, status }: Resource<PhaseSpec, ElementStatus>): boolean {
  if (RECOVERIES[status.state] !== status.state) return false;
  if (status.state !== 'Holding') return true;
  const asks = (chart: Chart): boolean => chart?.steps?.some(({ name, actionST = '' }) => name === status.pendingPrompt?.stepName && ASKS.test(actionST)) === true;
  return asks(spec.charts?.holding) && !asks(spec);
}

const ASKS = /\b(PROMPT|AWAIT_RESULT)/i;

type Chart = { readonly steps?: readonly { readonly name: string; readonly actionST?: string | undefined }[] } | undefined;

export const voidPrompts = onePerStore((store) => new VoidPrompts(store));
