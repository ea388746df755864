/**
 * A control module's logic as a control program of the same name, owned by it (decisions D-PROG-01): made from template
 * and instance, followed when either changes, gone with the module. The unit runtime runs the module itself; the program
 * is how its network is read and where its health is kept.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { shown } from '../../platform/base/term.js';
import { component } from '../../platform/store/audit-record.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { changesBehaviour } from '../logic/hot-swap.js';
import { ControlProgram, type ControlProgramSpec, type ControlProgramStatus, MANAGED_BY_LABEL, ownerOfProgram } from '../logic/kind.js';
import { UNIT_SCAN_INTERVAL_DEFAULT, Unit } from '../plant/kind.js';
import { NO_BYPASS } from './bypass.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus } from './kind.js';
import { resolvedModuleOf } from './modules.js';
import { unitOf } from '../plant/unit-of.js';
import type { Key } from '../../platform/reconcile/key.js';

const MANAGED = 'control-module';
const SELF = component('control-module');

export class ControlModuleReconciler implements Reconciler {
  readonly name = 'control-module';
  readonly #store: Store;

  constructor({ store }: { readonly store: Store }) {
    this.#store = store;
  }

  /** Modules, and derived programs whose module is gone. */
  *keys(): Iterable<Key> {
    for (const { metadata } of this.#store.list(ControlModule)) yield metadata;
    for (const program of this.#store.list(ControlProgram)) if (isDerived(program)) yield program.metadata;
  }

  sourceOf({ name }: Key): string {
    return `${ControlModule.kind}/${name}`;
  }

  reconcile(key: Key): Outcome {
    this.#followModule(key);
    return this.#endBypass(key);
  }

  /** A bypass ends by itself when its time is over (decisions Q-CHANGE-12). */
  #endBypass({ site, name }: Key): Outcome {
    const module = this.#store.get(ControlModule, site, name);
    const bypass = module?.status.interlockBypass;
    if (!module || !bypass?.active) return 'settled';
    const leftMs = this.#store.terms.remainingMs(bypass);
    if (leftMs > 0) return { lookAgainMs: leftMs };
    this.#store.apply({
      puts: [{ kind: ControlModule, site, name, status: { ...module.status, interlockBypass: NO_BYPASS } }],
      audits: [
        {
          site,
          action: 'Command',
          category: 'interlock-bypass',
          target: { kind: module.kind, name, site },
          result: 'Success',
          rule: 'expired',
          before: shown(bypass),
          after: NO_BYPASS,
          actor: SELF,
          correlationID: randomUUID(),
        },
      ],
    });
    return 'settled';
  }

  #followModule({ site, name }: Key): void {
    const module = this.#store.get(ControlModule, site, name);
    const program = this.#store.get(ControlProgram, site, name);
    const spec = module && derivedProgram(module, this.#store);
    if (!module || !spec) {
      if (program && isDerived(program)) this.#store.apply({ removes: [{ kind: program.kind, site, name }] });
      return;
    }
    if (program && !isDerived(program)) return; // an engineer's program has the name; it was there first
    const uid = module.metadata.uid;
    if (program && isDeepStrictEqual(program.spec, spec) && program.metadata.ownerReferences[0]?.uid === uid) return;
    // what only a comment changed is not loaded again, so its state stays
    const status = program && !changesBehaviour(program.spec, spec) ? program.status : { ...(program?.status ?? ControlProgram.initialStatus(spec)), state: 'Pending' as const };
    this.#store.apply({
      puts: [
        {
          kind: ControlProgram,
          site,
          name,
          spec,
          status,
          labels: { ...program?.metadata.labels, [MANAGED_BY_LABEL]: MANAGED },
          ownerReferences: [{ kind: module.kind, name, uid }],
        },
      ],
    });
  }
}

function isDerived({ metadata }: Resource<ControlProgramSpec, ControlProgramStatus>): boolean {
  return ownerOfProgram(metadata) !== undefined;
}

/** Undefined while the module has no unit or no template: it is stored and not executed (decisions 1.5). */
export function derivedProgram(module: Resource<ControlModuleSpec, ControlModuleStatus>, store: StoreReader): ControlProgramSpec | undefined {
  const { site } = module.metadata;
  const unitRef = unitOf(store, site, module.spec);
  const resolved = resolvedModuleOf(store, module);
  if (unitRef === '' || !resolved) return undefined;
  const scanInterval = resolved.scanInterval || store.get(Unit, site, unitRef)?.spec.scanInterval || UNIT_SCAN_INTERVAL_DEFAULT;
  return {
    unitRef,
    scanInterval,
    blocks: resolved.blocks.map(({ name, type, params = {}, comment = '' }) => ({ name, type, params: { ...params }, comment })),
    connections: resolved.connections.map((connection) => ({ ...connection })),
    variables: resolved.variables.map((variable) => ({ ...variable }) as ControlProgramSpec['variables'][number]),
    variableBindings: resolved.variableBindings.map((binding) => ({ ...binding })),
  };
}
