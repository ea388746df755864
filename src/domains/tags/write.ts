/**
 * The one way a value is written to a tag from outside: unit route, module route, WebSocket frame and runtime/write all
 * come through here (contract 2, Tag write rules; decisions Q-TAG-05 to Q-TAG-12, Q-UNIT-08).
 *
 * Order: the tag exists, mode, access level, value type, range; the first that refuses answers and is audited. A write
 * that passes is on record (`Accepted`) before the runtime sees it, so that neither its effect nor a frame about it can
 * be ahead of the audit trail (D-AUDIT-01, contract 2, Events 6); what became of it is a second record.
 */
import { told } from '../../../runtime/vocabulary/told.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { auditReason, missing, Refusal, type RefusalKind } from '../../platform/base/refusal.js';
import type { AuditEntry } from '../../platform/http/route.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { asked } from '../runs/asked.js';
import type { PendingFact } from '../runs/execution-log.js';
import type { Intervention } from '../runs/interventions.js';
import { Unit } from '../plant/kind.js';
import type { UnitLink, UnitRuntimes, WriteResult } from '../placement/runtimes.js';
import { isDeviceCommand } from '../control-modules/device-faults.js';
import { ControlModule } from '../control-modules/kind.js';
import { moduleMode, type TagCatalog, type TagEntry } from './catalog.js';
import { unreachable } from './live.js';
import { decodeWrite, servedValue } from './values.js';

export const TAG_WRITE_CATEGORY = 'tag-write';
/** What a write may be refused with, for the rows that write. */
export const TAG_WRITE_ERRORS = {
  400: ['invalid_value', 'out_of_range'],
  403: ['automatic_mode', 'read_only_tag'],
  404: ['unknown_tag'],
  409: ['outputs_withheld'],
  502: ['write_failed'],
  503: ['runtime_unreachable', 'device_unreachable', 'busy'],
} as const;
const AUDITED_LENGTH_MAX = 4096; // as long as the longest text a tag takes

export interface TagDeps {
  readonly store: Store;
  readonly catalog: TagCatalog;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
  /** Setting gateway.tagWrite.modeCheckDeviceTags (decisions Q-TAG-09). */
  readonly modeCheckDeviceTags: boolean;
}

export interface WriteAttempt {
  readonly tag: TagEntry;
  /** As the caller wrote it; a device address is not mode-checked. */
  readonly address: string;
  readonly value: unknown;
  /** The module route: the module's mode is always checked (decisions Q-TAG-10). */
  readonly throughModule?: boolean;
  /** Drafts a record of who asked; action, category and target are filled in here. */
  readonly audit: (entry: AuditEntry) => AuditDraft;
}

export interface WriteOutcome {
  readonly ok: boolean;
  readonly message: string;
  /** It was carried out, and will be on record when the storage accepts changes again. */
  readonly recorded?: false;
  /** Why the runtime did not take it; thrown by REST, a result frame on the WebSocket. */
  readonly refusal?: Refusal;
}

/** @throws Refusal `not_found` or `unknown_tag`. */
export function findTag(deps: TagDeps, site: string, unit: string, address: string): TagEntry {
  if (!deps.store.get(Unit, site, unit)) throw missing('unit', unit);
  const tag = deps.catalog.find(site, unit, address);
  if (tag) return tag;
  throw new Refusal('missing', `unit ${unit} has no tag ${address}`, { code: 'unknown_tag' });
}

/**
 * Mode, then access level (decisions Q-TAG-07 to Q-TAG-10).
 * @throws Refusal `automatic_mode`, `read_only_tag`.
 */
export function checkTagBarriers(deps: TagDeps, tag: TagEntry, address: string, throughModule = false): void {
  const module = throughModule ? tag.descriptor.controlModule : moduleInWay(deps, tag, address);
  if (module !== undefined && moduleMode(deps.store, tag.site, module) === 'Automatic') {
    throw new Refusal('forbidden', `control module ${module} is in Automatic; set it to Manual or Semi-Automatic before writing ${address}`, {
      code: 'automatic_mode',
      controlModule: module,
    });
  }
  if (tag.descriptor.accessLevel === 'read') throw new Refusal('forbidden', `tag ${address} can only be read`, { code: 'read_only_tag', tag: address });
}

/** The control module whose mode decides: the one the address names, literally (decisions Q-TAG-09). */
function moduleInWay(deps: TagDeps, tag: TagEntry, address: string): string | undefined {
  if (isDeviceAddress(address)) return deps.modeCheckDeviceTags && tag.descriptor.controlModule !== '' ? tag.descriptor.controlModule : undefined;
  const dot = address.indexOf('.');
  return dot > 0 ? address.slice(0, dot) : undefined;
}

function isDeviceAddress(address: string): boolean {
  const colon = address.indexOf(':');
  const dot = address.indexOf('.');
  return colon >= 0 && (dot < 0 || colon < dot);
}

export interface AddressedWrite {
  readonly site: string;
  readonly unit: string;
  readonly address: string;
  readonly value: unknown;
  readonly audit: (entry: AuditEntry) => AuditDraft;
}

/** Writes to an address of a unit; one that names no tag is on record too. @throws Refusal of the gateway's own barriers. */
export async function writeAddress(deps: TagDeps, { site, unit, address, value, audit }: AddressedWrite): Promise<WriteOutcome> {
  let tag: TagEntry;
  try {
    tag = findTag(deps, site, unit, address);
  } catch (fault) {
    const target = { kind: 'Tag', name: address, site };
    if (fault instanceof Refusal)
      await deps.store.write({
        audits: [audit({ target, details: { unit }, result: 'Rejected', reason: auditReason(fault.context.code ?? fault.kind), after: auditable(value) })],
      });
    throw fault;
  }
  return writeTag(deps, { tag, address, value, audit });
}

/** Writes, with its audit records on disk before it settles. @throws Refusal of the gateway's own barriers. */
export async function writeTag(deps: TagDeps, attempt: WriteAttempt): Promise<WriteOutcome> {
  const { tag, address } = attempt;
  const record = (entry: AuditEntry): AuditDraft => attempt.audit({ ...aboutTag(tag, address), ...entry });
  let value: Value;
  try {
    checkTagBarriers(deps, tag, address, attempt.throughModule);
    value = decodeWrite({ address, type: tag.type, dataType: tag.descriptor.dataType, min: tag.min, max: tag.max }, attempt.value);
  } catch (fault) {
    if (fault instanceof Refusal)
      await deps.store.write({ audits: [record({ result: 'Rejected', reason: auditReason(fault.context.code ?? fault.kind), after: auditable(attempt.value) })] });
    throw fault;
  }
  const link = deps.runtimes.link(tag.site, tag.descriptor.unit);
  const before = presentValue(link, tag);
  const after = auditable(attempt.value);
  if (!link?.ready) {
    await deps.store.write({ audits: [record({ result: 'Failed', reason: 'RuntimeUnreachable', before, after })] });
    const refusal = unreachable(tag.descriptor.unit, link?.message ?? '');
    return { ok: false, message: refusal.message, refusal };
  }
  const { unit, controlModule } = tag.descriptor;
  return asked(deps.store).during(tag.site, [unit], async (factsOf) => {
    try {
      await deps.store.write({ audits: [record({ result: 'Accepted', before, after })] });
    } catch (fault) {
      if (fault instanceof Refusal && fault.kind === 'unavailable' && takesBack(deps, tag, value)) return stopped(deps, attempt, link, value, record, factsOf);
      throw fault;
    }
    try {
      checkTagBarriers(deps, tag, address, attempt.throughModule); // while the record was synced, the module may have gone to Automatic
    } catch (fault) {
      if (fault instanceof Refusal) await deps.store.write({ audits: [record({ result: 'Rejected', reason: auditReason(fault.context.code ?? fault.kind), after })] });
      throw fault;
    }
    const result = await link.write(tag.path, value);
    if (result.ok) {
      const audit = record({ result: 'Success', before, after });
      const done = {
        audit,
        at: timestamp(deps.clock.wallMs()),
        action: 'Write',
        value: textOf(after),
        previousValue: textOf(before),
        message: `tag ${address}`,
        told: told('tag-written', { address }),
      };
      await verdict(deps, audit, `tag ${address} was written`, factsOf(controlModule || address, done));
      return { ok: true, message: result.message === '' ? `tag ${address} was written` : result.message };
    }
    const refusal = refusalOf(result);
    const refused = OWN_REASONS[result.code ?? 'write_failed'] ?? { result: 'Failed', reason: 'RuntimeRefused' };
    const details = { ...detailsOf(tag, address), code: result.code ?? 'write_failed', message: result.message };
    await verdict(deps, record({ ...refused, before, after, details }), `tag ${address} was not written: ${result.message}`);
    return { ok: false, message: result.message, refusal };
  });
}

/** Who stops a device in Manual with it is not kept waiting by a full disk (ADR 0034). */
function takesBack({ store }: TagDeps, { site, descriptor }: TagEntry, value: Value): boolean {
  const module = value === false && descriptor.controlModule !== '' ? store.get(ControlModule, site, descriptor.controlModule) : undefined;
  return module !== undefined && isDeviceCommand(store, module, descriptor.name);
}

/** At once, and on record afterwards, with the time at which it happened. */
async function stopped(
  deps: TagDeps,
  { tag, address, throughModule }: WriteAttempt,
  link: UnitLink,
  value: Value,
  record: (entry: AuditEntry) => AuditDraft,
  factsOf: (equipment: string, done: Intervention) => PendingFact[],
): Promise<WriteOutcome> {
  const { controlModule } = tag.descriptor;
  checkTagBarriers(deps, tag, address, throughModule); // while the record was tried, the module may have gone to Automatic
  const [before, at] = [presentValue(link, tag), timestamp(deps.clock.wallMs())];
  const result = await link.write(tag.path, value);
  const audit = result.ok ? record({ result: 'Success', before, after: value }) : record({ result: 'Failed', reason: 'RuntimeRefused', before, after: value });
  const done = { audit, at, action: 'Write', value: textOf(value), previousValue: textOf(before), message: `tag ${address}`, told: told('tag-written', { address }) };
  const isKept = await deps.store
    // who writes it again has it on record once, with how often
    .writeOrKeep(() => ({ audits: [audit], facts: result.ok ? factsOf(controlModule, done) : [] }), {
      as: 'order',
      key: `tag/${tag.site}/${tag.path}/${audit.actor.accountId}/${audit.result}`,
    })
    .then(
      () => true,
      (fault: unknown) => {
        if (!(fault instanceof Refusal) || fault.kind !== 'unavailable') throw fault;
        return false; // without room for its record too the device comes to rest
      },
    );
  if (!result.ok) return { ok: false, message: result.message, refusal: refusalOf(result), recorded: false };
  const follows = isKept ? 'its record follows when the storage alarm has cleared' : 'there is no room left to keep its record';
  return { ok: true, message: `tag ${address} was written; nothing can be written to the disk now: ${follows}`, recorded: false };
}

/** The attempt is on record, and the runtime has answered: a storage that fails now must not make the caller believe the opposite. */
async function verdict({ store }: TagDeps, audit: AuditDraft, outcome: string, facts: readonly PendingFact[] = []): Promise<void> {
  try {
    await store.write({ audits: [audit], facts });
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.kind !== 'unavailable') throw fault;
    throw new Refusal('unavailable', `${outcome}; that is not on record, because the storage refuses changes`, fault.context);
  }
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

/** Target and details of every record of a tag write (decisions Q-TAG-09, Q-TAG-12). */
export function aboutTag(tag: TagEntry, address: string): AuditEntry {
  return { action: 'Update', category: TAG_WRITE_CATEGORY, target: { kind: 'Tag', name: address, site: tag.site }, details: detailsOf(tag, address) };
}

function detailsOf(tag: TagEntry, address: string): Record<string, unknown> {
  return { unit: tag.descriptor.unit, controlModule: tag.descriptor.controlModule, ...(isDeviceAddress(address) ? { deviceAddress: true } : {}) };
}

function presentValue(link: UnitLink | undefined, tag: TagEntry): Value {
  const index = link ? link.tagIndex(tag.path) : -1;
  return link && index >= 0 && link.refresh() ? servedValue(link.reading(index).value) : null;
}

/** What was sent may be anything JSON can carry, as deep as it likes; the trail keeps what a tag could be. */
export function auditable(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value.length <= AUDITED_LENGTH_MAX ? value : `(text of ${value.length} characters)`;
    case 'number':
      return Number.isFinite(value) ? value : `(${value})`;
    case 'object':
      return value === null ? null : Array.isArray(value) ? '(array)' : '(object)';
    default:
      return value;
  }
}

/** How a refusal of the runtime is passed through (contract 2, Tag write rules 3). */
const RUNTIME_REFUSALS: Readonly<Record<NonNullable<WriteResult['code']>, RefusalKind>> = {
  unknown_tag: 'missing',
  read_only_tag: 'forbidden',
  out_of_range: 'invalid',
  invalid_value: 'invalid',
  write_failed: 'bad-gateway',
  device_unreachable: 'unavailable',
  outputs_withheld: 'conflict',
  busy: 'unavailable',
  runtime_unreachable: 'unavailable',
};

/** Refusals of the runtime that the trail names by themselves. */
const OWN_REASONS: Partial<Record<NonNullable<WriteResult['code']>, Pick<AuditEntry, 'result' | 'reason'>>> = {
  runtime_unreachable: { result: 'Failed', reason: 'RuntimeUnreachable' },
  device_unreachable: { result: 'Failed', reason: 'DeviceUnreachable' },
  outputs_withheld: { result: 'Rejected', reason: 'OutputsWithheld' },
};

function refusalOf(result: WriteResult): Refusal {
  const code = result.code ?? 'write_failed';
  return new Refusal(RUNTIME_REFUSALS[code], result.message, { code });
}
