/** Routes of I/O modules and simulation presets (contract 3, I/O module, Simulation; decisions Q-TIER-02, Q-TIER-04, Q-IO-09). */
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { type CrudEvent, crudRoutes } from '../../platform/http/crud.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { editFacts } from '../runs/logic-edits.js';
import { channelRoutes } from './channel-routes.js';
import { discoverRoute, exchangeRoute } from './discover-route.js';
import { IOModuleBody, ioModuleBody, PresetBody, presetBody } from './dto.js';
import type { LocalProbes } from '../placement/local-probes.js';
import type { Secrets } from './secret-kind.js';
import { passChannelGate } from './gate.js';
import { type IOModuleSpec, type IOModuleStatus, SimulationPreset } from './kind.js';
import { probeRoutes } from './probe-routes.js';
import { ioModuleRules, presetRules } from './rules.js';
import { SHIPPED_PRESETS } from './shipped-presets.js';

const route = routesFor<{ readonly store: Store }>();

interface IOModuleDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export function ioModuleRoutes(secrets: Secrets, probes: Pick<LocalProbes, 'nextAttempt'>) {
  return [
    ...crudRoutes(ioModuleRules, {
      read: 'read',
      write: 'admin',
      reply: IOModuleBody,
      dto: (resource, read) => ioModuleBody(resource, read, secrets, probes.nextAttempt(resource.metadata.site, resource.metadata.name)),
      derives: true,
      also({ before, spec, site, name, read, deps }: CrudEvent<IOModuleSpec, IOModuleStatus, IOModuleDeps>, audit) {
        if (!before || !spec) return {};
        const { store, clock } = deps;
        const { puts, edits } = passChannelGate({ site, name }, before.spec, spec, read, store.terms);
        return { puts, facts: editFacts(store, edits, { audit, at: timestamp(clock.wallMs()) }) };
      },
    }),
    ...crudRoutes(presetRules, { read: 'read', write: 'engineer', reply: PresetBody, dto: presetBody }),
    seed,
    discoverRoute,
    exchangeRoute,
    ...channelRoutes,
    ...probeRoutes,
  ];
}

/** Creates the shipped presets in a site; those already there stay unless `overwrite` is set. */
const seed = route({
  method: 'POST',
  path: '/api/v1/sites/{site}/simulationpresets/seed',
  action: 'simulationpreset:seed',
  tier: 'engineer',
  summary: 'Create the simulation presets that come with the product',
  reply: v.strictObject({ created: v.array(v.string()), updated: v.array(v.string()), skipped: v.array(v.string()) }),
  body: v.strictObject({ overwrite: v.optional(v.boolean(), false) }),
  audit: { action: 'Create', category: 'simulationpreset', target: ({ site }) => ({ kind: 'SimulationPreset', name: '*', site }) },
  async handle(context, { store }) {
    const { params, body } = context;
    const there = new Set(store.list(SimulationPreset, params.site).map((preset) => preset.metadata.name));
    const created = SHIPPED_PRESETS.filter((preset) => !there.has(preset.name));
    const updated = body.overwrite ? SHIPPED_PRESETS.filter((preset) => there.has(preset.name)) : [];
    const skipped = body.overwrite ? [] : SHIPPED_PRESETS.filter((preset) => there.has(preset.name));
    const names = (presets: typeof SHIPPED_PRESETS): string[] => presets.map((preset) => preset.name).sort();
    const result = { created: names(created), updated: names(updated), skipped: names(skipped) };
    await store.write({
      puts: [...created, ...updated].map(({ name, spec }) => ({ kind: SimulationPreset, site: params.site, name, spec })),
      audits: [context.audit({ after: result })],
    });
    return result;
  },
});
