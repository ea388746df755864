/**
 * The command that an alarm gives to the work on its units (contract 2, Alarm definition, exceptionAction). What is due
 * stands on the alarm from the moment of its activation until the command is recorded, in one change with it: so neither
 * a crash nor a full disk loses it, and it is given once. A command that waits to be judged is never pushed aside: the one
 * of the alarm waits for the place, for as long as the alarm is active.
 */
import type { Put, Store } from '../../platform/store/store.js';
import { isActive, type AlarmResource } from './kind.js';
import { Alarm, type AlarmStatus, type CommandTarget, type EXCEPTION_ACTIONS } from './kind.js';

export type ExceptionAction = (typeof EXCEPTION_ACTIONS)[number];

/** `busy`: another command waits there, or nothing can be recorded now. `over`: there is nothing to command any more. */
export type Given = 'given' | 'busy' | 'over';

/** Commands work, with `alarm <name>` for the reason (decisions Q-CMD-04); given by the commands domain. */
export interface CommandGiver {
  /** Roots of the work on some units, each once. */
  targets(site: string, units: readonly string[]): readonly CommandTarget[];
  /** `beside` is written in the same change as the command. */
  give(site: string, target: CommandTarget, action: ExceptionAction, alarm: string, beside: Put): Given;
  /** While nothing can be written: carried out before there is an alarm; it is recorded when something can be written again. */
  giveUnrecorded(site: string, target: CommandTarget, action: ExceptionAction, definition: string): void;
}

export class ExceptionCommands {
  readonly #store: Store;
  readonly #giver: CommandGiver;

  constructor(store: Store, giver: CommandGiver) {
    this.#store = store;
    this.#giver = giver;
  }

  /** What an alarm that is activated now has to command, as a part of its status. */
  due(site: string, units: readonly string[], action: ExceptionAction | ''): Pick<AlarmStatus, 'exceptionDue'> {
    const targets = action === '' ? [] : this.#giver.targets(site, units);
    return targets.length > 0 ? { exceptionDue: targets } : {};
  }

  /** The condition holds, and the alarm cannot be raised: it comes, and commands once more, when something can be written. */
  giveUnrecorded(site: string, units: readonly string[], action: ExceptionAction | '', definition: string): void {
    if (action === '') return;
    for (const target of this.#giver.targets(site, units)) this.#giver.giveUnrecorded(site, target, action, definition);
  }

  /** True while something is still due. */
  attempt(site: string, name: string): boolean {
    const found = this.#store.get(Alarm, site, name);
    for (const target of found?.status.exceptionDue ?? []) {
      const alarm = this.#store.get(Alarm, site, name);
      if (!alarm) return false;
      this.#give(alarm, target);
    }
    return (this.#store.get(Alarm, site, name)?.status.exceptionDue ?? []).length > 0;
  }

  /** A command that was given and then pushed aside is due again while its alarm stands. */
  again(site: string, name: string, target: CommandTarget): void {
    const alarm = this.#store.get(Alarm, site, name);
    if (!alarm || !isActive(alarm.status.state)) return;
    const { exceptionDue = [] } = alarm.status;
    this.#store.apply({ puts: [{ kind: Alarm, site, name, status: { ...alarm.status, exceptionDue: [...exceptionDue, target] } } as Put] });
  }

  #give(alarm: AlarmResource, target: CommandTarget): void {
    const { metadata, status } = alarm;
    const done = without(alarm, target);
    const action = status.exceptionAction;
    if (!action || !isActive(status.state)) {
      this.#store.apply({ puts: [done] });
      return;
    }
    if (this.#giver.give(metadata.site, target, action, metadata.name, done) === 'over') this.#store.apply({ puts: [done] });
  }
}

function without({ metadata, status }: AlarmResource, target: CommandTarget): Put {
  const { exceptionDue = [], ...rest } = status;
  const left = exceptionDue.filter(({ kind, name }) => kind !== target.kind || name !== target.name);
  return { kind: Alarm, site: metadata.site, name: metadata.name, status: left.length > 0 ? { ...rest, exceptionDue: left } : rest } as Put;
}
