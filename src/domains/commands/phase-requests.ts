/** What a chart may ask of the gateway with COMMAND, MODE, CALL_SERVICE and the MTP builtins (decisions 4.5), under the rules of the routes. */
import { hasServices, isSimulated } from '../../../runtime/catalog.js';
import { randomUUID } from 'node:crypto';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { Actor, AuditDraft } from '../../platform/store/audit-record.js';
import type { PhaseRequests, RequestAnswer } from '../batches/phases/phase-reports.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule } from '../control-modules/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { rootOf } from '../procedures/roots.js';
import { type CommandDeps, sendCommand } from './command.js';
import { setMode } from './mode.js';
import type { PhaseResource } from './prompt-response.js';
import { ioModuleOf } from '../logic/kind.js';
import { unitOf } from '../plant/unit-of.js';

/** Less than the limit of the builtin, 30 s, so that the phase hears what became of the call (decisions 4.5). */
const SERVICE_TIMEOUT_MS = 28_000;

export function phaseRequests(deps: CommandDeps): PhaseRequests {
  return {
    async command(phase, target, command, reason) {
      if (command === 'Start') return { ok: true, value: false }; // always refused: nothing starts by itself
      const { site, name } = phase.metadata;
      const actor = chartActor(name);
      const correlationID = randomUUID();
      if (target === 'self' && command === 'Hold') {
        const message = reason || 'held by its own chart';
        const held = { kind: phase.kind, name, site };
        await deps.store.write({
          audits: [
            { site, actor, action: 'Command', category: 'command', target: held, result: 'Success', rule: 'st-command', details: { command, reason: message }, correlationID },
          ],
        });
        return { ok: false, rule: 'st-command', message };
      }
      const [kind, named] = targetOf(deps.store, phase, target);
      const audit = (entry: Partial<AuditDraft>): AuditDraft => ({
        site,
        action: 'Command',
        category: 'command',
        target: { kind, name: named, site },
        result: 'Accepted',
        ...entry,
        actor,
        correlationID,
      });
      const given = { kind, name: named, command, reason: reason || `commanded by phase ${name}` };
      return { ok: true, value: await permitted(sendCommand(deps, site, given, { actor, correlationID, audit })) };
    },
    async mode(phase, module, mode) {
      const { site, name } = phase.metadata;
      const bound = phase.spec.roleMap[module] ?? module;
      const found = deps.store.get(ControlModule, site, bound);
      if (!found || unitOf(deps.store, site, found.spec) !== phase.spec.unitRef) return false; // a phase has the modules of its own unit
      const audit = (entry: Pick<AuditDraft, 'target' | 'before' | 'after'>): AuditDraft => ({
        site,
        action: 'Update',
        category: 'mode',
        result: 'Success',
        ...entry,
        actor: chartActor(name),
        correlationID: randomUUID(),
      });
      return permitted(setMode(deps, site, { kind: 'ControlModule', name: bound, mode }, audit));
    },
    async callService(phase, args) {
      const [address, objectId, methodId, ...given] = args;
      const answer = await serviceOf(deps, phase, args);
      await note(deps, phase, 'st-call-service', String(address ?? ''), { objectId, methodId, args: given }, answer);
      return answer;
    },
    async mtpCommand(phase, args, asked) {
      const [service, command, procedure] = args;
      const order = { site: phase.metadata.site, service: String(service ?? ''), command: String(command ?? ''), procedure };
      const answer = deps.services ? await deps.services.command(order, asked) : notServed(order.service);
      const [name = ''] = order.service.split('/');
      await note(deps, phase, 'st-mtp-command', name, { service, command, ...(procedure === undefined ? {} : { procedure }) }, answer);
      return answer;
    },
    async mtpState({ metadata: { site } }, service) {
      return deps.services ? deps.services.state(site, service) : notServed(service);
    },
    async mtpCommandEnabled({ metadata: { site } }, service, command) {
      return deps.services ? deps.services.commandEnabled(site, service, command) : notServed(service);
    },
  };
}

async function serviceOf({ store, probes }: CommandDeps, { metadata: { site } }: PhaseResource, args: readonly Value[]): Promise<RequestAnswer> {
  const address = String(args[0] ?? '');
  const [objectId, methodId, ...given] = args.slice(1);
  const module = store.get(IOModule, site, ioModuleOf(address) || address);
  if (!module) return { ok: false, rule: 'service-failed', message: `I/O module ${address} does not exist` };
  if (isSimulated(module.spec.protocol)) return { ok: true, value: given[0] ?? true };
  if (!hasServices(module.spec.protocol)) return { ok: false, rule: 'not-supported', message: `protocol ${module.spec.protocol} has no services` };
  const call = { objectId: String(objectId ?? ''), methodId: String(methodId ?? ''), args: given, timeoutMs: SERVICE_TIMEOUT_MS };
  const outcome = await probes?.call(site, module.metadata.name, call);
  if (!outcome) return { ok: false, rule: 'service-failed', message: `I/O module ${address} is not connected` };
  return outcome.ok ? { ok: true, value: outcome.outputs[0] ?? true } : { ok: false, rule: 'service-failed', message: outcome.message };
}

/** In a rehearsal there is no module that could answer. */
function notServed(service: string): RequestAnswer {
  return { ok: false, rule: 'mtp-command-disabled', message: `service ${service} shows no command-enable word: it is not connected` };
}

/** The one audit record that each call leaves, whatever came of it (contract 3, Structured-text language). */
async function note(
  { store }: CommandDeps,
  { metadata: { site, name } }: PhaseResource,
  category: string,
  module: string,
  call: Readonly<Record<string, unknown>>,
  answer: RequestAnswer,
): Promise<void> {
  const { ok, rule, message } = answer;
  await store.write({
    audits: [
      {
        site,
        actor: chartActor(name),
        action: 'Execute',
        category,
        target: { kind: 'IOModule', name: module, site },
        result: ok ? 'Success' : 'Rejected',
        ...(rule ? { rule } : {}),
        details: { phase: name, ...call, ...(message ? { message } : {}) },
        correlationID: randomUUID(),
      },
    ],
  });
}

function chartActor(phase: string): Actor {
  return { accountId: `phase/${phase}`, displayName: `phase ${phase}`, actorType: 'component', component: `phase/${phase}` };
}

/** `self` and `root` are the batch, or the root of the ad-hoc run: only roots take commands. */
function targetOf(store: Store, phase: PhaseResource, target: string): readonly [string, string] {
  if (target === 'self' || target === 'root') {
    if (phase.spec.batchRef !== '') return ['Batch', phase.spec.batchRef];
    const { kind, name } = rootOf(store, phase);
    return [kind, name];
  }
  const at = target.indexOf('/');
  return at < 0 ? ['', target] : [target.slice(0, at), target.slice(at + 1)];
}

/** TRUE when it was recorded, FALSE when it was refused. */
async function permitted(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (fault) {
    if (fault instanceof Refusal) return false;
    throw fault;
  }
}
