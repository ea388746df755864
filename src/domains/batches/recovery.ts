/**
 * What becomes of a batch whose control was interrupted (decisions 3.8; contract 3, Batch record, failover events): the
 * appliance ended and was started again, or the runtime of one of its units was. Each unit that is bound again leaves an
 * audit record with both ends of the control gap and an event that names it; the batch carries a summary of the last
 * interruption. What holds the phases is their own runtime; the batch is held here only after a restart of the appliance.
 */
import type { State } from '../../../runtime/vocabulary/states.js';
import { isFinal, RECOVERIES } from '../../../runtime/vocabulary/transitions.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { RetainedValues } from '../units/kind.js';
import type { UnitRuntimes } from '../units/runtimes.js';
import type { BatchPass } from './batch-pass.js';
import { elementIndex } from './element-index.js';
import { CONTROLLER } from './element-pass.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch, type RebindCause, type RecoveredElement, type RecoveredUnit, type RecoverySummary } from './kind.js';
import { HELD_FROM, unrecovered } from './unrecovered.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

interface Interruption {
  readonly cause: RebindCause;
  readonly fromMs: number;
  readonly elements: readonly RecoveredElement[];
}

interface Rebound extends Interruption {
  readonly unit: string;
  readonly toMs: number;
}

export class Recovery {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Batches that were under way when the appliance ended and have not been looked at since. */
  readonly #interrupted = new Map<string, Interruption>();
  /** Units that are not scanned, by `site/unit`; a second end before the first restart adds nothing. */
  readonly #down = new Map<string, Interruption>();
  /** Units that are back and whose batch has not been looked at since, by `site/batch`. */
  readonly #rebound = new Map<string, Rebound[]>();

  constructor(parts: { readonly store: Store; readonly runtimes: UnitRuntimes; readonly clock: Clock }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    for (const batch of this.#store.list(Batch)) if (batch.status.phase !== 'Pending' && !isFinalBatch(batch.status.phase)) this.#found(batch);
    parts.runtimes.onChange((link, what) => {
      if (what === 'down') this.#ended(link.site, link.unit, link.statistics().heartbeatAtMs);
      if (what === 'ready') this.#ready(link.site, link.unit);
    });
  }

  /**
   * Tells the batch what has happened to it since its last look; after a restart of the appliance it is held.
   * @returns what forgets it, to be called when it is on disk: where the disk refuses, the next look tells it again.
   */
  take(pass: BatchPass): () => void {
    const key = `${pass.site}/${pass.scope}`;
    const interruption = this.#interrupted.get(key);
    const taken = this.#rebound.get(key) ?? [];
    if (interruption && pass.tree && !isFinalBatch(pass.status.phase)) this.#applianceBack(pass, interruption);
    for (const rebound of taken) this.#unitBack(pass, rebound);
    return () => {
      this.#interrupted.delete(key);
      unrecovered(this.#store).passed(pass.site, pass.scope);
      const since = (this.#rebound.get(key) ?? []).filter((rebound) => !taken.includes(rebound));
      if (since.length > 0) this.#rebound.set(key, since);
      else this.#rebound.delete(key);
    };
  }

  /** Notes on the summary that the batch has come to rest, and that it has gone on. */
  follow(pass: BatchPass): void {
    const { recovery, phase } = pass.status;
    if (!recovery || recovery.leftAt !== '') return;
    if (phase === 'Held' && recovery.heldAt === '') pass.status = { ...pass.status, recovery: { ...recovery, heldAt: pass.at } };
    const ended = isFinalBatch(phase) || (recovery.heldAt !== '' && phase !== 'Held' && phase !== 'Holding');
    if (ended) pass.status = { ...pass.status, recovery: { ...recovery, leftAt: pass.at } };
  }

  // ------------------------------------------------------------ what has ended

  #found(batch: BatchResource): void {
    const { site, name } = batch.metadata;
    const units = batch.status.allocations.filter(({ state }) => state === 'Granted').map(({ unit }) => unit);
    const aliveMs = units.map((unit) => this.#lastPersistedMs(site, unit, name));
    const elements = this.#elementsOf(site, name);
    const fromMs = Math.max(Date.parse(batch.metadata.updatedAt), ...aliveMs);
    unrecovered(this.#store).found(site, name);
    this.#interrupted.set(`${site}/${name}`, { cause: 'ApplianceRestart', fromMs, elements });
    units.forEach((unit, index) => this.#down.set(`${site}/${unit}`, { cause: 'ApplianceRestart', fromMs: aliveMs[index] || fromMs, elements: [] }));
  }

  #ended(site: string, unit: string, heartbeatAtMs: number): void {
    const key = `${site}/${unit}`;
    if (this.#down.has(key)) return;
    const holder = this.#store.get(Unit, site, unit)?.status.allocatedTo ?? '';
    const elements = holder === '' ? [] : this.#elementsOf(site, holder).filter((element) => element.unit === unit);
    this.#down.set(key, { cause: 'RuntimeRestart', fromMs: heartbeatAtMs, elements });
  }

  /** Its first scan follows at once. */
  #ready(site: string, unit: string): void {
    const key = `${site}/${unit}`;
    const down = this.#down.get(key);
    this.#down.delete(key);
    const holder = this.#store.get(Unit, site, unit)?.status.allocatedTo ?? '';
    if (!down || !this.#store.get(Batch, site, holder)) return;
    const batch = `${site}/${holder}`;
    this.#rebound.set(batch, [...(this.#rebound.get(batch) ?? []), { ...down, unit, toMs: this.#clock.wallMs() }]);
  }

  /** Wall time of the newest durable record that a unit was scanned for the batch; 0 when there is none. */
  #lastPersistedMs(site: string, unit: string, batch: string): number {
    const saved = elementIndex(this.#store)
      .phasesOf(site, batch)
      .filter(({ spec }) => spec.unitRef === unit);
    const retainedAt = this.#store.get(RetainedValues, site, unit)?.metadata.updatedAt;
    return Math.max(retainedAt ? Date.parse(retainedAt) : 0, ...saved.map(({ status }) => status.checkpoint?.savedAtMs ?? 0));
  }

  /** The elements under way, with what the table does to them. */
  #elementsOf(site: string, batch: string): RecoveredElement[] {
    return elementIndex(this.#store)
      .elementsOf(site, batch)
      .filter(({ status }) => status.state !== 'Idle' && !isFinal(status.state))
      .map(({ kind, metadata: { name }, spec, status: { state } }) => {
        const unit = 'unitRef' in spec ? spec.unitRef : '';
        return { kind, name, path: spec.stepPath, unit, found: state, action: actionFor(state) };
      });
  }

  // ------------------------------------------------------------ what is back

  #applianceBack(pass: BatchPass, { cause, fromMs, elements }: Interruption): void {
    const from = timestamp(fromMs);
    const gapMs = gapBetween(from, pass.at);
    const message = `the appliance was restarted; ${gapText(from, pass.at)}`;
    const units = pass.status.allocations
      .filter(({ state }) => state === 'Granted')
      .map(({ unit }): RecoveredUnit => {
        const down = this.#down.get(`${pass.site}/${unit}`) ?? this.#rebound.get(`${pass.site}/${pass.scope}`)?.find((back) => back.unit === unit);
        return { unit, lastAliveAt: down ? timestamp(down.fromMs) : '', reboundAt: '', gapMs: null, auditRecordRef: '' };
      });
    const held = HELD_FROM.includes(pass.status.phase);
    pass.status = {
      ...pass.status,
      recovery: { cause, lastAliveAt: from, backAt: pass.at, gapMs, units, elements, heldAt: '', leftAt: '' },
      conditions: [...pass.status.conditions.filter(({ type }) => type !== 'Recovered'), { type: 'Recovered', status: 'True', reason: 'RuntimeRestart', message }],
    };
    if (held) pass.tree?.command('Hold', 'runtime-restart');
    const auditRecordRef = this.#record(pass, { cause, from, to: pass.at });
    pass.event({ eventType: 'General', eventSubType: 'System', value: 'RuntimeRestart', previousValue: from, message, auditRecordRef });
  }

  #unitBack(pass: BatchPass, { cause, unit, fromMs, toMs, elements }: Rebound): void {
    const [lastAliveAt, reboundAt] = [fromMs > 0 ? timestamp(fromMs) : '', timestamp(toMs)];
    const auditRecordRef = this.#record(pass, { cause, unit, from: lastAliveAt, to: reboundAt });
    const message = `unit ${unit} is scanned again; ${gapText(lastAliveAt, reboundAt)}`;
    pass.event({ ts: reboundAt, eventType: 'General', eventSubType: 'System', unit, equipment: unit, value: cause, previousValue: lastAliveAt, message, auditRecordRef });
    const back: RecoveredUnit = { unit, lastAliveAt, reboundAt, gapMs: gapBetween(lastAliveAt, reboundAt), auditRecordRef };
    const { recovery } = pass.status;
    const goesOn = recovery?.cause === cause && recovery.leftAt === '' && (cause === 'ApplianceRestart' || recovery.heldAt === '');
    const isHeld = elements.some(({ action }) => action !== 'stays');
    const summary: RecoverySummary = goesOn
      ? { ...recovery, units: [...recovery.units.filter((known) => known.unit !== unit), back], elements: [...recovery.elements, ...elements] }
      : { cause, lastAliveAt, backAt: reboundAt, gapMs: back.gapMs, units: [back], elements, heldAt: '', leftAt: isHeld ? '' : reboundAt };
    pass.status = { ...pass.status, recovery: summary };
  }

  /** The audit record that evidences both ends of a gap; answers with its name. */
  #record(pass: BatchPass, details: { readonly cause: RebindCause; readonly unit?: string; readonly from: string; readonly to: string }): string {
    const auditRecordRef = this.#store.nextAuditName(pass.audits.length);
    const { site, scope: name } = pass;
    pass.audits.push({
      site,
      actor: CONTROLLER,
      action: 'Update',
      category: 'recovery',
      target: { kind: 'Batch', name, site },
      result: 'Success',
      rule: 'runtime-restart',
      details,
      correlationID: `recovery-${name}-${this.#clock.wallMs()}`,
    });
    return auditRecordRef;
  }
}

function actionFor(found: State): RecoveredElement['action'] {
  const next = RECOVERIES[found];
  if (next === undefined) return 'stays';
  return next === 'Holding' && found !== 'Holding' ? 'holds' : 'repeats';
}

/**
 * The time between the two moments that are told; null when one is missing, and when the clock went back in between: then the
 * gap is unknown. Nothing is decided by its length (D-C-08).
 */
function gapBetween(from: string, to: string): number | null {
  const gapMs = from === '' ? Number.NaN : Date.parse(to) - Date.parse(from);
  return gapMs >= 0 ? gapMs : null;
}

function gapText(from: string, to: string): string {
  const unmeasured = from !== '' && gapBetween(from, to) === null ? '; the clock went back, its length is unknown' : '';
  return `control gap from ${from || 'unknown'} to ${to}${unmeasured}`;
}

/** The summary as it is served, with what an operator has to do now. */
export function recoveryBody({ recovery, phase }: Pick<BatchStatus, 'recovery' | 'phase'>): Record<string, unknown> | undefined {
  if (!recovery) return undefined;
  const { heldAt, leftAt, ...summary } = recovery;
  const needed = phase === 'Held' && leftAt === '';
  const text = needed ? 'Restart goes on, Stop or Abort ends it' : leftAt !== '' ? `it went on or was ended at ${leftAt}` : '';
  return { ...summary, heldAt, leftAt, operator: { needed, ...(needed ? { command: 'Restart' } : {}), text } };
}
