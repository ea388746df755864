/** The cable acceptances of this box: one at a time per module. */
import { randomBytes } from 'node:crypto';
import { timestamp } from '../../platform/base/clock.js';
import { guarded } from '../../platform/base/guarded.js';
import { conflict } from '../../platform/base/refusal.js';
import { IOModule } from '../io-modules/kind.js';
import { CableAcceptance, type CableSheet } from './cable-kind.js';
import { type CableDeps, CableRun } from './cable-run.js';
import type { ModuleResource } from './permission.js';
import type { Conductor } from './run.js';

export class CableAcceptances {
  readonly #deps: CableDeps;
  /** By site and module. */
  readonly #runs = new Map<string, CableRun>();

  constructor(deps: CableDeps) {
    this.#deps = deps;
    deps.store.watch(IOModule, ({ type, resource: { metadata } }) =>
      guarded('ground of a cable acceptance', () => {
        const run = this.running(metadata.site, metadata.name);
        if (run && (type !== 'put' || metadata.generation !== run.sheet.moduleGeneration)) run.end('module-changed');
      }),
    );
  }

  running(site: string, module: string): CableRun | undefined {
    const run = this.#runs.get(`${site}/${module}`);
    return run?.hasEnded ? undefined : run;
  }

  /** What an earlier life of the gateway has left is sealed as far as it came. */
  start(): void {
    for (const { metadata, spec, status } of this.#deps.store.list(CableAcceptance)) {
      if (status.phase === 'Running') new CableRun(this.#deps, { id: metadata.name, site: metadata.site }, spec, undefined).end('restart');
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.stop()));
  }

  /** @throws Refusal 409 `cable_acceptance_active`; nothing is changed then. */
  async begin(
    { metadata, spec }: ModuleResource,
    asked: { readonly reason: string; readonly durationMs: number },
    conductor: Conductor,
    record: (id: string, sheet: CableSheet) => Promise<unknown>,
  ): Promise<CableRun> {
    const { site, name } = metadata;
    const other = this.running(site, name);
    if (other) throw conflict('cable_acceptance_active', `cable acceptance ${other.id} of I/O module ${name} is under way`, { cableAcceptance: other.id });
    const startedAt = timestamp(this.#deps.clock.wallMs());
    const id = `${name}-${startedAt.replace(/\D/g, '').slice(0, 14)}-${randomBytes(2).toString('hex')}`;
    const { accountId, displayName } = conductor.actor;
    const sheet: CableSheet = {
      module: name,
      protocol: spec.protocol,
      address: spec.address,
      moduleGeneration: metadata.generation,
      operator: { accountId, displayName },
      reason: asked.reason,
      startedAt,
      trials: [],
      outcome: 'incomplete',
      end: null,
    };
    const run = new CableRun(this.#deps, { id, site }, sheet, conductor);
    this.#runs.set(`${site}/${name}`, run); // of two that are asked for at once one is begun
    try {
      await record(id, sheet);
    } catch (fault) {
      this.#runs.delete(`${site}/${name}`);
      throw fault;
    }
    run.begin(asked.durationMs);
    return run;
  }
}
