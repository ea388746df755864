/**
 * What becomes of a batch whose control was interrupted (decisions 3.8; contract 3, Batch record, failover events): the
 * appliance ended and was started again, or the runtime of one of its units was. Each unit that is bound again leaves an
 * audit record with both ends of the control gap and an event that names it; the batch carries a summary of the last
 * interruption. What holds the phases is their own runtime; the batch is held here only after a restart of the appliance.
 */
import { told } from '../../../../runtime/vocabulary/told.js';
import type { WallMs } from '../../../platform/base/times.js';
import * as v from 'valibot';
import type { State } from '../../../../runtime/vocabulary/states.js';
import { isFinal, RECOVERIES } from '../../../../runtime/vocabulary/transitions.js';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { type LifeSign, newestSign, readSign, wallSign } from '../../../platform/store/life-sign.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { Unit } from '../../plant/kind.js';
import { RetainedValues } from '../../placement/kind.js';
import type { UnitLink, UnitRuntimes } from '../../placement/runtimes.js';
import type { BatchReconciliation } from '../tree/batch-reconciliation.js';
import { widened } from '../reading/clock-span.js';
import { elementIndex } from '../tree/element-index.js';
import { activeFailures } from '../../runs/holds.js';
import { BATCH_COMPONENT } from '../tree/element-reconciliation.js';
import {
  Batch,
  type BatchSpec,
  type BatchStatus,
  HELD_FROM,
  isFinalBatch,
  madeAnewBecause,
  type RebindCause,
  type RecoveredElement,
  type RecoveredUnit,
  RecoverySummary,
} from '../kind.js';
import { unrecovered } from './unrecovered.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

interface Interruption {
  readonly cause: RebindCause;
  /** Last sign of life; undefined when none is on record. */
  readonly from: LifeSign | undefined;
  readonly elements: readonly RecoveredElement[];
}

interface Rebound extends Interruption {
  readonly unit: string;
  readonly toMs: WallMs;
  readonly gapMs: number | null;
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
      if (what === 'down') this.#ended(link);
      if (what === 'ready') this.#ready(link.site, link.unit);
    });
  }

  /**
   * Tells the batch what has happened to it since its last look; after a restart of the appliance it is held.
   * @returns what forgets it, to be called when it is on disk: where the disk refuses, the next look tells it again.
   */
  take(reconciliation: BatchReconciliation): () => void {
    const key = `${reconciliation.site}/${reconciliation.scope}`;
    const interruption = this.#interrupted.get(key);
    const taken = this.#rebound.get(key) ?? [];
    if (interruption && reconciliation.tree && !isFinalBatch(reconciliation.status.phase)) this.#applianceBack(reconciliation, interruption);
    for (const rebound of taken) this.#unitBack(reconciliation, rebound);
    return () => {
      this.#interrupted.delete(key);
      unrecovered(this.#store).passed(reconciliation.site, reconciliation.scope);
      const since = (this.#rebound.get(key) ?? []).filter((rebound) => !taken.includes(rebound));
      if (since.length > 0) this.#rebound.set(key, since);
      else this.#rebound.delete(key);
    };
  }

  /** Notes on the summary that the batch has come to rest, and that it has gone on. */
  follow(reconciliation: BatchReconciliation): void {
    const { recovery, phase } = reconciliation.status;
    if (!recovery || recovery.leftAt !== '') return;
    if (phase === 'Held' && recovery.heldAt === '') reconciliation.status = { ...reconciliation.status, recovery: { ...recovery, heldAt: reconciliation.at } };
    const ended = isFinalBatch(phase) || (recovery.heldAt !== '' && phase !== 'Held' && phase !== 'Holding');
    if (ended) reconciliation.status = { ...reconciliation.status, recovery: { ...recovery, leftAt: reconciliation.at } };
  }

  // ------------------------------------------------------------ what has ended

  #found(batch: BatchResource): void {
    const { site, name } = batch.metadata;
    const units = batch.status.allocations.filter(({ state }) => state === 'Granted').map(({ unit }) => unit);
    const alive = units.map((unit) => this.#lastPersisted(site, unit, name));
    const elements = this.#elementsOf(site, name);
    const { updatedAt, resourceVersion } = batch.metadata;
    const from = newestSign([readSign(batch.status.savedAt) ?? wallSign(Date.parse(updatedAt), resourceVersion), ...alive]);
    unrecovered(this.#store).found(site, name);
    this.#interrupted.set(`${site}/${name}`, { cause: 'ApplianceRestart', from, elements });
    units.forEach((unit, index) => this.#down.set(`${site}/${unit}`, { cause: 'ApplianceRestart', from: alive[index] ?? from, elements: [] }));
  }

  #ended(link: UnitLink): void {
    const { site, unit } = link;
    const key = `${site}/${unit}`;
    if (this.#down.has(key)) return;
    const holder = this.#store.get(Unit, site, unit)?.status.allocatedTo ?? '';
    const elements = holder === '' ? [] : this.#elementsOf(site, holder).filter((element) => element.unit === unit);
    const { heartbeatAtMs, heartbeatMonoMs } = link.statistics();
    const from = heartbeatAtMs > 0 ? { ...this.#store.terms.at(heartbeatAtMs, heartbeatMonoMs), version: this.#store.resourceVersion } : undefined;
    this.#down.set(key, { cause: 'RuntimeRestart', from, elements });
  }

  /** Its first scan follows at once. */
  #ready(site: string, unit: string): void {
    const key = `${site}/${unit}`;
    const down = this.#down.get(key);
    this.#down.delete(key);
    const holder = this.#store.get(Unit, site, unit)?.status.allocatedTo ?? '';
    if (!down || !this.#store.get(Batch, site, holder)) return;
    const batch = `${site}/${holder}`;
    this.#rebound.set(batch, [...(this.#rebound.get(batch) ?? []), { ...down, unit, toMs: this.#clock.wallMs(), gapMs: this.#gapSince(down.from) }]);
  }

  /** The newest durable record that a unit was scanned for the batch. */
  #lastPersisted(site: string, unit: string, batch: string): LifeSign | undefined {
    const saved = elementIndex(this.#store)
      .phasesOf(site, batch)
      .filter(({ spec }) => spec.unitRef === unit);
    const retained = this.#store.get(RetainedValues, site, unit);
    return newestSign([
      retained && (readSign(retained.spec.savedAt) ?? wallSign(Date.parse(retained.metadata.updatedAt), retained.metadata.resourceVersion)),
      ...saved.map(({ status, metadata }) => readSign(status.savedAt) ?? (status.checkpoint && wallSign(status.checkpoint.savedAtMs, metadata.resourceVersion))),
    ]);
  }

  /** How long ago that was: null where it cannot be measured. Nothing is decided by it (D-C-08). */
  #gapSince(from: LifeSign | undefined): number | null {
    const gapMs = from && this.#store.terms.elapsedMs(from);
    return gapMs === undefined ? null : Math.round(gapMs);
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

  #applianceBack(reconciliation: BatchReconciliation, { cause, from: sign, elements }: Interruption): void {
    const from = textOf(sign);
    const gapMs = this.#gapSince(sign);
    const message = `the appliance was restarted; ${gapText(from, reconciliation.at, gapMs)}`;
    const units = reconciliation.status.allocations
      .filter(({ state }) => state === 'Granted')
      .map(({ unit }): RecoveredUnit => {
        const down = this.#down.get(`${reconciliation.site}/${unit}`) ?? this.#rebound.get(`${reconciliation.site}/${reconciliation.scope}`)?.find((back) => back.unit === unit);
        return { unit, lastAliveAt: textOf(down?.from), reboundAt: '', gapMs: null, auditRecordRef: '' };
      });
    const held = HELD_FROM.includes(reconciliation.status.phase);
    reconciliation.status = {
      ...reconciliation.status,
      ...(from > reconciliation.at ? { clockSpan: widened(reconciliation.status.clockSpan, { from: reconciliation.at, to: from }) } : {}),
      recovery: { cause, lastAliveAt: from, backAt: reconciliation.at, gapMs, units, elements, heldAt: '', leftAt: '' },
      conditions: [...reconciliation.status.conditions.filter(({ type }) => type !== 'Recovered'), { type: 'Recovered', status: 'True', reason: 'RuntimeRestart', message }],
    };
    if (held) reconciliation.tree?.command('Hold', 'runtime-restart');
    const auditRecordRef = this.#record(reconciliation, { cause, from, to: reconciliation.at, gapMs });
    const as = told('box-restarted', { from, to: reconciliation.at, gapMs: gapMs === null ? '' : String(gapMs) });
    reconciliation.event({ eventType: 'General', eventSubType: 'System', value: 'RuntimeRestart', previousValue: from, message, told: as, auditRecordRef });
  }

  #unitBack(reconciliation: BatchReconciliation, { cause, unit, from, toMs, gapMs, elements }: Rebound): void {
    const [lastAliveAt, reboundAt] = [textOf(from), timestamp(toMs)];
    const auditRecordRef = this.#record(reconciliation, { cause, unit, from: lastAliveAt, to: reboundAt, gapMs });
    const message = `unit ${unit} is scanned again; ${gapText(lastAliveAt, reboundAt, gapMs)}`;
    const as = told('unit-restarted', { unit, from: lastAliveAt, to: reboundAt, gapMs: gapMs === null ? '' : String(gapMs) });
    const of = { unit, equipment: unit, value: cause, previousValue: lastAliveAt, message, told: as, auditRecordRef };
    reconciliation.event({ ts: reboundAt, eventType: 'General', eventSubType: 'System', ...of });
    const back: RecoveredUnit = { unit, lastAliveAt, reboundAt, gapMs, auditRecordRef };
    const { recovery } = reconciliation.status;
    const goesOn = recovery?.cause === cause && recovery.leftAt === '' && (cause === 'ApplianceRestart' || recovery.heldAt === '');
    const isHeld = elements.some(({ action }) => action !== 'stays');
    const summary: RecoverySummary = goesOn
      ? { ...recovery, units: [...recovery.units.filter((known) => known.unit !== unit), back], elements: [...recovery.elements, ...elements] }
      : { cause, lastAliveAt, backAt: reboundAt, gapMs, units: [back], elements, heldAt: '', leftAt: isHeld ? '' : reboundAt };
    reconciliation.status = { ...reconciliation.status, recovery: summary };
  }

  /** The audit record that evidences both ends of a gap; answers with its name. */
  #record(
    reconciliation: BatchReconciliation,
    details: { readonly cause: RebindCause; readonly unit?: string; readonly from: string; readonly to: string; readonly gapMs: number | null },
  ): string {
    const auditRecordRef = this.#store.nextAuditName(reconciliation.audits.length);
    const { site, scope: name } = reconciliation;
    reconciliation.audits.push({
      site,
      actor: BATCH_COMPONENT,
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

function textOf(sign: LifeSign | undefined): string {
  return sign ? timestamp(sign.wallMs) : '';
}

/** What the two times differ by is the gap only while nobody sets the clock; a time server moves it by less than this. */
const CLOCK_SET_MS = 1000;

function gapText(from: string, to: string, gapMs: number | null): string {
  const told = Date.parse(to) - Date.parse(from);
  const length =
    from === '' ? '' : gapMs === null ? '; its length is unknown' : Math.abs(told - gapMs) > CLOCK_SET_MS ? `; it took ${gapMs / 1000} s, the clock was set in between` : '';
  return `control gap from ${from || 'unknown'} to ${to}${length}`;
}

/** The summary as it is served, with what an operator has to do now. */
export const RecoveryBody = v.strictObject({
  ...RecoverySummary.entries,
  operator: v.strictObject({ needed: v.boolean(), command: v.optional(v.literal('Restart')), text: v.string() }),
});
export type RecoveryBody = ToldBy<typeof RecoveryBody>;

export function recoveryBody(status: Pick<BatchStatus, 'recovery' | 'phase' | 'failure' | 'furtherFailures' | 'conditions'>): RecoveryBody | undefined {
  const { recovery, phase } = status;
  if (!recovery) return undefined;
  const { heldAt, leftAt, ...summary } = recovery;
  const needed = phase === 'Held' && leftAt === '';
  if (needed && madeAnewBecause({ status }) !== undefined)
    return { ...summary, heldAt, leftAt, operator: { needed, text: 'Stop or Abort ends it; its row was lost, so it is not gone on with' } };
  const inTheWay = needed ? activeFailures(status) : [];
  if (inTheWay.length > 0) {
    const text = `Restart is not possible while this lasts: ${inTheWay.map(({ rule, message }) => `${rule}: ${message}`).join('; ')}. Put it right, then Restart goes on; Stop or Abort ends it`;
    return { ...summary, heldAt, leftAt, operator: { needed, text } };
  }
  const text = needed ? 'Restart goes on, Stop or Abort ends it' : leftAt !== '' ? `it went on or was ended at ${leftAt}` : '';
  return { ...summary, heldAt, leftAt, operator: { needed, ...(needed ? { command: 'Restart' as const } : {}), text } };
}
