/** The route that changes tunable parameters of a module, in any mode and while its unit works (D-C-13; ADR 0025). */
import { told } from '../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { routesFor } from '../../platform/http/route.js';
import { Scalar } from '../../platform/store/fields.js';
import { freeMap } from '../../platform/store/free-map.js';
import type { Resource } from '../../platform/store/resource.js';
import { equipmentFacts } from '../runs/interventions.js';
import { type BypassDeps, exists, requireModule } from './bypass-routes.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus, ControlModuleTemplate, type Tuning } from './kind.js';
import { parametersBody, TunedParameters } from './dto.js';
import { tune } from './parameters.js';
import { checkTuned } from './rules.js';
import { resolvedModuleOf } from './modules.js';
import { unitOf } from '../plant/unit-of.js';

const tuneModule = routesFor<BypassDeps>()({
  method: 'PUT',
  path: '/api/v1/sites/{site}/controlmodules/{cm}/parameters',
  action: 'controlmodule:tune',
  tier: 'engineer',
  summary: 'Change tunable parameters of a control module; null goes back to the value of the template',
  reply: v.strictObject({ name: v.string(), parameters: TunedParameters }),
  body: v.strictObject({ values: freeMap(v.nullable(Scalar)), reason: v.optional(v.string(), '') }),
  reason: 'policy',
  errors: { 400: ['not_tunable', 'unknown_reference', 'out_of_range'] },
  audit: { action: 'Update', category: 'tuning', target: ({ site, cm }) => ({ kind: 'ControlModule', name: cm, site }) },
  exists,
  async handle(context, deps) {
    const { store, clock } = deps;
    const { site, cm } = context.params;
    const { values, reason } = context.body;
    const module = requireModule(context.params, deps);
    const at = timestamp(clock.wallMs());
    const { paramOverrides, tuning, changed } = tune(module.spec, module.status.tuning ?? [], {
      values,
      parameters: resolvedModuleOf(store, module)?.parameters ?? [],
      fixed: (store.get(ControlModuleTemplate, '', module.spec.templateRef)?.spec.parameters ?? []).filter(({ tunable }) => !tunable).map(({ name }) => name),
      module: cm,
      by: context.caller.displayName,
      at,
      reason,
    });
    checkTuned(module, paramOverrides, store, (name) => (Object.hasOwn(values, name) ? `values.${name}` : 'values'));
    const { before, after } = shownChange(changed);
    const audit = context.audit({ operatorReason: reason, before, after });
    const unit = unitOf(store, site, module.spec);
    const facts = changed.flatMap(({ name, value, previous }) =>
      equipmentFacts(store, site, unit, cm, {
        audit,
        at,
        action: 'Tuning',
        value: String(value),
        previousValue: String(previous),
        message: `parameter ${cm}.par.${name}`,
        told: told('parameter-set', { address: `${cm}.par.${name}` }),
      }),
    );
    const applied = await store.write({
      puts: [{ kind: ControlModule, site, name: cm, spec: { ...module.spec, paramOverrides }, status: { ...module.status, tuning } }],
      audits: [audit],
      facts,
    });
    const tuned = applied.resources[0] as Resource<ControlModuleSpec, ControlModuleStatus>;
    return { name: cm, parameters: parametersBody(tuned, store) };
  },
});

function shownChange(changed: readonly Tuning[]): { readonly before: object; readonly after: object } {
  const entries = (value: (tuning: Tuning) => unknown) => Object.fromEntries(changed.map((tuning) => [tuning.name, value(tuning)]));
  return { before: entries(({ previous }) => previous), after: entries(({ value }) => value) };
}

/** Needs BypassDeps. */
export const tuningRoutes = [tuneModule];
