/** Ad-hoc execution of phases, operations and unit procedures (contract 3, Commands, prompts and ad-hoc execution). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import type { Clock } from '../../platform/base/clock.js';
import { timestamp } from '../../platform/base/clock.js';
import { REASON_LENGTH_MAX } from '../../platform/http/reason.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { created, type RequestContext, routesFor } from '../../platform/http/route.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Put } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { sign, type SigningKeys } from '../signatures/signature.js';
import { SignatureRecord } from '../signatures/kind.js';
import { type Launch, launch, type Launched, type LaunchWorld } from './start/adhoc.js';
import { executionEvent } from '../runs/execution-log.js';

export interface AdhocDeps extends LaunchWorld {
  readonly clock: Clock;
  readonly production: boolean;
  readonly keys: SigningKeys;
}

const route = routesFor<AdhocDeps>();
const UNIT = '/api/v1/sites/{site}/units/{unit}';
const COMMON = {
  parameterValues: v.optional(v.array(v.strictObject({ name: v.string(), value: v.string() })), []),
  timeoutSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
};
type Params = { readonly site: string; readonly unit: string };
type Given = Pick<Launch, 'parameterValues' | 'timeoutSeconds'>;

const exists = ({ site, unit }: Params, { store }: AdhocDeps): void => {
  if (!store.get(Unit, site, unit)) throw missing('Unit', unit);
};
const refusals = (category: string) =>
  ({ action: 'Execute', category, target: ({ site, unit }: { readonly site: string; readonly unit: string }) => ({ kind: 'Unit', name: unit, site }) }) as const;
const Started = v.strictObject({
  kind: v.picklist(['Phase', 'Operation', 'UnitProcedure']),
  name: v.string(),
  unit: v.string(),
  state: v.literal('Idle'),
  templateRef: v.string(),
  correlationID: v.string(),
  auditRecordRef: v.string(),
  /** SHA-256 (hex) of the signature; of a unit procedure in production mode. */
  signature: v.optional(v.string()),
});
type Started = ToldBy<typeof Started>;

nameSchemas({ AdhocStarted: Started });
const REPLY = { 201: Started };
const ERRORS = {
  400: ['unknown_reference', 'missing_parameter', 'out_of_range'],
  409: ['unit_not_idle', 'runtime_not_ready', 'permissive', 'mode_manual', 'under_loop_check', 'storage_low', 'chart_invalid', 'binding_violation'],
} as const;
const OF_SEQUENCE = { ...ERRORS, 400: [...ERRORS[400], 'template_category'] } as const;

/** `production`: a unit procedure is then signed, with a token of the last 5 minutes. */
export const adhocRoutes = (production: boolean) => [
  route({
    method: 'POST',
    path: `${UNIT}/execute-phase`,
    action: 'unit:execute-phase',
    tier: 'operate',
    body: v.strictObject({ phaseTemplateRef: v.string(), ...COMMON }),
    reply: REPLY,
    errors: ERRORS,
    summary: 'Run a phase on a unit without a batch',
    audit: refusals('adhoc-phase'),
    exists,
    handle: (context, deps) => execute(context, deps, { kind: 'Phase', templateRef: context.body.phaseTemplateRef, templateField: 'phaseTemplateRef', ...given(context.body) }),
  }),
  route({
    method: 'POST',
    path: `${UNIT}/execute-operation`,
    action: 'unit:execute-operation',
    tier: 'operate-lead',
    body: v.strictObject({ operationTemplateRef: v.string(), ...COMMON }),
    reply: REPLY,
    errors: OF_SEQUENCE,
    summary: 'Run an operation of category equipment on a unit without a batch',
    audit: refusals('adhoc-operation'),
    exists,
    handle: (context, deps) =>
      execute(context, deps, { kind: 'Operation', templateRef: context.body.operationTemplateRef, templateField: 'operationTemplateRef', ...given(context.body) }),
  }),
  route({
    method: 'POST',
    path: `${UNIT}/execute-unitprocedure`,
    action: 'unit:execute-unitprocedure',
    tier: 'operate-lead',
    ...(production ? { freshToken: true } : {}),
    body: v.strictObject({ unitProcedureTemplateRef: v.string(), reason: v.optional(v.pipe(v.string(), v.maxLength(REASON_LENGTH_MAX)), ''), ...COMMON }),
    reply: REPLY,
    errors: { ...OF_SEQUENCE, 401: ['reauthentication_required'], 403: ['adhoc_prerequisite'] },
    summary: 'Run a unit procedure of category equipment on a unit without a batch; signed in production mode',
    audit: refusals('adhoc-unitprocedure'),
    exists,
    handle(context, deps) {
      const { body } = context;
      if (production && body.reason.trim() === '') {
        throw new Refusal('forbidden', 'a unit procedure is run ad hoc for a stated reason only; give a reason', { code: 'adhoc_prerequisite', field: 'reason' });
      }
      return execute(
        context,
        deps,
        { kind: 'UnitProcedure', templateRef: body.unitProcedureTemplateRef, templateField: 'unitProcedureTemplateRef', ...given(body) },
        body.reason.trim(),
      );
    },
  }),
];

function given({ parameterValues, timeoutSeconds }: Given): Given {
  return { parameterValues, timeoutSeconds };
}

async function execute(context: RequestContext<Params, unknown>, deps: AdhocDeps, order: Omit<Launch, 'unit'>, reason = '') {
  const { store } = deps;
  const { site, unit } = context.params;
  const launched = launch(deps, site, { ...order, unit });
  const { name } = launched.root;
  const at = timestamp(deps.clock.wallMs());
  const signed = order.kind === 'UnitProcedure' && deps.production ? signLaunch(context, deps, launched, reason, at) : undefined;
  const auditRecordRef = store.nextAuditName();
  const { accountId, displayName } = context.caller;
  await store.write({
    puts: [...launched.puts, ...(signed ? [signed.put] : [])],
    audits: [
      context.audit({
        target: { kind: order.kind, name, site },
        result: 'Success',
        ...(reason ? { operatorReason: reason } : {}),
        details: { unit, templateRef: order.templateRef, parameterValues: order.parameterValues, timeoutSeconds: order.timeoutSeconds },
        ...(signed ? { signature: { ...signed.record } } : {}),
      }),
    ],
    facts: [
      executionEvent(site, name, at, {
        eventType: 'Procedural Execution',
        eventSubType: 'State Command',
        element: { kind: order.kind, name, path: launched.root.spec.stepPath },
        unit,
        value: 'Start',
        message: reason,
        person: { accountId, displayName },
        correlationID: context.correlationID,
        auditRecordRef,
      }),
    ],
  });
  const { correlationID } = context;
  const body: Started = {
    kind: order.kind,
    name,
    unit,
    state: 'Idle',
    templateRef: order.templateRef,
    correlationID,
    auditRecordRef,
    ...(signed ? { signature: signed.digest } : {}),
  };
  return created(body, `/api/v1/sites/${site}/${order.kind.toLowerCase()}s/${name}`);
}

/** Meaning `ad-hoc-execution` over the content of the root (decisions 8.6). */
function signLaunch(context: RequestContext<Params, unknown>, deps: AdhocDeps, { root }: Launched, reason: string, signedAt: string) {
  const { site } = context.params;
  const subject = { apiVersion: 'recipe.lineside.io/v1alpha1', kind: root.kind.kind, namespace: `site-${site}`, name: root.name, revision: 1, digest: canonicalDigest(root.spec) };
  const content = { unit: context.params.unit, templateRef: root.spec.templateRef };
  const { record, digest } = sign({ meaning: 'ad-hoc-execution', signatory: context.caller, reason, subject, content, signedAt }, deps.keys);
  const spec = { record, digest, target: { kind: root.kind.kind, name: root.name, site }, correlationID: context.correlationID };
  return { record, digest, put: { kind: SignatureRecord, site: '', name: record.id, spec } as Put };
}
