/** Routes of control modules and their templates (contract 3, Control module, Control-module template). */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { shown } from '../../platform/base/term.js';
import { crudRoutes } from '../../platform/http/crud.js';
import { routesFor } from '../../platform/http/route.js';
import { armingFacts, editFacts } from '../runs/logic-edits.js';
import { type BypassDeps, bypassRoutes, exists, requireModule } from './bypass-routes.js';
import { moduleChannelNotes } from './channel-notes.js';
import { ModuleBody, moduleBody, TemplateBody, templateBody } from './dto.js';
import { armModule, passModuleGate, passTemplateGate, refuseNewModule } from './gate.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus, type ControlModuleTemplateSpec } from './kind.js';
import type { NoStatus } from '../plant/kind.js';
import { moduleRules, openChannels, templateRules } from './rules.js';
import { resetRoutes } from './reset-routes.js';
import { resolvedModuleOf } from './modules.js';
import { tuningLost } from './parameters.js';
import { tuningRoutes } from './tuning-routes.js';
import { unitOf } from '../plant/unit-of.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

/** Arms a one-shot bypass of the active-batch gate for the next edit of the module, or of its template (D-C-13). */
const overrideHotSwap = routesFor<BypassDeps>()({
  method: 'POST',
  path: '/api/v1/sites/{site}/controlmodules/{cm}/override-hot-swap',
  action: 'controlmodule:override-hot-swap',
  tier: 'engineer',
  summary: 'Allow the next edit of the logic of a module although its unit works',
  body: v.strictObject({ reason: v.optional(v.string(), '') }),
  reply: v.strictObject({ name: v.string(), armed: v.literal(true), by: v.string(), reason: v.string(), until: v.string() }),
  reason: 'policy',
  audit: { action: 'Command', category: 'hot-swap-override', target: ({ site, cm }) => ({ kind: 'ControlModule', name: cm, site }) },
  exists,
  async handle(context, deps) {
    const { store, clock } = deps;
    const { site, cm } = context.params;
    const { reason } = context.body;
    const module = requireModule(context.params, deps);
    const status = armModule(module, context.caller.displayName, reason, store.terms);
    const audit = context.audit({ operatorReason: reason, after: shown(status.hotSwapOverride) });
    const facts = armingFacts(store, { site, unit: unitOf(store, site, module.spec), name: cm }, { audit, at: timestamp(clock.wallMs()) });
    await store.write({ puts: [{ kind: ControlModule, site, name: cm, status }], audits: [audit], facts });
    return { name: cm, armed: true as const, ...shown(status.hotSwapOverride) };
  },
});

export const controlModuleRoutes = [
  ...crudRoutes<ControlModuleTemplateSpec, NoStatus, BypassDeps, typeof TemplateBody>(templateRules, {
    ...TIERS,
    dto: templateBody,
    reply: TemplateBody,
    also({ before, spec, read, deps }, audit) {
      if (!before || !spec) return {};
      const { store, clock } = deps;
      const { puts, edits } = passTemplateGate(before, spec, read, store.terms);
      return { puts, facts: editFacts(store, edits, { audit, at: timestamp(clock.wallMs()) }) };
    },
  }),
  ...crudRoutes<ControlModuleSpec, ControlModuleStatus, BypassDeps, typeof ModuleBody>(moduleRules, {
    ...TIERS,
    dto: moduleBody,
    reply: ModuleBody,
    neverSentBack: ['tags'],
    derives: true,
    refuse({ verb, site, name, spec, read }) {
      if (verb === 'create' && spec) refuseNewModule(site, name, spec, read);
    },
    also({ site, name, before, spec, read, deps }, audit) {
      if (!spec) return {};
      const resolved = resolvedModuleOf(read, { spec });
      const open = resolved ? [...openChannels(resolved), ...moduleChannelNotes(read, { site, name }, spec).map(({ text }) => text)] : [];
      if (!before) return { warnings: open };
      const { store, clock } = deps;
      const { status, edits } = passModuleGate(before, spec, read, store.terms);
      const parametersOf = (each: Pick<typeof before, 'spec'>) => resolvedModuleOf(read, each)?.parameters ?? [];
      return {
        ...(status ? { status } : {}),
        warnings: [...tuningLost(before.status.tuning ?? [], parametersOf(before), parametersOf({ spec }), 'this body'), ...open],
        facts: editFacts(store, edits, { audit, at: timestamp(clock.wallMs()) }),
      };
    },
  }),
  overrideHotSwap,
  ...tuningRoutes,
  ...bypassRoutes,
  ...resetRoutes,
];
