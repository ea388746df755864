/** Runs an action by itself in a version of the test's choice, with builtins that only count. */
import { type CompiledAction, compilePhase, type PhaseText } from '../../../runtime/chart/compile.js';
import { Any, StError, zeroValue, type Raw } from '../../../runtime/chart/value.js';
import { encodeSlot } from '../../../runtime/chart/codec.js';
import type { Frame, Slots } from '../../../runtime/chart/functions.js';
import { at } from '../../support/at.js';

export type Version = 'narrow' | 'wide' | 'run';

export class Bench {
  readonly action: CompiledAction;
  readonly slots: Slots;
  readonly writes: Raw[] = [];
  readonly #names: readonly { readonly name: string; readonly type: Parameters<typeof encodeSlot>[0] }[];
  #temporaries: Slots = [];
  #label = 0;

  constructor(text: string, variables: PhaseText['variables'] = [], loopLimit = 50) {
    const chart = { steps: [{ name: 's', initial: true, actionST: text }], transitions: [] };
    const compiled = compilePhase({ running: chart, charts: {}, parameters: [], outputs: [], variables, signals: [] }, { loopLimit });
    const action = compiled.charts.get('running')?.steps[0]?.action;
    if (!action) throw new Error('no action');
    this.action = action;
    this.#names = compiled.variables;
    this.slots = compiled.variables.map(({ type }) => (type === 'ANY' ? undefined : zeroValue(type)));
  }

  /** Until the next suspension; '' when it ended, else 'suspended' or the code of its failure. */
  go(version: Version): string {
    const { action, slots } = this;
    const run = version === 'run' ? action.run : action.versions[version];
    try {
      this.#label = run(this.#frame(), slots, this.#temporaries, this.#label, 10_000_000);
    } catch (fault) {
      if (!(fault instanceof StError)) throw fault;
      return at(fault.message.split(':'), 0);
    }
    // Nothing but plain values may outlast a suspension.
    this.#temporaries = structuredClone(this.#temporaries);
    if (this.#label >= 0) return 'suspended';
    this.#label = 0;
    return '';
  }

  value(name: string): unknown {
    const slot = this.#names.findIndex((variable) => variable.name.toLowerCase() === name.toLowerCase());
    return encodeSlot(at(this.#names, slot).type, this.slots[slot]);
  }

  #frame(): Frame {
    const write = (value: Any): true => {
      this.writes.push(value.value);
      return true;
    };
    const refuse = (): never => {
      throw new Error('not in this test');
    };
    return {
      assigned: new Uint8Array(this.slots.length),
      read: () => new Any('INT', this.slots[0] as Raw),
      readText: refuse,
      write: (_address, value) => write(value),
      writeText: (_address, value) => write(value),
      message: () => true,
      suspend: () => {},
      answer: () => 'yes',
      kept: refuse,
      unset: () => {
        throw new StError('st-runtime-error', 'unset-variable: no value');
      },
      stepTime: () => 0,
      stepActive: () => true,
    };
  }
}
