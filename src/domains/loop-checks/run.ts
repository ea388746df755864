/**
 * One loop check while it lasts: step after step under the hand of a person, and the way back of the outputs, whatever ends it.
 *
 * Invariants: a step is on record before the device sees it. Nothing is set once the check has ended. A check has ended only when its
 * outputs are back or when it is known that they cannot come back, and its sheet says which; until then the sheet is not sealed, and the
 * next start goes on with the way back.
 */
import { randomUUID } from 'node:crypto';
import type { HeldOutput, LeftOutput } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { contain } from '../../platform/base/guarded.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Caller } from '../../platform/http/caller.js';
import { type Actor, type AuditDraft, component } from '../../platform/store/audit-record.js';
import type { Put, Store } from '../../platform/store/store.js';
import { IOModule } from '../io-modules/kind.js';
import { isEnabled } from '../io-modules/outputs.js';
import { assetKey } from '../io-modules/rules.js';
import { failureOf, SILENT_PROBE } from '../io-modules/write-failure.js';
import type { LocalProbes } from '../placement/local-probes.js';
import type { Signatory, SigningKeys } from '../signatures/signature.js';
import { Attendance } from './attendance.js';
import type { Trace } from './judge.js';
import { LoopCheck, type LoopChannel, type LoopEnd, type LoopOutput, type LoopSheet, type LoopStatus, type LoopStep } from './kind.js';
import type { PlannedChannel } from './plan.js';
import { judged, outcomeOf, sealed } from './sheet.js';
import type { LoopObserver, OtherReading } from './loop-observer.js';

/** How long the probe holds the outputs without a sign of this thread, and how often it gets one. */
export const LEASE_MS = 5000;
const RENEW_MS = 1000;
const AGAIN_MS = 500;

export interface RunDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly probes: Pick<LocalProbes, 'hold' | 'holdOf' | 'read'>;
  readonly keys: SigningKeys;
  /** Why somebody who could do an action may not do it any more; '' while he may. */
  readonly lapsed: (caller: Caller, action: string, site: string) => string;
}

/** Who conducts it; a check that is only brought back has nobody. */
export interface Conductor {
  readonly signatory: Signatory;
  readonly actor: Actor;
  readonly caller: Caller;
}

/** What its conductor has to be able to do for as long as it lasts. */
const ACTION = 'iomodule:loop-check';

/** How a refusal of the probe ends a check; every other one is `not-taken`. */
const ENDS: Readonly<Record<string, LoopEnd>> = {
  device_unreachable: 'device-lost',
  not_held: 'hold-lost',
  fail_safe_taken: 'fail-safe-taken',
  outputs_withheld: 'outputs-withheld',
};

export const holderOf = (id: string): string => `loop check ${id}`;
const SYSTEM = 'loop-check';

export class LoopCheckRun {
  readonly id: string;
  readonly site: string;
  readonly module: string;
  readonly #deps: RunDeps;
  readonly #conductor: Conductor | undefined;
  readonly #correlationID = randomUUID();
  readonly attendance: Attendance | undefined;
  /** Where nothing can be written the sheet goes on here. */
  #sheet: LoopSheet;
  #end: LoopSheet['end'] = null;
  /** Whom the sheet is signed by when nobody but the product has ended it. */
  #endedByPerson = true;
  #isStopping = false;
  #next: { readonly step: number; readonly channel: string; readonly value: number } | undefined;
  #wake: () => void = () => undefined;
  #over: () => void = () => undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(deps: RunDeps, place: { readonly id: string; readonly site: string }, sheet: LoopSheet, conductor: Conductor | undefined) {
    this.#deps = deps;
    this.id = place.id;
    this.site = place.site;
    this.module = sheet.module;
    this.#sheet = sheet;
    this.#conductor = conductor;
    this.#end = sheet.end;
    if (conductor)
      this.attendance = new Attendance(deps.clock, sheet.attend, sheet.attendTimeoutMs, conductor.actor.displayName, () =>
        this.end('unattended', `nobody gave a sign for ${sheet.attendTimeoutMs / 1000} s`),
      );
  }

  get sheet(): LoopSheet {
    return this.#sheet;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** The step that waits for a person, or is taken next. */
  get next(): { readonly step: number; readonly channel: string; readonly value: number } | undefined {
    return this.#next;
  }

  get done(): Promise<void> {
    return this.#done;
  }

  /** Once; the first reason stays. `by`: a person; absent: the product. */
  end(reason: LoopEnd, message: string, by?: string, accountId?: string): void {
    if (this.#end) return;
    const at = timestamp(this.#deps.clock.wallMs());
    this.#end = { reason, message, at, by: by ?? SYSTEM };
    this.#endedByPerson = reason === 'complete' || (accountId !== undefined && accountId === this.#conductor?.actor.accountId);
    this.attendance?.end();
    this.#wake();
    this.#over();
  }

  /** The process stops: one attempt to bring the outputs back; what fails is left to the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.end('shutdown', 'the gateway was stopped');
    this.#wake();
    await this.#done;
  }

  conduct(plan: readonly PlannedChannel[], watch: LoopObserver): void {
    const failed = (fault: unknown): void => this.end('not-recorded', fault instanceof Error ? fault.message : String(fault));
    this.#renew().catch(failed);
    // whatever the steps wait for, the way back does not
    const over = new Promise<void>((resolve) => {
      this.#over = resolve;
    });
    this.#conduct(plan, watch).catch(failed);
    this.#done = over.then(() => this.#bringBack()).catch((fault: unknown) => contain('end of a loop check', fault));
  }

  /** Of a check that an earlier life of the gateway has left. `unfit`: why nothing may be driven out of its row; empty: it is the one that was written. */
  recover(unfit: Promise<string>): void {
    this.end('restart', 'the gateway was started again while the check was under way');
    this.#done = unfit.then((why) => (why === '' ? this.#bringBack() : this.#leave(why))).catch((fault: unknown) => contain('end of a loop check', fault));
  }

  // -------------------------------------------------------------- steps

  async #renew(): Promise<void> {
    while (!this.#end && this.#isEntitled()) {
      const reply = await this.#deps.probes.hold(this.site, this.module, holderOf(this.id), { kind: 'renew', leaseMs: LEASE_MS });
      if (!reply?.ok) this.end(reply?.code === 'fail_safe_taken' ? 'fail-safe-taken' : 'hold-lost', reply?.message ?? SILENT_PROBE);
      if (!this.#end) await this.#pause(RENEW_MS);
    }
  }

  /** Ends early where the check does, or the process. */
  #pause(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const before = this.#wake;
      const finish = (): void => {
        cancel();
        this.#wake = before;
        resolve();
        before();
      };
      const cancel = this.#deps.clock.after(ms, finish);
      this.#wake = finish;
    });
  }

  async #conduct(plan: readonly PlannedChannel[], watch: LoopObserver): Promise<void> {
    let step = 0;
    for (const [place, { row, steps }] of plan.entries()) {
      const others: ReadonlyMap<string, OtherReading>[] = [];
      for (const { percent, value } of steps) {
        step += 1;
        this.#next = { step, channel: row.channel, value };
        const attended = await this.attendance?.next();
        if (!attended) return;
        if (!this.#isEntitled()) return;
        if (!Number.isFinite(value)) return this.end('not-taken', `${row.channel}: its range gives no finite number for step ${step}`);
        const commanded = row.dataType === 'bool' ? value === 1 : value;
        const begun: LoopStep = { step, ...(percent === undefined ? {} : { percent }), commanded, at: timestamp(this.#deps.clock.wallMs()), readings: [], ...attended };
        await this.#record(place, (channel) => ({ ...channel, steps: [...channel.steps, begun] }), begun);
        if (this.#end) return;
        if (!(await this.#isSet(row.channel, commanded, step))) return;
        const seen = await watch.look(row, value, () => this.#end !== null);
        if (!seen) return;
        others.push(seen.others);
        await this.#record(place, (channel) => ({ ...channel, steps: [...channel.steps.slice(0, -1), { ...begun, readings: [...seen.readings] }] }));
      }
      await this.#record(place, (channel) => judged(channel, this.#sheet, tracesOf(others, this.#outputs())));
      if (await this.#isBack(row)) continue;
      return;
    }
    this.#next = undefined;
    this.end('complete', '', this.#conductor?.actor.displayName);
  }

  #outputs(): ReadonlySet<string> {
    return new Set(this.#sheet.before.map(({ channel }) => channel));
  }

  /** An output that was gone through stands as before when the next one is begun. */
  async #isBack({ channel, dataType }: LoopChannel): Promise<boolean> {
    const before = this.#sheet.before.find((row) => row.channel === channel)?.value;
    if (before === null || before === undefined) return true;
    const value = dataType === 'bool' ? Boolean(before) : Number(before);
    await this.#deps.store.write({ audits: [this.#audit({ result: 'Accepted', after: value, details: { loopCheck: this.id, channel } })] });
    return this.#end === null && (await this.#isSet(channel, value));
  }

  /** Accepted is on record by then; what came of it is, whatever has ended the check meanwhile. */
  async #isSet(channel: string, value: Value, step?: number): Promise<boolean> {
    const reply = await this.#deps.probes.hold(this.site, this.module, holderOf(this.id), { kind: 'set', channel, value, leaseMs: LEASE_MS });
    const details = { loopCheck: this.id, channel, ...(step === undefined ? {} : { step }) };
    const failure = reply?.ok ? undefined : failureOf(reply);
    await this.#deps.store.write({
      audits: [this.#audit(failure ? { ...failure.verdict, after: value, details: { ...details, ...failure.details } } : { result: 'Success', after: value, details })],
    });
    if (this.#end) return false;
    if (!failure) return true;
    this.end(ENDS[failure.details.code] ?? 'not-taken', `${channel}: ${failure.details.message}`);
    return false;
  }

  /** Nothing is done in the name of somebody whose account or permission has gone. */
  #isEntitled(): boolean {
    const lapsed = this.#lapsed();
    if (lapsed !== '') this.end('unattended', lapsed);
    return lapsed === '';
  }

  #lapsed(): string {
    return this.#conductor ? this.#deps.lapsed(this.#conductor.caller, ACTION, this.site) : '';
  }

  /** @throws Refusal while nothing can be written. */
  async #record(place: number, change: (channel: LoopChannel) => LoopChannel, step?: LoopStep): Promise<void> {
    if (this.#end) return;
    const channels = this.#sheet.channels.map((channel, at) => (at === place ? change(channel) : channel));
    this.#sheet = { ...this.#sheet, channels };
    const channel = channels[place]?.channel ?? '';
    const audits = step ? [this.#audit({ result: 'Accepted', after: step.commanded, details: { loopCheck: this.id, channel, step: step.step } })] : [];
    await this.#deps.store.write({ puts: [this.#put()], audits });
  }

  #put(status?: LoopStatus): Put {
    return { kind: LoopCheck, site: this.site, name: this.id, spec: this.#sheet, ...(status ? { status } : {}) } as Put;
  }

  #audit(entry: Pick<AuditDraft, 'result'> & Partial<AuditDraft>): AuditDraft {
    return {
      site: this.site,
      actor: this.#conductor?.actor ?? component(SYSTEM),
      action: 'Update',
      category: 'iomodule-write',
      target: { kind: 'IOModule', name: this.module, site: this.site },
      operatorReason: this.#sheet.reason,
      correlationID: this.#correlationID,
      ...entry,
    };
  }

  // -------------------------------------------------------------- the way back

  async #bringBack(): Promise<void> {
    this.#next = undefined;
    this.#sheet = { ...this.#sheet, end: this.#end };
    // an earlier life has had them back: what people have commanded since is theirs
    if (this.#sheet.returned.length > 0) return this.#seal(this.#sheet.returned);
    const touched = new Set(this.#sheet.channels.flatMap(({ channel, steps }) => (steps.length > 0 ? [channel] : [])));
    const before = this.#sheet.before.filter(({ channel }) => touched.has(channel));
    // asked before anything else: what ends the check may take the module from its probe in the next moment
    let asked = this.#returned(before);
    await this.#tryWrite({ puts: [this.#put({ phase: 'Returning', digest: '', sealedAt: '', signature: null })], audits: [] });
    for (;;) {
      const outputs = await asked;
      if (outputs) {
        this.#sheet = { ...this.#sheet, returned: [...outputs] };
        await this.#tryWrite({ puts: [this.#put({ phase: 'Returning', digest: '', sealedAt: '', signature: null })], audits: [] });
        await this.#seal(outputs);
        return;
      }
      if (this.#isStopping) return; // the next start goes on
      await this.#pause(AGAIN_MS);
      asked = this.#returned(before);
    }
  }

  /** Nobody has commanded what such a row says: nothing is written to the device, and nothing is signed. */
  async #leave(why: string): Promise<void> {
    const { clock } = this.#deps;
    const message = `${why}: nothing was driven out of it, and its outputs may stand as they were stepped`;
    const at = timestamp(clock.wallMs());
    const returned = this.#sheet.before.map((row) => ({ ...row, isReturned: false, message }));
    this.#end = { reason: 'altered', message, at, by: SYSTEM };
    this.#sheet = sealable({ ...this.#sheet, outcome: 'incomplete', end: this.#end, returned });
    const status: LoopStatus = { phase: 'Sealed', digest: canonicalDigest(this.#sheet), sealedAt: at, signature: null };
    const audit = this.#audit({
      category: 'loop-check',
      target: { kind: 'LoopCheck', name: this.id, site: this.site },
      result: 'Failed',
      reason: 'NotAsRecorded',
      details: { ioModule: this.module, message, outputs: returned.map(({ channel }) => channel) },
    });
    while (!(await this.#tryWrite({ puts: [this.#put(status)], audits: [audit] })) && !this.#isStopping) await this.#pause(AGAIN_MS);
  }

  /** Undefined while the device cannot be reached. The probe is asked first, whatever became of the module: it may still hold the outputs. */
  async #returned(before: readonly LoopOutput[]): Promise<readonly LoopOutput[] | undefined> {
    const ask = { kind: 'return', device: this.#device(), before: leftOutputs(before, this.#sheet) } as const;
    const reply = await this.#deps.probes.hold(this.site, this.module, holderOf(this.id), ask);
    if (reply?.ok) return before.map((row) => becameOf(row, reply.outputs, 'its probe does not tell of it'));
    const gone = this.#goneBecause();
    if (gone === '') return undefined;
    const hold = this.#deps.probes.holdOf(this.site, this.module, holderOf(this.id));
    if (!hold) return before.map((row) => ({ ...row, isReturned: false, message: gone }));
    if (!hold.left) return undefined; // its probe is at its last attempt
    const { left } = hold;
    return before.map((row) => {
      const became = becameOf(row, left, 'whether it went back is not known');
      return became.isReturned ? became : { ...became, message: `${gone}; ${became.message}` };
    });
  }

  /** Why nobody serves the device of the sheet any more; empty: somebody does, or will. */
  #goneBecause(): string {
    const module = this.#deps.store.get(IOModule, this.site, this.module);
    if (!module) return 'the module was deleted';
    if (this.#device() !== assetKey(module.spec)) return 'the module was changed, and stands for another device now';
    return isEnabled(module.spec) ? '' : 'the module was disabled';
  }

  /** Of the sheet; an earlier release has kept protocol and address of it alone. */
  #device(): string {
    const { device, protocol, address } = this.#sheet;
    if (device !== undefined) return device;
    const spec = this.#deps.store.get(IOModule, this.site, this.module)?.spec;
    return spec?.protocol === protocol && spec.address === address ? assetKey(spec) : `${protocol} ${address}`;
  }

  async #seal(returned: readonly LoopOutput[]): Promise<void> {
    const { store, clock, keys } = this.#deps;
    const channels = this.#sheet.channels.map((channel) =>
      channel.outcome === 'not-checked' && channel.steps.length > 0 ? { ...channel, message: 'the check ended before its last step' } : channel,
    );
    const whole = sealable({ ...this.#sheet, channels, returned: [...returned] });
    this.#sheet = { ...whole, outcome: outcomeOf(whole) };
    for (;;) {
      const at = timestamp(clock.wallMs());
      const revision = (store.get(LoopCheck, this.site, this.id)?.metadata.generation ?? 0) + 1;
      const found = { channels: this.#sheet.channels.map(({ channel, outcome }) => ({ channel, outcome })) };
      const signature = sealed({ kind: 'LoopCheck', name: this.id, site: this.site, revision, spec: this.#sheet, found, by: this.#signer().signatory, at }, keys);
      const { outcome, end } = this.#sheet;
      const { actor } = this.#signer();
      const writes = returned.flatMap((row) => this.#auditOfReturn(row, actor));
      const audit = this.#audit({
        actor,
        action: 'Sign',
        category: 'loop-check',
        target: { kind: 'LoopCheck', name: this.id, site: this.site },
        result: 'Success',
        details: {
          ioModule: this.module,
          outcome,
          end: end?.reason,
          message: end?.message,
          returned: returned.map(({ channel, value, isReturned }) => ({ channel, value, isReturned })),
        },
        signature: { ...signature.record, digest: signature.digest },
      });
      const status: LoopStatus = { phase: 'Sealed', digest: signature.record.subject.digest, sealedAt: at, signature: signature.record };
      if (await this.#tryWrite({ puts: [this.#put(status)], audits: [...writes, audit] })) return;
      if (this.#isStopping) return;
      await this.#pause(AGAIN_MS);
    }
  }

  /** What was written on the way back; nothing was of what was never set, nor of what logic or the fail-safe table has. */
  #auditOfReturn({ channel, value, source, isReturned, message }: LoopOutput, actor: Actor): AuditDraft[] {
    const details = { loopCheck: this.id, channel, isWayBack: true };
    if (isReturned && message === '') return [this.#audit({ actor, result: 'Success', after: value, details })];
    if (isReturned || source === 'fail-safe') return [];
    return [this.#audit({ actor, result: 'Failed', reason: 'NotReturned', after: value, details: { ...details, message } })];
  }

  /** The person who has conducted it to its end; the product where it ended without him, or where he is nobody here any more. */
  #signer(): Pick<Conductor, 'actor' | 'signatory'> {
    if (this.#conductor && this.#endedByPerson && this.#lapsed() === '') return this.#conductor;
    const actor = component(SYSTEM);
    return { actor, signatory: { accountId: actor.accountId, displayName: actor.displayName, groups: [], issuedAtMs: null } };
  }

  async #tryWrite(change: { readonly puts: readonly Put[]; readonly audits: readonly AuditDraft[] }): Promise<boolean> {
    try {
      await this.#deps.store.write(change);
      return true;
    } catch {
      return false; // nothing can be written now
    }
  }
}

/** A device may show a number that is none, which nothing can be sealed with: it stands there as null. */
function sealable(sheet: LoopSheet): LoopSheet {
  return JSON.parse(JSON.stringify(sheet)) as LoopSheet;
}

/** An output of the sheet with what its probe tells of it. */
function becameOf(row: LoopOutput, told: readonly HeldOutput[], untold: string): LoopOutput & { readonly isReturned: boolean; readonly message: string } {
  const found = told.find(({ channel }) => channel === row.channel);
  if (!found) return { ...row, isReturned: false, message: untold };
  const { value, source, isReturned = false, message = '' } = found;
  return { ...row, value, source, isReturned, message };
}

/** With the place in the device that each of them was set at. */
function leftOutputs(before: readonly LoopOutput[], { channels }: LoopSheet): LeftOutput[] {
  return before.flatMap(({ channel, value, source }) => {
    const found = channels.find((row) => row.channel === channel);
    return found ? [{ channel, value, source, address: found.address, dataType: found.dataType }] : [];
  });
}

/** What every other channel showed over the steps. */
function tracesOf(steps: readonly ReadonlyMap<string, OtherReading>[], outputs: ReadonlySet<string>): Trace[] {
  const keys = new Set(steps.flatMap((step) => [...step.keys()]));
  return [...keys].map((channel) => ({
    channel,
    isOutput: outputs.has(channel),
    values: steps.map((step) => step.get(channel)?.value ?? null),
    spreads: steps.map((step) => step.get(channel)?.spread ?? 0),
  }));
}
