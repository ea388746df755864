/**
 * Changing active steps by hand (ADR 0007): in Manual a lead operator goes on, goes back, or forces a transition, of a phase
 * chart or a procedural chart. Signed, audited, and in the record of the batch.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type ChangeRefusal, type ChartChange, judgeChange, sourceSteps, STEERABLE } from '../../../runtime/vocabulary/steering.js';
import { transitionKey } from '../../../runtime/vocabulary/chart.js';
import { isActive } from '../../../runtime/vocabulary/transitions.js';
import { conflict, invalid, Refusal } from '../../platform/base/refusal.js';
import { timestamp } from '../../platform/base/clock.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { RequestContext } from '../../platform/http/route.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { absent } from '../../platform/store/absent.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { refuseRequest } from '../batches/start/conditions.js';
import { RUNTIME_READY } from '../batches/start/equipment-conditions.js';
import { elementIndex } from '../batches/tree/element-index.js';
import { executionEvent, operatorAction } from '../runs/execution-log.js';
import { runClocks } from '../batches/tree/run-clocks.js';
import { NO_PROGRESS, steered, type StepElement } from '../batches/tree/chart-moves.js';
import { type ElementStatus, Operation, type OperationSpec, Phase, type PhaseSpec, Procedure, type ProcedureSpec, UnitProcedure } from '../procedures/kind.js';
import { scopeOf } from '../procedures/roots.js';
import { sign, type SigningKeys } from '../signatures/signature.js';
import type { CommandDeps } from './command.js';

export const ACTIVE_STEP_MEANING = 'active-step-change';

export const ActiveStepBody = v.strictObject({
  change: v.picklist(['activate', 'deactivate', 'force']),
  /** `activate`, `deactivate` */
  step: v.optional(v.string()),
  /** `activate`: steps that are left in the same moment. */
  leave: v.optional(v.array(v.string())),
  /** `force`: `<from>-><to>#<index>` */
  transition: v.optional(v.string()),
  reason: v.string(),
});
export type ActiveStepBody = v.InferOutput<typeof ActiveStepBody>;

const { reason: _reason, ...asked } = ActiveStepBody.entries;
export const ActiveStepAnswer = v.strictObject({
  ok: v.literal(true),
  kind: v.picklist(['Phase', 'Operation', 'UnitProcedure', 'Procedure']),
  name: v.string(),
  ...asked,
  /** SHA-256 (hex) of the signature. */
  signature: v.string(),
  auditRecordRef: v.string(),
});
export type ActiveStepAnswer = ToldBy<typeof ActiveStepAnswer>;

nameSchemas({ ActiveStepBody, ActiveStepAnswer });

export interface ActiveStepDeps extends CommandDeps {
  readonly keys: SigningKeys;
  /** Lets the batch controller look at a batch or an ad-hoc root. */
  wake(site: string, scope: string): void;
}

const KINDS = { Phase, Operation, UnitProcedure, Procedure } as const;
export type SteeredKind = keyof typeof KINDS;
type Element = Resource<ProcedureSpec | OperationSpec | PhaseSpec, ElementStatus>;
type Params = { readonly site: string; readonly name: string };

export function requireElement(store: Store, kind: SteeredKind, { site, name }: Params): Element {
  const element = store.get(KINDS[kind] as Kind<Element['spec'], ElementStatus>, site, name);
  if (!element) throw absent(store, KINDS[kind], site, name);
  return element;
}

/** @throws Refusal 400 for names the chart does not have, 409 for mode, state, steps that stand otherwise, and a runtime that is away. */
export async function changeActiveStep(kind: SteeredKind, context: RequestContext<Params, ActiveStepBody>, deps: ActiveStepDeps): Promise<ActiveStepAnswer> {
  const { store, clock } = deps;
  const { site, name } = context.params;
  const element = requireElement(store, kind, context.params);
  const change = readChange(context.body);
  const nowMs = clock.wallMs();
  const effect = kind === 'Phase' ? phaseEffect(element as Resource<PhaseSpec, ElementStatus>, change, deps) : chartEffect(element, change, deps);
  const at = timestamp(nowMs);
  const reason = context.body.reason.trim();
  const before = activeSteps(element);
  const { record, digest } = signChange(element, change, before, reason, at, context, deps);
  const auditRecordRef = store.nextAuditName();
  const { accountId, displayName } = context.caller;
  const person = { accountId, displayName };
  const target = { kind, name, path: element.spec.stepPath };
  const scope = scopeOf(store, element as never);
  const value = wordsOf(change);
  await store.write({
    puts: effect.puts,
    audits: [
      context.audit({
        target: { kind, name, site },
        result: 'Success',
        operatorReason: reason,
        details: { ...change, activeSteps: before, state: element.status.state, batch: element.spec.batchRef, sourceIP: context.sourceIP },
        signature: { ...record },
      }),
    ],
    facts: [
      operatorAction(site, scope, {
        ts: at,
        action: 'ActiveStepChange',
        element: target,
        person,
        signed: true,
        meaning: ACTIVE_STEP_MEANING,
        reason,
        value,
        acknowledgedBy: '',
        signatureRef: record.id,
        auditRecordRef,
      }),
      executionEvent(site, scope, at, {
        eventType: 'Procedural Execution',
        eventSubType: 'Modification',
        element: target,
        unit: 'unitRef' in element.spec ? element.spec.unitRef : '',
        value,
        previousValue: before.join(', '),
        message: reason,
        person,
        correlationID: context.correlationID,
        auditRecordRef,
      }),
    ],
  });
  effect.follow();
  const { reason: _given, ...asked } = context.body;
  return { ok: true, kind, name, ...asked, signature: digest, auditRecordRef };
}

function readChange({ change, step, leave, transition }: ActiveStepBody): ChartChange {
  const stray =
    change === 'force' ? (step !== undefined ? 'step' : leave ? 'leave' : '') : transition !== undefined ? 'transition' : change === 'deactivate' && leave ? 'leave' : '';
  if (stray !== '') throw invalid('invalid_field', stray, `${change} takes no ${stray}`);
  if (change === 'force') {
    if (transition === undefined) throw invalid('missing_field', 'transition', 'field transition is required');
    return { change, transition };
  }
  if (step === undefined) throw invalid('missing_field', 'step', 'field step is required');
  return change === 'activate' ? { change, step, leave: leave ?? [] } : { change, step };
}

function wordsOf(change: ChartChange): string {
  if (change.change === 'force') return `force ${change.transition}`;
  const leaving = change.change === 'activate' && change.leave.length > 0 ? `, leave ${change.leave.join(', ')}` : '';
  return `${change.change} ${change.step}${leaving}`;
}

function activeSteps({ status }: Element): readonly string[] {
  return status.sfcStatus?.activeSteps ?? status.progress?.active ?? [];
}

/** What is written with the signature, and what is done once it is on disk. */
interface Effect {
  readonly puts: readonly Put[];
  follow(): void;
}

/** The unit runtime moves the chart, between two scans. */
function phaseEffect(phase: Resource<PhaseSpec, ElementStatus>, change: ChartChange, { store, runtimes }: ActiveStepDeps): Effect {
  const { spec, metadata } = phase;
  const refusal = judgeChange(change, {
    steps: spec.steps.map((step) => step.name),
    active: activeSteps(phase),
    sourcesOf: (wanted) => {
      const found = spec.transitions.find((transition, index) => transitionKey(transition, index) === wanted);
      return found && sourceSteps(spec, found.from);
    },
  });
  refuseUnfit(phase, change, refusal);
  const { site, name } = metadata;
  refuseRequest([RUNTIME_READY], { store, runtimes, site, units: [spec.unitRef], isOnDemand: false });
  return { puts: [], follow: () => runtimes.link(site, spec.unitRef)?.send({ type: 'active-step', phase: name, change }) };
}

/** The batch controller goes on from the new progress; elements of steps that were left are stopped. */
function chartEffect(element: Element, change: ChartChange, { store, wake }: ActiveStepDeps): Effect {
  const { kind, metadata, spec, status } = element;
  const { site, name } = metadata;
  const { ranMs } = runClocks(store).read(`${site}/${kind}/${name}`, { ranMs: status.ranMs ?? 0, spentMs: null });
  const outcome = steered('chart' in spec ? spec.chart : {}, status.progress ?? NO_PROGRESS, change, (step) => stepElement(store, element, step), ranMs);
  refuseUnfit(element, change, 'refusal' in outcome ? outcome.refusal : undefined);
  if ('refusal' in outcome) return { puts: [], follow: () => undefined };
  const put: Put = { kind: KINDS[kind as SteeredKind], site, name, status: { ...status, progress: outcome.progress, pausedAt: '' } };
  return { puts: [put], follow: () => wake(site, scopeOf(store, element as never)) };
}

function stepElement(store: Store, parent: Element, step: string): StepElement | undefined {
  const child = elementIndex(store)
    .childrenOf(parent)
    .find(({ spec }) => spec.stepName === step);
  return child && { runCount: child.status.runCount, isActive: isActive(child.status.state) };
}

/** Names come before mode and state (400 before 409), and these before where the chart stands. */
function refuseUnfit({ kind, metadata, status }: Element, change: ChartChange, refusal: ChangeRefusal | undefined): void {
  const { name } = metadata;
  const { state, mode } = status;
  if (refusal?.rule === 'unknown_step') throw invalid('unknown_step', 'step', `${kind} ${name}: ${refusal.message}`);
  if (refusal?.rule === 'unknown_transition') throw invalid('unknown_transition', 'transition', `${kind} ${name}: ${refusal.message}`);
  if (state === 'Idle' || !isActive(state)) throw conflict('final_state', `${kind} ${name} is ${state}; it has no active steps`, { state });
  if (mode !== 'Manual') throw conflict('not_manual', `${kind} ${name} is in ${mode}; set Manual before changing its active steps`, { mode });
  if (!STEERABLE.includes(state)) throw conflict('not_steerable', `${kind} ${name} is ${state}; its steps can be changed in ${STEERABLE.join(', ')}`, { state });
  if (refusal) throw new Refusal('conflict', `${kind} ${name}: ${refusal.message}`, { code: refusal.rule, change: change.change });
}

function signChange(
  element: Element,
  change: ChartChange,
  activeBefore: readonly string[],
  reason: string,
  signedAt: string,
  context: RequestContext<Params, unknown>,
  { keys }: ActiveStepDeps,
) {
  const { kind, metadata, spec } = element;
  const { site, name } = metadata;
  const subject = { apiVersion: 'recipe.lineside.io/v1alpha1', kind, namespace: `site-${site}`, name, revision: metadata.generation, digest: canonicalDigest(spec) };
  const content = { ...change, activeSteps: activeBefore, batch: spec.batchRef, state: element.status.state };
  return sign({ meaning: ACTIVE_STEP_MEANING, signatory: context.caller, reason, subject, content, signedAt }, keys);
}
