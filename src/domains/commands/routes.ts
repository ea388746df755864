/** Commands, mode and active steps (contract 2, Tags; contract 3, Commands, prompts and ad-hoc execution). */
import * as v from 'valibot';
import { actorOf } from '../../platform/http/caller.js';
import { routesFor } from '../../platform/http/route.js';
import type { DryRunFacts } from '../batches/reading/dry-run.js';
import { requireSite } from '../plant/kind.js';
import { ActiveStepAnswer, ActiveStepBody, changeActiveStep, requireElement, type SteeredKind } from './active-step.js';
import { CommandAnswer, CommandBody, DryRunAnswer, dryRunCommand, sendCommand } from './command.js';
import { ModeAnswer, ModeBody, setMode } from './mode.js';
import { type PromptDeps, promptRoutes } from './prompt-routes.js';

export type CommandRouteDeps = PromptDeps & DryRunFacts;

const route = routesFor<CommandRouteDeps>();
const inSite = ({ site }: { readonly site: string }, { store }: CommandRouteDeps): void => void requireSite(store, site);

/** Not shown in the contract; ADR 0007. */
const activeStepRoutes = (
  [
    ['Phase', 'phases'],
    ['Operation', 'operations'],
    ['UnitProcedure', 'unitprocedures'],
    ['Procedure', 'procedures'],
  ] as const satisfies readonly (readonly [SteeredKind, string])[]
).map(([kind, path]) =>
  route({
    method: 'POST',
    path: `/api/v1/sites/{site}/${path}/{name}/active-step`,
    action: `${kind.toLowerCase()}:active-step`,
    tier: 'operate-lead',
    reason: 'policy',
    freshToken: true,
    body: ActiveStepBody,
    reply: ActiveStepAnswer,
    errors: {
      400: ['unknown_step', 'unknown_transition'],
      409: [
        ...['final_state', 'not_manual', 'not_steerable', 'runtime_not_ready'],
        ...['step_active', 'step_not_active', 'last_active_step', 'transition_not_enabled', 'element_active'],
      ],
    },
    summary: `Change the active steps of a ${kind} in Manual; the change is signed`,
    past: ({ site = '', name = '' }) => [{ kind, site, name }],
    audit: { action: 'Execute', category: 'active-step', target: ({ site, name }) => ({ kind, name, site }) },
    exists: (params, { store }) => void requireElement(store, kind, params as never),
    handle: (context, deps) => changeActiveStep(kind, context as never, deps),
  }),
);

export const commandRoutes = [
  ...activeStepRoutes,
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/command',
    whileStorageRefuses: true,
    action: 'command:send',
    tier: 'operate',
    body: CommandBody,
    reply: v.union([CommandAnswer, DryRunAnswer]),
    errors: { 400: ['wrong_command_target', 'reason_too_short', 'reason_too_long'], 409: ['runtime_not_ready', 'run_ended'] },
    summary: 'Record a command; the batch controller judges it afterwards. With dryRun: what it would do',
    computes: (body) => (body as CommandBody | undefined)?.dryRun === true,
    audit: { action: 'Command', category: 'command' },
    exists: inSite,
    handle: ({ params, body, caller, sourceIP, correlationID, audit }, deps) =>
      body.dryRun
        ? dryRunCommand(deps, params.site, body)
        : sendCommand(deps, params.site, body, { actor: actorOf(caller, sourceIP), correlationID, audit: (entry) => audit(entry) }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/mode',
    action: 'mode:set',
    tier: 'operate',
    body: ModeBody,
    reply: ModeAnswer,
    errors: { 400: ['unknown_reference'], 409: ['under_loop_check'] },
    summary: 'Set the mode of a control module, unit or procedural element',
    audit: { action: 'Update', category: 'mode' },
    exists: inSite,
    handle: ({ params, body, audit }, deps) => setMode(deps, params.site, body, (entry) => audit({ result: 'Success', ...entry })),
  }),
  ...promptRoutes,
];
