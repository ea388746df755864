/**
 * Keeps every unit's runtime running with the plan its configuration calls for (decisions PROG, 3.8). Woken by changes of
 * what a plan is made of; an unchanged plan is not sent again.
 */
import { isDeepStrictEqual } from 'node:util';
import type { NetworkReport, RuntimeSettings, UnitOutbound } from '../../../runtime/port.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Moment } from '../../platform/base/moment.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { lifeSign } from '../../platform/store/life-sign.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { ControlProgram, type ControlProgramSpec, type ControlProgramStatus } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { NO_CELL } from '../plant/rules.js';
import type { LocalRuntimes } from '../placement/local-runtimes.js';
import { type RetainedSpec, RetainedValues } from '../placement/kind.js';
import { type ImageSource, type PlanContent, planContent, withTable } from './plan.js';
import { unitConditions } from './unit-conditions.js';
import { STARTING, type UnitLink } from '../placement/runtimes.js';
import type { Key } from '../../platform/reconcile/key.js';

export interface UnitReconcilerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtimes: LocalRuntimes;
  readonly image: (site: string) => ImageSource;
  readonly settings: RuntimeSettings;
  readonly timeScale: () => number;
  /** Build that the unit runtimes of this appliance run. */
  readonly build: string;
}

/** One that the runtime prepares and one that waits for it: what changes meanwhile goes into the plan after those. */
const PLANS_COMING_MAX = 2;
const PLANS_LOOK_MS = 50;
/** While the disk takes nothing, the word that a unit is not executed waits. */
const STORED_LOOK_MS = 1000;

type Program = Resource<ControlProgramSpec, ControlProgramStatus>;

export class UnitReconciler implements Reconciler {
  readonly name = 'unit';
  readonly #parts: UnitReconcilerParts;
  readonly #sent = new Map<string, PlanContent>();
  /** Last report per network and unsaved retained values per unit, for the time when the disk accepts changes again. */
  readonly #reports = new Map<string, { readonly link: UnitLink; readonly report: NetworkReport }>();
  readonly #unsaved = new Map<string, { readonly link: UnitLink; readonly networks: RetainedSpec['networks']; readonly at: Moment }>();
  /** Units that the box had when it was started, and has not scanned since: the plant waits for them, and nobody for an answer yet. */
  readonly #atStart: Set<string>;
  #revision = 0;

  constructor(parts: UnitReconcilerParts) {
    this.#parts = parts;
    this.#atStart = new Set(parts.store.list(Unit).map(({ metadata: { site, name } }) => `${site}/${name}`));
  }

  keys(): Iterable<Key> {
    return this.#parts.store.list(Unit).map((unit) => ({ site: unit.metadata.site, name: unit.metadata.name }));
  }

  sourceOf({ name }: Key): string {
    return `${Unit.kind}/${name}`;
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const { store, runtimes } = this.#parts;
    const key = `${site}/${name}`;
    const retained = store.get(RetainedValues, site, name)?.spec.networks ?? {};
    if (store.get(Unit, site, name)?.spec.processCellName === '') return this.#leaveStored(site, name);
    const content = planContent(site, name, { read: store, image: this.#parts.image(site), settings: this.#parts.settings, timeScale: this.#parts.timeScale(), retained });
    if (!content) {
      this.#sent.delete(key);
      await runtimes.remove(site, name);
      return 'settled';
    }
    const before = this.#sent.get(key);
    if (before && hasSameImages(before, content) && isDeepStrictEqual({ ...before, moduleModes: {} }, { ...content, moduleModes: {} })) {
      this.#sent.set(key, content);
      runtimes.setModes(site, name, content.moduleModes);
      const link = runtimes.link(site, name);
      if (link) this.#unitStatus(link); // the pin of its build may have changed
      return 'settled';
    }
    if (runtimes.plansComing(site, name) >= PLANS_COMING_MAX) return { lookAgainMs: PLANS_LOOK_MS };
    this.#sent.set(key, content);
    this.#revision += 1;
    runtimes.run(withTable(content, this.#revision, retained), this.#atStart.delete(key));
    const link = runtimes.link(site, name);
    if (!before && link) this.linkChanged(link, 'down'); // what the last run of the appliance left is not the case yet
    return 'settled';
  }

  /** A unit without parent is stored and not executed (decisions D-UNIT-02). */
  async #leaveStored(site: string, name: string): Promise<Outcome> {
    const { store, runtimes } = this.#parts;
    this.#sent.delete(`${site}/${name}`);
    const isTakenOut = runtimes.link(site, name) !== undefined;
    await runtimes.remove(site, name);
    const unit = store.get(Unit, site, name);
    if (unit?.spec.processCellName !== '') return 'settled';
    if (!store.accepting) return { lookAgainMs: STORED_LOOK_MS };
    // one that an earlier release has executed keeps its epoch, and so has the alarm of a runtime that is down
    const epoch = isTakenOut ? 0 : unit.status.runtime.epoch;
    const link = { site, unit: name, ready: false, epoch, message: NO_CELL };
    const runtime = { ...unit.status.runtime, ready: false, message: NO_CELL, epoch };
    const conditions = unitConditions(unit.status.conditions, { link, image: this.#parts.build, pinnedImage: unit.spec.runtimeImage, networks: [], isStoredOnly: true });
    const status = { ...unit.status, runtime, conditions };
    if (!isDeepStrictEqual(status, unit.status)) store.apply({ puts: [{ kind: Unit, site, name, status } as Put] });
    this.#stopPrograms(link);
    return 'settled';
  }

  /** Before anybody is answered: no unit scans, whatever the last run of the appliance left. */
  begin(): void {
    const { store, build } = this.#parts;
    if (!store.accepting) return;
    const puts = store.list(Unit).flatMap(({ metadata: { site, name }, spec, status }) => {
      if (!status.runtime.ready) return [];
      const runtime = { ...status.runtime, ready: false, message: STARTING };
      const conditions = unitConditions(status.conditions, { link: runtime, image: build, pinnedImage: spec.runtimeImage, networks: [] });
      return [{ kind: Unit, site, name, status: { ...status, runtime, conditions } } as Put];
    });
    if (puts.length > 0) store.apply({ puts });
  }

  /** Readiness of the worker as the unit and its programs show it. */
  linkChanged(link: UnitLink, what: 'ready' | 'down' | 'plan'): void {
    if (!this.#parts.store.accepting) return;
    if (what === 'down') this.#stopPrograms(link);
    this.#unitStatus(link);
  }

  take(link: UnitLink, message: UnitOutbound): void {
    if (message.type === 'retained') this.#retain(link, message.networks);
    if (message.type === 'network') this.#reported(link, [message]);
    if (message.type === 'plan-loaded') {
      for (const [key, { link: owner }] of this.#reports) if (owner === link) this.#reports.delete(key);
      this.#reported(link, message.networks);
    }
  }

  /** What could not be written while the disk was full. */
  catchUp(): void {
    const { store, runtimes } = this.#parts;
    if (!store.accepting) return;
    for (const link of runtimes.links()) {
      if (link.ready) this.#programStates(link, this.#reportsOf(link));
      this.linkChanged(link, link.ready ? 'ready' : 'down');
    }
    for (const { link, networks, at } of [...this.#unsaved.values()]) this.#retain(link, networks, at);
  }

  // ---------------------------------------------------------------- unit

  #unitStatus(link: UnitLink): void {
    const { store, build } = this.#parts;
    const unit = store.get(Unit, link.site, link.unit);
    if (!unit) return;
    const { status, spec } = unit;
    const runtime = { ready: link.ready, message: link.message, podName: `${link.unit}-runtime`, node: '', epoch: link.epoch };
    const state = status.state === '' && link.ready ? 'Idle' : status.state;
    const conditions = unitConditions(status.conditions, { link, image: build, pinnedImage: spec.runtimeImage, networks: this.#reportsOf(link) });
    const next = { ...status, runtime, state, conditions };
    if (isDeepStrictEqual(next, status)) return;
    store.apply({ puts: [{ kind: Unit, site: link.site, name: link.unit, status: next } as Put] });
  }

  // ---------------------------------------------------------------- programs

  #reported(link: UnitLink, reports: readonly NetworkReport[]): void {
    for (const report of reports) this.#reports.set(`${link.site}/${report.network}`, { link, report });
    if (!this.#parts.store.accepting) return;
    this.#programStates(link, reports);
    if (link.ready) this.#unitStatus(link);
  }

  #reportsOf(link: UnitLink): NetworkReport[] {
    return [...this.#reports.values()].filter((entry) => entry.link === link).map((entry) => entry.report);
  }

  /** Programs as the worker reported them. A module without blocks has no network: its program runs while the unit does. */
  #programStates(link: UnitLink, reports: readonly NetworkReport[]): void {
    const known = new Map(reports.map((report) => [report.network, report]));
    this.#putPrograms(link, (program) => {
      const { name } = program.metadata;
      const report = known.get(name) ?? (program.spec.blocks.length === 0 ? { state: 'Running' as const, message: '', faultedBlocks: [] } : undefined);
      if (!report) return program.status;
      const { state, message, faultedBlocks } = report;
      const networkHash = link.networkHash(name);
      const isNew = program.status.state === 'Pending' || program.status.state === 'Stopped' || program.status.networkHash !== networkHash;
      const loadedAt = isNew || program.status.loadedAt === '' ? timestamp(this.#parts.clock.wallMs()) : program.status.loadedAt;
      return { ...program.status, state, message, faultedBlocks, networkHash, loadedAt };
    });
  }

  /** Whatever they were, they are not executed now (decisions Q-PROG-02). */
  #stopPrograms(link: Pick<UnitLink, 'site' | 'unit' | 'message'>): void {
    this.#putPrograms(link, ({ status }) => ({ ...status, state: 'Stopped', message: link.message, faultedBlocks: [] }));
  }

  /** Gives the programs of a unit new states, all in one change. */
  #putPrograms(link: Pick<UnitLink, 'site' | 'unit'>, statusOf: (program: Program) => ControlProgramStatus): void {
    const { store } = this.#parts;
    const puts = store
      .list(ControlProgram, link.site)
      .filter((program) => program.spec.unitRef === link.unit)
      .flatMap((program) => {
        const status = statusOf(program);
        return isDeepStrictEqual(status, program.status) ? [] : [{ kind: ControlProgram, site: link.site, name: program.metadata.name, status } as Put];
      });
    if (puts.length > 0) store.apply({ puts });
  }

  // ---------------------------------------------------------------- retained values

  #retain(link: UnitLink, networks: RetainedSpec['networks'], at = this.#parts.store.terms.now()): void {
    const { store } = this.#parts;
    const key = `${link.site}/${link.unit}`;
    if (!store.accepting) {
      this.#unsaved.set(key, { link, networks: { ...this.#unsaved.get(key)?.networks, ...networks }, at });
      return;
    }
    this.#unsaved.delete(key);
    const known = store.get(RetainedValues, link.site, link.unit)?.spec.networks ?? {};
    store.apply({ puts: [{ kind: RetainedValues, site: link.site, name: link.unit, spec: { networks: { ...known, ...networks }, savedAt: lifeSign(store, at) } } as Put] });
  }
}

/** The same memory, not the same content: a new image that nobody has written yet may look like an old one. */
function hasSameImages(before: PlanContent, content: PlanContent): boolean {
  return before.images.length === content.images.length && before.images.every(({ buffer }, at) => buffer === content.images[at]?.buffer);
}
