/**
 * The plan of one phase for its unit runtime (runtime/port.ts, PhasePlan): charts, values, bound roles, and the signals it
 * raises and may read. Built from the frozen element, never from the template it came from.
 */
import { iecType } from '../../../../runtime/vocabulary/data-types.js';
import { EXCEPTION_CHARTS, type Chart, type ExceptionChartName } from '../../../../runtime/vocabulary/chart.js';
import type { PhaseCheckpoint, PhasePlan } from '../../../../runtime/port.js';
import { isFinal } from '../../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { ControlModule, ControlModuleTemplate } from '../../control-modules/kind.js';
import { resolveModule } from '../../control-modules/rules.js';
import { unanswered } from '../../coordination/condition.js';
import { barrierWord } from '../../coordination/progress.js';
import { Unit } from '../../plant/kind.js';
import type { ElementStatus, PhaseSpec } from '../../procedures/kind.js';
import { scopeOf } from '../../procedures/roots.js';
import { resolveRoles } from '../../recipes/bindings.js';
import { siteUnits } from '../../recipes/site-units.js';
import { elementIndex } from '../tree/element-index.js';

export function phasePlan(store: Store, phase: Resource<PhaseSpec, ElementStatus>, options: { readonly checkpoint?: PhaseCheckpoint } = {}): PhasePlan {
  const { spec, metadata } = phase;
  const site = metadata.site;
  const scope = scopeOf(store, phase);
  const roles = boundRoles(store, site, spec);
  const signals = signalsOf(store, site, scope, metadata.name);
  const typed = (type: string): 'BOOL' | 'INT' | 'REAL' | 'STRING' | 'TIME' => iecType(type) ?? 'REAL';
  return {
    name: metadata.name,
    scope,
    running: { steps: spec.steps, transitions: spec.transitions, divergences: spec.divergences },
    charts: givenCharts(spec.charts),
    parameters: spec.parameters.map((parameter) => ({
      name: parameter.name,
      type: typed(parameter.type),
      value: spec.parameterValues.find((value) => value.name.toLowerCase() === parameter.name.toLowerCase())?.value ?? parameter.defaultValue,
    })),
    outputs: spec.outputs.map((output) => ({ name: output.name, type: typed(output.type) })),
    variables: spec.variables.map((variable) => ({ name: variable.name, type: typed(variable.type), ...(variable.initial === undefined ? {} : { initial: variable.initial }) })),
    roles,
    timeoutMs: spec.timeoutSeconds * 1000,
    restartStep: spec.restartStep,
    edgeLocalHold: spec.edgeLocalHold,
    mode: phase.status.mode,
    signals: signals.produced,
    knownSignals: signals.known,
    ioModules: ioModulesOf(store, site, Object.values(roles)),
    ...(options.checkpoint ? { checkpoint: options.checkpoint } : {}),
  };
}

/**
 * From where its worker goes on. Work that was found without a usable record is held, and stays so: its failure is never over, so that
 * nobody begins its chart anew in the middle of a batch, and its exception charts bring it to rest.
 */
export function checkpointOf({ metadata, status }: Resource<PhaseSpec, ElementStatus>): PhaseCheckpoint | undefined {
  const { state, mode, runCount, checkpoint } = status;
  if (checkpoint || state === 'Idle' || isFinal(state)) return checkpoint;
  const message = 'where it stood is not stored as it was written: it can be stopped and aborted';
  return {
    state,
    mode,
    runCount,
    runElapsedMs: 0,
    running: { chart: 'running', hash: '', steps: [], completedSteps: [], firedTransitions: [], scanCount: 0, complete: false },
    variables: {},
    assigned: [],
    failure: { class: 'fail', rule: 'stored-data', message, step: '', sinceMs: Date.parse(metadata.updatedAt), active: true },
    raisedSignals: [],
    consumedSignals: [],
    savedAtMs: Date.parse(metadata.updatedAt),
  };
}

function givenCharts(charts: PhaseSpec['charts']): Partial<Record<ExceptionChartName, Chart>> {
  return Object.fromEntries(EXCEPTION_CHARTS.filter((name) => charts[name]).map((name) => [name, charts[name] as Chart]));
}

/** Control module bound to each role (decisions 2.3). */
export function boundRoles(store: Store, site: string, spec: PhaseSpec): Record<string, string> {
  const unit = store.get(Unit, site, spec.unitRef);
  if (!unit) return {};
  const bound = resolveRoles(unit.spec, spec, spec.roleMap, siteUnits(store, site).modules(spec.unitRef));
  return Object.fromEntries(bound.filter((binding) => binding.boundCM !== '').map((binding) => [binding.role, binding.boundCM]));
}

function signalsOf(store: Store, site: string, scope: string, phase: string): { produced: { name: string; condition: string }[]; known: string[] } {
  const produced: { name: string; condition: string }[] = [];
  const known: string[] = [];
  const index = elementIndex(store);
  for (const { spec } of index.blocksOf(site, scope)) {
    const { signal } = spec;
    if (!signal) continue;
    known.push(signal.signalName);
    const own = signal.producer.kind === 'Phase' && signal.producer.name === phase;
    if (own && signal.condition.trim() !== '' && unanswered(signal.condition) === '') produced.push({ name: signal.signalName, condition: signal.condition });
  }
  for (const barrier of index.barriersOf(site, scope)) known.push(barrierWord(barrier));
  return { produced, known };
}

function ioModulesOf(store: Store, site: string, modules: readonly string[]): string[] {
  const found = new Set<string>();
  for (const name of modules) {
    const module = store.get(ControlModule, site, name);
    const template = module && store.get(ControlModuleTemplate, '', module.spec.templateRef);
    if (module && template) for (const ioModule of resolveModule(module.spec, template.spec).ioModules) found.add(ioModule);
  }
  return [...found].sort();
}
