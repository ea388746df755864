/**
 * One command to a service (decisions 4.5, ADR 0074): its state, mode and command-enable word are looked at directly before the command word is
 * written, the word is written only while the chart waits, and what the service does then says what became of it.
 *
 * Invariant: a word that this command has written does not stay standing when the command has failed; where that is not certain the answer says so.
 */
import { COMMAND_DISABLED, COMMAND_FAILED, COMMAND_TIMEOUT, COMMAND_WITHDRAWN } from '../../../runtime/vocabulary/service-rules.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Asked, RequestAnswer } from '../batches/phases/phase-reports.js';
import type { Service } from '../io-modules/kind.js';
import { commandOf, type ServiceCommand, type ServiceState, type ServiceVariable } from '../io-modules/service-words.js';
import { type Given, judge, unprovable, type Verdict } from './acceptance.js';
import { enabledIn, procedureOf, type Seen, stateIn, wordIn, wordsFor } from './live-service.js';
import { Patience } from './patience.js';

/** A chart gives up after 10 s (decisions 4.5), and shall hear why before that. */
const ACCEPTED_WITHIN_MS = 9000;
/** For taking a word back that was not accepted. */
const TAKEN_BACK_WITHIN_MS = 5000;
const LOOK_EVERY_MS = 50;

/** The service at its device. */
export interface ServiceDevice {
  readonly service: Service;
  /** What it says now; all variables where none are named. */
  ask(only?: readonly ServiceVariable[]): Promise<Seen>;
  /** @returns why it was not written; '' when it was. */
  write(variable: ServiceVariable, value: number): Promise<string>;
}

/** What a service shows that takes the command. */
interface Ready {
  readonly state: ServiceState;
  readonly word: ServiceVariable;
  readonly procedureWord: ServiceVariable;
  readonly shown: string;
  readonly seen: Seen;
}

export class ServiceCommandRun {
  readonly #device: ServiceDevice;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #command: ServiceCommand;
  readonly #bit: number;
  readonly #patience: Patience;

  private constructor(device: ServiceDevice, clock: Clock, name: string, asked: Asked, { command, bit }: { readonly command: ServiceCommand; readonly bit: number }) {
    this.#device = device;
    this.#clock = clock;
    this.#name = name;
    this.#command = command;
    this.#bit = bit;
    this.#patience = new Patience(clock, ACCEPTED_WITHIN_MS, asked);
  }

  /** @param name `<ioModule>/<service>` */
  static async carryOut(
    device: ServiceDevice,
    {
      clock,
      name,
      command,
      procedure,
      asked,
    }: { readonly clock: Clock; readonly name: string; readonly command: string; readonly procedure?: Value | undefined; readonly asked: Asked },
  ): Promise<RequestAnswer> {
    const known = commandOf(command);
    if (!known) return disabled(name, `${command} is no command of a service`);
    const run = new ServiceCommandRun(device, clock, name, asked, known);
    try {
      return await run.#carryOut(procedure === null ? undefined : procedure);
    } finally {
      run.#patience.end();
    }
  }

  async #carryOut(procedure: Exclude<Value, null> | undefined): Promise<RequestAnswer> {
    let ready = await this.#look();
    if ('answer' in ready) return ready.answer;
    let id: number | undefined;
    if (procedure !== undefined) {
      const { procedures } = this.#device.service;
      id = procedureOf(this.#device.service, typeof procedure === 'boolean' ? String(procedure) : procedure);
      if (id === undefined) return this.#disabled(`it has no procedure ${String(procedure)}; it has ${procedures.map((each) => `${each.id} (${each.name})`).join(', ') || 'none'}`);
      const set = await this.#setProcedure(ready, id);
      if ('answer' in set) return set.answer;
      ready = set;
    }
    // in the turn in which the service was looked at: what the device needs for one answer it needs for this one too
    const { remainingMs, tookMs } = this.#patience;
    if (this.#patience.isOver || remainingMs < 2 * tookMs) return this.#tooLate(`; its device takes ${seconds(tookMs)} for an answer`);
    const { state, word, shown, seen } = ready;
    const before = wordIn(seen, 'ProcedureCur');
    const given: Given = { command: this.#command, bit: this.#bit, word, state, procedure: id, procedureBefore: 'value' in before ? before.value : undefined };
    const refused = await this.#patience.within(this.#device.write(word, this.#bit));
    const verdict: Verdict = refused === undefined || refused === '' ? await this.#watch(given) : { failed: refused };
    if ('accepted' in verdict) return { ok: true, value: true };
    return this.#failed(given, verdict, refused, ` (before: ${shown})`);
  }

  /** Looks whether the service takes the command. */
  async #look(): Promise<Ready | { readonly answer: RequestAnswer }> {
    const seen = await this.#patience.within(this.#device.ask());
    if (!seen) return { answer: this.#tooLate(': its device has not answered') };
    const ready = this.#readyIn(seen);
    return typeof ready === 'string' ? { answer: this.#disabled(ready) } : ready;
  }

  /** Why it does not take it, or what it shows. */
  #readyIn(seen: Seen): Ready | string {
    const state = stateIn(seen);
    if ('unknown' in state) return state.unknown;
    const enabled = enabledIn(seen);
    if ('unknown' in enabled) return enabled.unknown;
    const shown = `it is ${state.value} and enables ${enabled.value.join(', ') || 'no command'}`;
    if (!enabled.value.includes(this.#command)) return `it does not enable ${this.#command}: ${shown}`;
    const nothingShows = unprovable(this.#command, state.value);
    if (nothingShows !== '') return nothingShows;
    const words = wordsFor(seen);
    return 'refused' in words ? words.refused : { state: state.value, word: words.command, procedureWord: words.procedure, shown, seen };
  }

  /** The procedure stands before the command; then the service is looked at again: it may have become another while that was set. */
  async #setProcedure(ready: Ready, id: number): Promise<Ready | { readonly answer: RequestAnswer }> {
    const word = ready.procedureWord;
    if (this.#patience.isOver) return { answer: this.#tooLate('') };
    const refused = await this.#patience.within(this.#device.write(word, id));
    if (refused === undefined) return { answer: this.#tooLate(`; ${word} may hold procedure ${id}`) };
    if (refused !== '') return { answer: this.#disabled(refused) };
    const kept = `; ${word} keeps procedure ${id}, and ${this.#command} was not written`;
    for (;;) {
      const seen = await this.#patience.within(this.#device.ask());
      if (!seen) return { answer: this.#tooLate(`${this.#patience.hasGivenUp ? '' : `: it has not taken procedure ${id}`}${kept}`) };
      const now = this.#readyIn(seen);
      if (typeof now === 'string') return { answer: this.#disabled(`${now}, since procedure ${id} was set${kept}`) };
      if (now.state !== ready.state || now.word !== ready.word)
        return { answer: this.#disabled(`it has become ${now.state} with ${now.word}, and was ${ready.state} with ${ready.word} before procedure ${id} was set${kept}`) };
      if (!seen.has('ProcedureReq')) return now;
      const asked = wordIn(seen, 'ProcedureReq');
      if ('value' in asked && asked.value === id) return now;
      await this.#patience.pause(LOOK_EVERY_MS);
    }
  }

  /** Until it is decided, or over. */
  async #watch(given: Given): Promise<Verdict> {
    let wasStanding = false;
    let verdict: Verdict = { waits: 'its device has not answered' };
    while (!this.#patience.isOver) {
      const seen = await this.#patience.within(this.#device.ask());
      if (!seen) break;
      const word = wordIn(seen, given.word);
      verdict = judge(seen, given, wasStanding && 'value' in word && word.value === 0);
      if (!('waits' in verdict)) return verdict;
      wasStanding ||= 'value' in word && word.value === given.bit;
      await this.#patience.pause(LOOK_EVERY_MS);
    }
    return verdict;
  }

  /**
   * The command word is taken back; then the service is looked at once more, for what it accepted meanwhile counts.
   * @param refused what the write of the command word ended with; undefined where it may still be on its way.
   */
  async #failed(given: Given, verdict: Exclude<Verdict, { readonly accepted: true }>, refused: string | undefined, before: string): Promise<RequestAnswer> {
    const stands = await this.#takenBack(given, refused === undefined);
    if ('accepted' in stands) return { ok: true, value: true };
    const told = (rule: string, text: string): RequestAnswer => ({ ok: false, rule, message: `service ${this.#name}${text}${stands.told}` });
    if ('failed' in verdict) return told(refused ? COMMAND_DISABLED : COMMAND_FAILED, `: ${verdict.failed}${before}`);
    if (this.#patience.hasGivenUp) return told(COMMAND_WITHDRAWN, ` had not accepted ${this.#command} (${verdict.waits}) when its phase was held or waited no more`);
    return told(COMMAND_TIMEOUT, ` has not accepted ${this.#command} within ${seconds(ACCEPTED_WITHIN_MS)}: ${verdict.waits}${before}`);
  }

  /** Orders reach a device one behind the other, so an order that is still on its way is overtaken by none: what the word reads before it has come proves nothing. */
  async #takenBack(given: Given, mayBeOnItsWay: boolean): Promise<{ readonly accepted: true } | { readonly told: string }> {
    const { word, bit } = given;
    const still = new Patience(this.#clock, TAKEN_BACK_WITHIN_MS, { atMonoMs: this.#clock.monoMs(), stillWaits: () => true, gaveUp: new AbortController().signal });
    try {
      const setBack = mayBeOnItsWay ? await still.within(this.#device.write(word, 0)) : undefined;
      const hasCome = !mayBeOnItsWay || setBack === '';
      let seen = await still.within(this.#device.ask());
      let stood = seen && wordIn(seen, word);
      const stands = !stood || 'unknown' in stood || stood.value === bit;
      if (stands && !still.isOver) {
        await still.within(this.#device.write(word, 0));
        seen = await still.within(this.#device.ask());
        stood = seen && wordIn(seen, word);
      }
      if (seen && 'accepted' in judge(seen, given, false)) return { accepted: true };
      if (!hasCome) return { told: `; whether ${word} = ${bit} is still on its way to the device is not known, so ${this.#command} may act later: look at the module` };
      if (stood && 'value' in stood && stood.value !== bit) return { told: stands || mayBeOnItsWay ? `; ${word} was set back to ${stood.value}` : '' };
      const reads = stood && 'value' in stood ? `${word} still reads ${stood.value}` : `what ${word} holds is not known`;
      return { told: `; ${reads}, so ${this.#command} may act later: set it back at the module` };
    } finally {
      still.end();
    }
  }

  #tooLate(more: string): RequestAnswer {
    const { hasGivenUp } = this.#patience;
    const why = hasGivenUp ? 'its phase was held or waited no more' : `${seconds(ACCEPTED_WITHIN_MS)} had passed since the chart asked`;
    return { ok: false, rule: hasGivenUp ? COMMAND_WITHDRAWN : COMMAND_TIMEOUT, message: `service ${this.#name}: ${this.#command} was not written, because ${why}${more}` };
  }

  #disabled(why: string): RequestAnswer {
    return disabled(this.#name, why);
  }
}

/** The phase is held (decisions 3.5), and goes on when somebody has looked at the module. */
export function disabled(name: string, why: string): RequestAnswer {
  return { ok: false, rule: COMMAND_DISABLED, message: `service ${name}: ${why}` };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
