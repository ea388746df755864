/**
 * The way from the gateway to the phases in their unit runtimes: loads them, gives them commands, tells them signals, and
 * remembers what is on its way. All of it can be lost at any time and is rebuilt by looking again.
 */
import { childTakes, isFinal } from '../../../../runtime/vocabulary/transitions.js';
import type { Command } from '../../../../runtime/vocabulary/states.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { trueNames } from '../../coordination/progress.js';
import { phasesAtWork } from '../../procedures/at-work.js';
import { type ElementStatus, Phase, type PhaseSpec } from '../../procedures/kind.js';
import { adhocRoot, scopeOf } from '../../procedures/roots.js';
import type { UnitLink, UnitRuntimes } from '../../placement/runtimes.js';
import { type ElementIndex, elementIndex, type ElementResource } from '../tree/element-index.js';
import { type OrderFailure, PhaseOrders } from './phase-orders.js';
import { checkpointOf, phasePlan } from './phase-plan.js';
import { type TreeNode, walk } from '../tree/procedure-tree.js';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

const SETS_GOING: readonly Command[] = ['Start', 'Restart', 'Resume', 'Reset'];

/** To how many phases a command has gone, and how many take it whose runtime is not ready: they are held when it comes back. */
export interface Protected {
  readonly reached: number;
  readonly away: number;
}

export class PhaseCommands {
  readonly #store: Store;
  readonly #runtimes: UnitRuntimes;
  readonly #index: ElementIndex;
  readonly #orders = new PhaseOrders();
  /** Worker epoch into which a phase has been loaded, and the parameters it has there. */
  readonly #loaded = new Map<string, { readonly epoch: number; readonly values: PhaseSpec['parameterValues'] }>();

  constructor(store: Store, runtimes: UnitRuntimes) {
    this.#store = store;
    this.#runtimes = runtimes;
    this.#index = elementIndex(store);
    // a worker would keep what was deleted until its next start
    store.watch(Phase, ({ type, resource: { metadata, spec } }) => {
      if (type === 'remove') this.#forget(metadata.site, { name: metadata.name, unit: (spec as PhaseSpec).unitRef });
    });
  }

  /**
   * Asks the worker of the phase, once; without a worker nothing happens, and the next look asks again. What could not be on
   * record before it happens is not set going while nothing can be written: a late order found at a start, a step that is next.
   *
   * @returns whether there is a worker that has it.
   */
  command(phase: PhaseResource, command: Command, failure?: OrderFailure): boolean {
    if (SETS_GOING.includes(command) && !this.#store.accepting) return false;
    const link = this.#runtimes.link(phase.metadata.site, phase.spec.unitRef);
    if (!link?.ready) return false;
    this.#load(link, phase, command === 'Start'); // a final phase is not loaded again by itself
    this.#orders.send(link, phase.metadata.name, command, lookOf(phase), failure);
    return true;
  }

  /**
   * While nothing can be written the controllers stand still, and so do their trees: what brings the plant to rest goes to the
   * phases themselves, and the order that follows finds them there.
   */
  protect(site: string, scope: string, command: Command): Protected {
    const root = adhocRoot(this.#store, site, scope);
    const elements = [...this.#index.phasesOf(site, scope), ...(root ? [root, ...this.#index.below(root)] : [])];
    const phases = (elements as readonly ElementResource[]).filter((element): element is PhaseResource => element.kind === Phase.kind);
    const told = phases.filter((phase) => childTakes(command, phase.status.state) || this.#mayHaveBegun(phase));
    const reached = told.filter((phase) => this.command(phase, command)).length;
    return { reached, away: told.length - reached };
  }

  /**
   * It is seen as Idle while its Start is on its way, and again where what the worker told of it was not on disk when nothing could be
   * written any more: the worker, which has it, judges the command by what it does.
   */
  #mayHaveBegun({ metadata: { site, name }, spec: { unitRef }, status }: PhaseResource): boolean {
    if (this.awaitsAnswer(site, unitRef, name)) return true;
    const link = this.#runtimes.link(site, unitRef);
    return status.state === 'Idle' && link?.ready === true && this.#loaded.get(`${site}/${name}`)?.epoch === link.epoch;
  }

  /** A command is on its way to the phase. */
  awaitsAnswer(site: string, unit: string, phase: string): boolean {
    const link = this.#runtimes.link(site, unit);
    return link !== undefined && link.ready && this.#orders.awaitsAnswer(link, phase);
  }

  /** `anew`: it has not begun, and is loaded again when its parameters have changed since. */
  #load(link: UnitLink, phase: PhaseResource, anew: boolean): void {
    const key = `${link.site}/${phase.metadata.name}`;
    const { mode } = phase.status;
    const checkpoint = checkpointOf(phase);
    const values = phase.spec.parameterValues;
    const known = this.#loaded.get(key);
    if (known?.epoch === link.epoch && (!anew || known.values === values)) return;
    this.#loaded.set(key, { epoch: link.epoch, values });
    link.loadPhase(phasePlan(this.#store, phase, checkpoint ? { checkpoint } : {}));
    // the checkpoint has the mode of then, which may have been changed while the unit was away
    if (checkpoint) link.send({ type: 'phase-mode', phase: phase.metadata.name, mode });
    this.sendSignals(link.site, scopeOf(this.#store, phase));
  }

  /** What the worker made of the last command. */
  answered(site: string, phase: string, id: number, accepted: boolean): void {
    const resource = this.#store.get(Phase, site, phase);
    this.#orders.settle(site, phase, id, accepted, resource ? lookOf(resource) : '');
  }

  /** The worker has refused the command as the phase stands now. */
  isRefused(phase: PhaseResource): boolean {
    const link = this.#runtimes.link(phase.metadata.site, phase.spec.unitRef);
    return link !== undefined && this.#orders.isRefused(link, phase.metadata.name, lookOf(phase));
  }

  /** Brings a unit that has just started up to date: its interrupted phases, their answers, and the raised signals. */
  reload(link: UnitLink): void {
    const scopes = new Set<string>();
    for (const phase of phasesAtWork(this.#store).of(link.site)) {
      if (phase.spec.unitRef !== link.unit) continue;
      const { state, answer } = phase.status;
      if (state === 'Idle' || isFinal(state)) continue;
      this.#load(link, phase, false);
      scopes.add(scopeOf(this.#store, phase));
      if (answer) link.send({ type: 'answer', phase: phase.metadata.name, waitId: answer.waitId, value: answer.value });
    }
    for (const scope of scopes) this.sendSignals(link.site, scope);
  }

  /** Tells every unit that works for the scope which signals and barriers are TRUE. */
  sendSignals(site: string, scope: string): void {
    const raised = trueNames(this.#index.blocksOf(site, scope), this.#index.barriersOf(site, scope));
    const root = adhocRoot(this.#store, site, scope);
    const elements = [...this.#index.phasesOf(site, scope), ...(root ? [root, ...this.#index.below(root)] : [])];
    const units = new Set(elements.flatMap(({ kind, spec }) => (kind === Phase.kind && 'unitRef' in spec ? [spec.unitRef] : [])));
    for (const unit of units) this.#runtimes.link(site, unit)?.send({ type: 'signals', scope, raised });
  }

  /** The phases of a tree that is over. One that has not come to rest yet goes on, and is forgotten after it has (decisions 3.3). */
  forget(site: string, root: TreeNode): void {
    for (const node of walk(root)) if (node.kind === 'Phase' && (node.state === 'Idle' || isFinal(node.state))) this.#forget(site, node);
  }

  #forget(site: string, node: Pick<TreeNode, 'name' | 'unit'>): void {
    const key = `${site}/${node.name}`;
    const link = this.#runtimes.link(site, node.unit);
    if (this.#loaded.delete(key)) link?.send({ type: 'drop-phase', phase: node.name });
    this.#orders.forget(site, node.name);
  }
}

/** What a phase judges a command by. */
function lookOf(phase: PhaseResource): string {
  const { state, failure } = phase.status;
  return `${state}|${failure?.since ?? ''}|${failure?.active ?? false}`;
}
