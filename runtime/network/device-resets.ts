/**
 * The reset of latched device faults by one touch (ADR 0030). The block itself judges, in its next scan, with its own
 * feedback: whether the device is at rest, and whether it would move at once because a command stands.
 */
import { inside } from '../vocabulary/assert.js';
import type { DeviceReset } from '../port.js';
import type { Instance } from './instance.js';
import type { Memory } from './memory.js';

export interface ResetAnswer {
  readonly id: number;
  /** The network of the module is executed; of one that is not, nobody knows what is in fault. */
  readonly isLoaded: boolean;
  readonly blocks: readonly DeviceReset[];
}

/** What a device block leaves in `asked` (runtime/blocks/devices). */
const OUTCOMES: ReadonlyMap<number, DeviceReset['outcome']> = new Map([
  [-1, 'not-at-rest'],
  [-2, 'would-move'],
  [-3, 'reset'],
]);
/** Unit scans in which every network has had its turn, and a block that is skipped for an error has not answered. */
const SCANS_MAX = 200;

interface Question {
  readonly id: number;
  readonly instance: Instance;
  readonly moves: boolean;
}

interface Asked extends Question {
  readonly blocks: readonly { readonly name: string; readonly slot: number }[];
  left: number;
}

const PLACED = 'what is asked are slots of this plan: a hot swap forgets them';

const NO_ANSWERS: readonly ResetAnswer[] = [];

export class DeviceResets {
  readonly #memory: Memory;
  #asked: Asked[] = [];
  /** For modules that are asked something already: each question has its own answer, and its own leave to move. */
  #waiting: Question[] = [];
  #answers: ResetAnswer[] = [];

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Asks every block of the network that is in fault; `moves`: also where the device would move at once. */
  ask(id: number, instance: Instance | undefined, moves: boolean): void {
    if (!instance?.loaded) this.#answers.push({ id, isLoaded: false, blocks: [] });
    else if (this.#isAskedOf(instance)) this.#waiting.push({ id, instance, moves });
    else this.#begin({ id, instance, moves });
  }

  #isAskedOf(instance: Instance): boolean {
    return this.#asked.some((asked) => asked.instance === instance);
  }

  #begin(question: Question): void {
    const { S } = this.#memory;
    const blocks = deviceSlots(question.instance).filter(({ fault }) => S[fault] !== 0);
    for (const { slot } of blocks) S[slot] = question.moves ? 2 : 1;
    if (blocks.length === 0) this.#answers.push({ id: question.id, isLoaded: true, blocks: [] });
    else this.#asked.push({ ...question, blocks, left: SCANS_MAX });
  }

  /** Nobody waits for the answer any longer: what no block has judged yet is not carried out later. */
  withdraw(id: number): void {
    this.#waiting = this.#waiting.filter((question) => question.id !== id);
    for (const asked of this.#asked) if (asked.id === id) this.#answer(asked);
    this.#asked = this.#asked.filter((asked) => asked.id !== id);
  }

  #answer({ id, blocks }: Asked): void {
    const { S } = this.#memory;
    this.#answers.push({ id, isLoaded: true, blocks: blocks.map(({ name, slot }) => ({ block: name, outcome: OUTCOMES.get(inside(S, slot, PLACED)) ?? 'no-answer' })) });
    for (const { slot } of blocks) S[slot] = 0;
  }

  /** What was asked before a hot swap has nobody left who waits. */
  forget(instances: readonly Instance[]): void {
    for (const instance of instances) for (const { slot } of deviceSlots(instance)) this.#memory.S[slot] = 0;
  }

  get isAsked(): boolean {
    return this.#asked.length + this.#waiting.length > 0;
  }

  /** Looks for answers; once per scan, while something is asked. */
  watch(): void {
    const { S } = this.#memory;
    this.#asked = this.#asked.filter((asked) => {
      asked.left -= 1;
      if (asked.left > 0 && asked.blocks.some(({ slot }) => inside(S, slot, PLACED) > 0)) return true;
      this.#answer(asked);
      return false;
    });
    const next = this.#waiting;
    this.#waiting = [];
    for (const { id, instance, moves } of next) this.ask(id, instance, moves);
  }

  take(): readonly ResetAnswer[] {
    if (this.#answers.length === 0) return NO_ANSWERS;
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }
}

function deviceSlots({ loaded }: Instance): { readonly name: string; readonly slot: number; readonly fault: number }[] {
  return (loaded?.linked.blocks ?? []).flatMap(({ name }, index) => {
    const state = loaded?.layout.blocks[index]?.state;
    const asked = state?.get('asked');
    const fault = state?.get('fault');
    return loaded && asked !== undefined && fault !== undefined ? [{ name, slot: loaded.sb + asked, fault: loaded.sb + fault }] : [];
  });
}
