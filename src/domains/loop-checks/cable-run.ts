/** One cable acceptance while it lasts: it looks at what the box shows and drives nothing. */
import { randomUUID } from 'node:crypto';
import type { ImagePlan } from '../../../runtime/port.js';
import { IMAGE_HEADER, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { guarded } from '../../platform/base/guarded.js';
import { component } from '../../platform/store/audit-record.js';
import type { Put, Store } from '../../platform/store/store.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { channelsOf } from '../io-modules/channels.js';
import { IOModule } from '../io-modules/kind.js';
import type { LocalProbes } from '../placement/local-probes.js';
import type { SigningKeys } from '../signatures/signature.js';
import { CableAcceptance, type CableSheet, type CableStatus, type CableTrial, type TrialName } from './cable-kind.js';
import { RETURN_MS_MAX, type Shown, TrialObserver } from './cable-trial.js';
import type { Conductor } from './run.js';
import { sealed } from './sheet.js';

const LOOK_MS = 20;
const AGAIN_MS = 500;
const CUT_OFF = 'the gateway ended while it was under way: what was seen of it is not known';

export interface CableDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly probes: Pick<LocalProbes, 'read'>;
  readonly keys: SigningKeys;
  readonly image: (site: string, module: string) => ImagePlan | undefined;
}

interface Open {
  readonly trial: TrialName;
  readonly note: string;
  readonly begunAt: string;
  readonly wallLessMonoMs: number;
  readonly watch: TrialObserver;
  readonly before: ReadonlyMap<string, Value>;
  overMonoMs: number | undefined;
  endedAt: string;
  failSafeTaken: boolean;
}

type EndReason = NonNullable<CableSheet['end']>['reason'];
const SYSTEM = 'cable-acceptance';

export class CableRun {
  readonly id: string;
  readonly site: string;
  readonly #deps: CableDeps;
  readonly #conductor: Conductor | undefined;
  #sheet: CableSheet;
  #open: Open | undefined;
  /** A trial whose outputs are read before it begins. */
  #beginning: TrialName | undefined;
  #cancelLook: () => void = () => undefined;
  #cancelEnd: () => void = () => undefined;
  #isStopping = false;
  #done: Promise<void> | undefined;

  constructor(deps: CableDeps, place: { readonly id: string; readonly site: string }, sheet: CableSheet, conductor: Conductor | undefined) {
    this.#deps = deps;
    this.id = place.id;
    this.site = place.site;
    this.#sheet = sheet;
    this.#conductor = conductor;
  }

  get sheet(): CableSheet {
    return this.#sheet;
  }

  get hasEnded(): boolean {
    return this.#done !== undefined;
  }

  /** The trial that is under way: told to be over, it waits for its channels. */
  get open(): { readonly trial: TrialName; readonly isOver: boolean } | undefined {
    if (this.#beginning) return { trial: this.#beginning, isOver: false };
    return this.#open && { trial: this.#open.trial, isOver: this.#open.overMonoMs !== undefined };
  }

  begin(durationMs: number): void {
    this.#cancelEnd = this.#deps.clock.after(durationMs, () => this.end('timed-out'));
  }

  // -------------------------------------------------------------- trials

  /** False: the acceptance has ended meanwhile, and no trial was begun. Whoever calls has looked that none is open. */
  async beginTrial(trial: TrialName, note: string): Promise<boolean> {
    const { clock } = this.#deps;
    this.#beginning = trial;
    const before = await this.#outputs().finally(() => {
      this.#beginning = undefined;
    });
    if (this.hasEnded) return false;
    const nowMs = clock.monoMs();
    const watch = new TrialObserver(trial, this.#shown(), nowMs);
    const at = timestamp(clock.wallMs());
    this.#open = { trial, note, begunAt: at, wallLessMonoMs: clock.wallMs() - nowMs, watch, before, overMonoMs: undefined, endedAt: '', failSafeTaken: false };
    this.#lookLater();
    await this.#noteBegun(this.#open);
    return true;
  }

  /** On the disk it stands on the page from its begin on, as what it is if this process ends before it does. */
  async #noteBegun(open: Open): Promise<void> {
    const begun = { ...this.#trialOf(open, undefined), problems: [], incomplete: [CUT_OFF] };
    const spec = { ...this.#sheet, trials: [...this.#sheet.trials, begun] };
    await this.#deps.store.write({ puts: [{ ...this.#put(), spec } as Put] }).catch(() => undefined); // whoever marks it is told with his own record
  }

  /** False: no trial is under way that could be over. */
  trialOver(): boolean {
    const open = this.#open;
    if (!open || open.overMonoMs !== undefined) return false;
    open.overMonoMs = this.#deps.clock.monoMs();
    open.endedAt = timestamp(this.#deps.clock.wallMs());
    open.watch.over(open.overMonoMs);
    return true;
  }

  #lookLater(): void {
    this.#cancelLook = this.#deps.clock.after(LOOK_MS, () => {
      const open = this.#open;
      if (!open || this.hasEnded) return;
      guarded('look of a cable acceptance', () => this.#look(open));
      const nowMs = this.#deps.clock.monoMs();
      if (open.watch.isSettled || (open.overMonoMs !== undefined && nowMs - open.overMonoMs > RETURN_MS_MAX)) this.#close(open).catch(() => undefined);
      else this.#lookLater();
    });
  }

  #look(open: Open): void {
    open.watch.look(this.#shown(), this.#deps.clock.monoMs());
    const module = this.#deps.store.get(IOModule, this.site, this.#sheet.module);
    open.failSafeTaken ||= module?.status.conditions.some(({ type, reason }) => type === 'FailSafeArmed' && reason === 'Taken') ?? false;
  }

  /** Quality and age of what is read, as everybody sees it. */
  #shown(): readonly Shown[] {
    const plan = this.#deps.image(this.site, this.#sheet.module);
    const module = this.#deps.store.get(IOModule, this.site, this.#sheet.module);
    if (!plan || !module) return [];
    const image = new ProcessImage(plan.channels.length, plan.buffer);
    const isSilent = Atomics.load(image.header, IMAGE_HEADER.silent) === 1;
    return channelsOf(module.spec).flatMap(({ name, direction, readbackAddress, pollIntervalMs }, at) => {
      if (direction === 'output' && readbackAddress === '') return [];
      const sampledMonoMs = image.sampledMonoMs[at] ?? 0;
      return [{ channel: name, isGood: !isSilent && sampledMonoMs > 0 && image.quality[at] === QUALITY.Good, sampledMonoMs, pollMs: pollIntervalMs }];
    });
  }

  async #outputs(): Promise<ReadonlyMap<string, Value>> {
    const module = this.#deps.store.get(IOModule, this.site, this.#sheet.module);
    const names = module ? channelsOf(module.spec).flatMap(({ name, direction }) => (direction === 'output' ? [name] : [])) : [];
    const samples = names.length === 0 ? [] : await this.#deps.probes.read(this.site, this.#sheet.module, names);
    return new Map((samples ?? []).map(({ channel, value, quality }) => [channel, quality === 'Good' ? value : null]));
  }

  async #close(open: Open): Promise<void> {
    const after = await this.#outputs();
    if (this.#open !== open) return;
    this.#open = undefined;
    this.#sheet = { ...this.#sheet, trials: [...this.#sheet.trials, this.#trialOf(open, after)] };
    if (!this.hasEnded) await this.#deps.store.write({ puts: [this.#put()] }).catch(() => undefined); // it is written with what comes next
  }

  #trialOf({ trial, note, begunAt, endedAt, wallLessMonoMs, watch, before, failSafeTaken }: Open, after: ReadonlyMap<string, Value> | undefined): CableTrial {
    const { clock } = this.#deps;
    // what nobody has read is not told
    const outputs = [...(after ? before : [])].map(([channel, value]) => ({
      channel,
      before: value,
      after: after?.get(channel) ?? null,
      isSame: value === (after?.get(channel) ?? null),
    }));
    const clockStepMs = Math.round(clock.wallMs() - clock.monoMs() - wallLessMonoMs);
    return { trial, note, begunAt, endedAt, ...watch.figures(clock.monoMs(), clockStepMs), failSafeTaken, clockStepMs, outputs };
  }

  // -------------------------------------------------------------- end

  end(reason: EndReason, by?: string, accountId?: string): void {
    if (this.#done) return;
    this.#cancelEnd();
    this.#cancelLook();
    const open = this.#open;
    this.#open = undefined;
    const trials = open ? [...this.#sheet.trials, this.#trialOf(open, undefined)] : this.#sheet.trials;
    const isWhole = trials.length > 0 && reason === 'finished' && trials.every(({ incomplete = [] }) => incomplete.length === 0);
    const outcome = trials.some(({ problems }) => problems.length > 0) ? 'fault' : isWhole ? 'pass' : 'incomplete';
    this.#sheet = { ...this.#sheet, trials, outcome, end: { reason, at: timestamp(this.#deps.clock.wallMs()), by: by ?? SYSTEM } };
    const isPerson = accountId !== undefined && accountId === this.#conductor?.actor.accountId;
    this.#done = this.#seal(isPerson ? this.#conductor : undefined);
  }

  /** What was not sealed by then is sealed by the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.end('shutdown');
    await this.#done;
  }

  get done(): Promise<void> {
    return this.#done ?? Promise.resolve();
  }

  async #seal(conductor: Conductor | undefined): Promise<void> {
    const { store, clock, keys } = this.#deps;
    const actor = conductor?.actor ?? component(SYSTEM);
    const by = conductor?.signatory ?? { accountId: actor.accountId, displayName: actor.displayName, groups: [], issuedAtMs: null };
    for (;;) {
      const at = timestamp(clock.wallMs());
      const revision = (store.get(CableAcceptance, this.site, this.id)?.metadata.generation ?? 0) + 1;
      const found = { trials: this.#sheet.trials.map(({ trial, problems }) => ({ trial, problems })) };
      const signature = sealed({ kind: 'CableAcceptance', name: this.id, site: this.site, revision, spec: this.#sheet, found, by, at }, keys);
      const status: CableStatus = { phase: 'Sealed', digest: signature.record.subject.digest, sealedAt: at, signature: signature.record };
      const audit = {
        site: this.site,
        actor,
        action: 'Sign' as const,
        category: 'cable-acceptance',
        target: { kind: 'CableAcceptance', name: this.id, site: this.site },
        result: 'Success' as const,
        operatorReason: this.#sheet.reason,
        details: { ioModule: this.#sheet.module, outcome: this.#sheet.outcome, end: this.#sheet.end?.reason },
        signature: { ...signature.record, digest: signature.digest },
        correlationID: randomUUID(),
      };
      try {
        await store.write({ puts: [this.#put(status)], audits: [audit] });
        return;
      } catch {
        if (this.#isStopping) return;
        await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve)); // nothing can be written now
      }
    }
  }

  #put(status?: CableStatus): Put {
    return { kind: CableAcceptance, site: this.site, name: this.id, spec: this.#sheet, ...(status ? { status } : {}) } as Put;
  }
}
