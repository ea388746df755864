/** What stands between a manifest and the store: the gate of controlled kinds, and the signature of a change request (APPLY-05 to 08). */
import { assert } from '../../platform/base/assert.js';
import type { Store } from '../../platform/store/store.js';
import type { ApplyDeps } from '../apply/context.js';
import { changeRequired, refuseUncontrolled } from './controlled.js';
import type { ChangeRequestSpec } from './kind.js';
import { newRequest, type RequestDeps } from './request.js';

export class ChangeGate {
  readonly #isClosed: boolean;
  readonly #asking: RequestDeps;

  /** @param isClosed setting `changeControl.enforce`: from here on the store takes no change of a controlled kind without its approval. */
  constructor(store: Store, isClosed: boolean, asking: RequestDeps) {
    this.#isClosed = isClosed;
    this.#asking = asking;
    if (isClosed) store.judgeBy((change) => refuseUncontrolled(change, store));
  }

  get ofApply(): Pick<ApplyDeps, 'controlled' | 'stamp'> {
    return {
      ...(this.#isClosed ? { controlled: (kind, name) => (kind.controlled ? changeRequired(kind, name) : undefined) } : {}),
      stamp: ({ spec, ...request }, { signatory }) => {
        assert(signatory, 'a change request is applied by a person');
        return newRequest({ ...request, spec: spec as ChangeRequestSpec }, signatory, this.#asking);
      },
    };
  }
}
