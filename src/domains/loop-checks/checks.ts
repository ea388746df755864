/** The loop checks of this box: one at a time in a site, and each ended as soon as its ground goes. */
import { randomBytes } from 'node:crypto';
import { heldBy } from '../../../runtime/vocabulary/held-by.js';
import type { OutputsOfBox } from '../io-modules/outputs.js';
import { timestamp } from '../../platform/base/clock.js';
import { contain, guarded, guardedPromise } from '../../platform/base/guarded.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import { ControlModule } from '../control-modules/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { assetKey } from '../io-modules/rules.js';
import { ControlProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { workOn } from '../plant/unit-owner.js';
import { LoopCheck, type LoopCheckResource, type LoopSheet, type LoopStatus } from './kind.js';
import { barredBy, type ModuleResource } from './permission.js';
import { isSealedByTrail, modulesAsStepped, type SheetRecords, tellAsStepped, unfitBecause, unreadableSheets } from './open-sheets.js';
import { type LoopCheckRequest, planned } from './plan.js';
import { type Conductor, holderOf, LEASE_MS, LoopCheckRun, type RunDeps } from './run.js';
import { LoopObserver } from './loop-observer.js';

export interface ChecksDeps extends RunDeps {
  /** Whether this box writes outputs at all. */
  readonly outputs: OutputsOfBox;
  readonly queries: SheetRecords;
}

const JUDGED_AGAIN_MS = 10_000;

export class LoopChecks {
  readonly #deps: ChecksDeps;
  /** Under way or on the way back, by site. */
  readonly #runs = new Map<string, LoopCheckRun>();
  /** Sites of a check whose outputs are being taken. */
  readonly #opening = new Set<string>();
  /** Sheets of an earlier life that cannot be read and may have left outputs as they were stepped. */
  readonly #unreadable: { readonly site: string; readonly name: string; readonly module: string }[] = [];
  /** Of what waits to be judged again. */
  readonly #wakes: (() => void)[] = [];
  #isStopped = false;

  constructor(deps: ChecksDeps) {
    this.#deps = deps;
    const { store } = deps;
    const judge = (site: string): unknown => guarded('ground of a loop check', () => this.#judge(site));
    store.watch(IOModule, ({ resource: { metadata } }) => {
      if (this.#runs.get(metadata.site)?.module === metadata.name) judge(metadata.site);
    });
    store.watch(ControlModule, ({ resource }) => judge(resource.metadata.site));
    store.watch(ControlProgram, ({ resource }) => judge(resource.metadata.site));
    store.watch(Unit, ({ resource }) => {
      if (workOn(resource.status) !== '') judge(resource.metadata.site);
    });
    store.watchReload(() => {
      for (const site of this.#runs.keys()) judge(site);
      this.#tellAllAsStepped(); // what a module told was taken back, or could not be told
    });
  }

  running(site: string): LoopCheckRun | undefined {
    return this.#runs.get(site);
  }

  /** Outputs that an earlier life of the gateway has left go back before anything else is checked. */
  start(): void {
    for (const { metadata, spec, status } of this.#deps.store.list(LoopCheck)) {
      if (isClosed(metadata.name, spec, status)) continue;
      const run = new LoopCheckRun(this.#deps, { id: metadata.name, site: metadata.site }, spec, undefined);
      this.#runs.set(run.site, run);
      // whoever changes the row of an open sheet would command its outputs (ADR 0104)
      run.recover(this.#judged(run));
      this.#forgetWhenDone(run);
    }
    guardedPromise('outputs of unreadable loop checks', () => this.#judgeUnreadable());
  }

  /** A ledger that does not answer says nothing of a row: it is asked again until it does, and what stands at the outputs waits meanwhile. */
  async #judged({ site, id }: LoopCheckRun): Promise<string> {
    const { queries, clock } = this.#deps;
    for (;;) {
      try {
        return await unfitBecause(queries, site, id);
      } catch (fault) {
        if (this.#isStopped) throw fault; // the sheet stays open, for the next start
        contain(`judging of loop check ${id}`, fault);
        await new Promise<void>((resolve) => {
          const cancel = clock.after(JUDGED_AGAIN_MS, resolve);
          this.#wakes.push(() => {
            cancel();
            resolve();
          });
        });
      }
    }
  }

  /** One whose sealing is on record had its outputs dealt with. */
  async #judgeUnreadable(): Promise<void> {
    for (const { site, name, module } of unreadableSheets(this.#deps.store)) {
      if (await isSealedByTrail(this.#deps.queries, site, name)) continue;
      this.#unreadable.push({ site, name, module });
    }
    this.#tellAllAsStepped(); // an earlier life may have been killed between the end of a check and what its module tells of it
  }

  #tellAllAsStepped(): void {
    const modules = new Map([...this.#unreadable, ...modulesAsStepped(this.#deps.store)].map(({ site, module }) => [`${site}/${module}`, { site, module }]));
    for (const { site, module } of modules.values()) this.#tellAsStepped(site, module);
  }

  #tellAsStepped(site: string, module: string): void {
    const names = this.#unreadable.filter((each) => each.site === site && each.module === module).map(({ name }) => name);
    guarded('outputs that stand as stepped', () => tellAsStepped(this.#deps.store, site, module, names));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const wake of this.#wakes.splice(0)) wake();
    await Promise.all([...this.#runs.values()].map((run) => run.stop()));
  }

  #forgetWhenDone(run: LoopCheckRun): void {
    const forget = (): void => {
      if (this.#runs.get(run.site) === run) this.#runs.delete(run.site);
      this.#tellAllAsStepped(); // an altered row may name another module than its check was of
    };
    run.done.then(forget, forget);
  }

  // -------------------------------------------------------------- what it rests on

  #judge(site: string): void {
    const run = this.#runs.get(site);
    if (!run || run.hasEnded) return;
    const { store, outputs } = this.#deps;
    const module = store.get(IOModule, site, run.module);
    if (!module) return run.end('module-changed', `I/O module ${run.module} was deleted`);
    const barred = barredBy(store, module, heldBy(holderOf(run.id)), outputs);
    if (barred) return run.end(barred.end, barred.refusal.message);
    if (module.metadata.generation !== run.sheet.moduleGeneration) run.end('module-changed', `I/O module ${run.module} was changed`);
  }

  /** @throws Refusal of what stands in the way. */
  refuseBarred(module: ModuleResource): void {
    const { metadata } = module;
    if (this.#isStopped) throw new Refusal('unavailable', 'the gateway stops', { code: 'device_unreachable' });
    const other = this.#runs.get(metadata.site);
    if (other && this.#deps.store.get(LoopCheck, other.site, other.id)?.status.phase !== 'Sealed') throw busy(other.id, other.module);
    if (this.#opening.has(metadata.site)) throw busy('', metadata.name);
    const barred = barredBy(this.#deps.store, module, '', this.#deps.outputs);
    if (barred) throw barred.refusal;
  }

  // -------------------------------------------------------------- begin

  /** @throws Refusal; nothing is changed then. `record` writes the sheet with the audit record of whoever asks. */
  async begin(module: ModuleResource, body: LoopCheckRequest, conductor: Conductor, record: (id: string, sheet: LoopSheet) => Promise<unknown>): Promise<LoopCheckResource> {
    const { store, clock, probes } = this.#deps;
    const { site, name } = module.metadata;
    this.refuseBarred(module);
    const plan = planned(store, module, body);
    this.#opening.add(site);
    const at = timestamp(clock.wallMs());
    const id = `${name}-${at.replace(/\D/g, '').slice(0, 14)}-${randomBytes(2).toString('hex')}`;
    const letGo = (): Promise<unknown> => probes.hold(site, name, holderOf(id), { kind: 'return', device: assetKey(module.spec), before: [] });
    try {
      const taken = await probes.hold(site, name, holderOf(id), { kind: 'take', leaseMs: LEASE_MS });
      if (!taken?.ok) throw refusalOf(taken?.code ?? 'device_unreachable', taken?.message ?? 'the probe of the module does not answer');
      const sheet: LoopSheet = {
        module: name,
        protocol: module.spec.protocol,
        address: module.spec.address,
        device: assetKey(module.spec),
        moduleGeneration: module.metadata.generation,
        operator: { accountId: conductor.actor.accountId, displayName: conductor.actor.displayName },
        reason: body.reason,
        startedAt: at,
        attend: plan.attend,
        attendTimeoutMs: plan.attendTimeoutMs,
        settleMs: plan.settleMs,
        tolerance: plan.tolerance,
        neighbours: [...plan.neighbours],
        before: [...taken.outputs],
        channels: plan.channels.map(({ row }) => row),
        outcome: 'incomplete',
        end: null,
        returned: [],
      };
      refuseUnreturnable(sheet);
      this.#refuseChanged(module, id);
      await record(id, sheet); // on disk before anything is set: whoever starts after a kill knows what the outputs had
      const stored = store.get(LoopCheck, site, id);
      if (!stored) throw new Refusal('unavailable', 'the sheet was not kept', { code: 'storage_unavailable' });
      const run = new LoopCheckRun(this.#deps, { id, site }, sheet, conductor);
      this.#runs.set(site, run);
      run.conduct(plan.channels, new LoopObserver({ reader: probes, clock, read: store, module, neighbours: plan.neighbours, settleMs: plan.settleMs, tolerance: plan.tolerance }));
      this.#forgetWhenDone(run);
      this.#judge(site);
      return stored;
    } catch (fault) {
      await letGo();
      throw fault;
    } finally {
      this.#opening.delete(site);
    }
  }

  /** What may have gone while the probe was asked. */
  #refuseChanged(module: ModuleResource, id: string): void {
    const { store, outputs } = this.#deps;
    const now = store.get(IOModule, module.metadata.site, module.metadata.name);
    const barred = now && barredBy(store, now, heldBy(holderOf(id)), outputs);
    if (barred) throw barred.refusal;
    if (now?.metadata.generation !== module.metadata.generation) throw conflict('precondition_failed', `I/O module ${module.metadata.name} was changed meanwhile`);
  }
}

function busy(id: string, module: string): Refusal {
  return conflict('loop_check_active', `loop check ${id || 'another one'} of I/O module ${module} is under way; one at a time in a site, since each watches what moves`, {
    loopCheck: id,
    ioModule: module,
  });
}

/** A row that says that it is sealed, and has no signature of its own, was changed past the product while it was open (ADR 0104). */
function isClosed(name: string, { end }: LoopSheet, { phase, signature }: LoopStatus): boolean {
  return phase === 'Sealed' && (signature?.subject.name === name || end?.reason === 'altered');
}

/** Nothing is set that could not be put back. @throws Refusal 409 `not_returnable`. */
function refuseUnreturnable({ channels, before }: LoopSheet): void {
  const unknown = channels.filter(({ channel }) => before.find((row) => row.channel === channel)?.source === 'unknown').map(({ channel }) => channel);
  if (unknown.length === 0) return;
  throw conflict('not_returnable', `what ${unknown.join(', ')} has now cannot be read, and there is no fail-safe value: it could not be put back`, { channels: unknown });
}

function refusalOf(code: string, message: string): Refusal {
  if (code === 'outputs_withheld' || code === 'not_held' || code === 'fail_safe_taken') return conflict('outputs_withheld', message);
  return new Refusal('unavailable', message, { code: 'device_unreachable' });
}
