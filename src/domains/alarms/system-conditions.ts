/**
 * Conditions of the product itself that are alarms (contract 2, Alarm: type System and Equipment; contract 3, Control
 * program; decisions 3.1, 3.4, Q-NONCE-04, Q-ALARM-02, D-UNIT-04). Each row reads what its domain has written; nothing is
 * remembered here. Severities the sources do not give are ours: High for what stops control or records, Medium for what
 * still works.
 */
import type { WallMs } from '../../platform/base/times.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { CommandRejection } from '../runs/command-rejection.js';
import { type Allocation, Batch, isFinalBatch } from '../batches/kind.js';
import { UNREADABLE_ORDER } from '../runs/pending-command.js';
import { ControlModule } from '../control-modules/kind.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { contestedOf, contestedWords } from '../control-modules/output-owners.js';
import { IOModule, type IOModuleState } from '../io-modules/kind.js';
import { AS_STEPPED } from '../io-modules/outputs.js';
import { ControlProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { RESTART_ASKED, STARTING } from '../placement/runtimes.js';
import { Phase } from '../procedures/kind.js';
import { ROOT_KINDS } from '../procedures/roots.js';
import type { SystemCondition } from './alarm-register.js';
import { unitsConcerned } from './sources.js';
import { unitOf } from '../plant/unit-of.js';

/** What the appliance says of its own storage and threads, in its own words. */
export const TROUBLE_TOPICS = [
  'stored-data',
  'integrity',
  'audit-gap',
  'audit-anchors',
  'audit-syslog',
  'slow-storage',
  'checkpoint',
  'historian',
  'service-thread',
  'backup',
  'restored',
  'review',
  'admin-recovery',
] as const;
export type TroubleTopic = (typeof TROUBLE_TOPICS)[number];

/** Topics that every site has an alarm of, because they concern the whole appliance. */
export const APPLIANCE_TOPICS = ['nonce-store', 'storage', 'audit-archive', 'archive-integrity', 'internal-fault', ...TROUBLE_TOPICS] as const;

export interface Trouble {
  readonly severity: 'Critical' | 'High' | 'Medium';
  readonly message: string;
}

/** Who tells what of each topic: each is given by the part that knows it, undefined while there is nothing to tell. */
export type Troubles = Readonly<Record<TroubleTopic, () => Trouble | undefined>>;

/** What became of a trouble that has ended, where its alarm shall not go on saying what was to be done. */
export type TroubleEnds = Readonly<Partial<Record<TroubleTopic, () => string | undefined>>>;

export const SYSTEM_TOPICS = [
  'device',
  'second-master',
  'output-owners',
  'outputs-as-stepped',
  'signal',
  'program',
  'runtime',
  'phase',
  'nonce-store',
  'storage',
  'audit-archive',
  'archive-integrity',
  'internal-fault',
  ...TROUBLE_TOPICS,
  'controller',
] as const;
export type SystemTopic = (typeof SYSTEM_TOPICS)[number];

/** What only the running appliance knows. */
export interface SystemFacts {
  /** Tags of a module that an armed alarm definition watches and that are not Good. */
  lostTags(site: string, module: string): readonly string[];
  nonceStoreNearlyFull(): boolean;
  storageLow(): boolean;
  /** Why audit records that should be archived are not; null when nothing keeps them. */
  archiveFault(): string | null;
  /** What the last check of the archive found wrong; null when nothing. */
  archiveDamage(): string | null;
  /** The fault of ours that was contained last, when there were too many of late; null otherwise. */
  containedFault(): string | null;
  /** Undefined while there is nothing to tell. */
  trouble(topic: TroubleTopic): Trouble | undefined;
  /** Of one that has ended; undefined where its alarm keeps what it says. */
  troubleEnd(topic: TroubleTopic): string | undefined;
  /** Why every look at a resource fails, in words; null while its controller can look at it. */
  lookFault(site: string, kind: string, name: string): string | null;
}

export interface TopicRow {
  /** Kind of the source; its name is that of the resource. '': the name of the key is the whole source, `<kind>/<name>`. */
  readonly sourceKind: '' | 'IOModule' | 'ControlModule' | 'ControlProgram' | 'Unit' | 'Phase' | 'System';
  /** The condition has to hold so long before the alarm comes, and to be gone so long before it goes. */
  readonly raiseAfterMs: number;
  readonly clearAfterMs: number;
  /** Undefined while there is nothing to tell. */
  condition(site: string, name: string, read: StoreReader, facts: SystemFacts): SystemCondition | undefined;
  /** What its alarm says from its end on; without it, or undefined, what it said while it stood. */
  ended?(facts: SystemFacts): string | undefined;
}

const LOST_STATES: readonly IOModuleState[] = ['Disconnected', 'Failed'];
/** NE 107 (decisions Q-ALARM-14). */
const DEVICE_WORDS: Partial<Record<IOModuleState, string>> = { Disconnected: 'Failure', Failed: 'Failure', Degraded: 'OutOfSpecification' };
/** As often as tag conditions are looked at in the contract: a device that answers late is not lost (decisions D-ALARM-02). */
const SIGNAL_LOST_MS = 10_000;
/** One clean scan ends Degraded (decisions Q-PROG-02); a block that fails now and then is one alarm. */
const PROGRAM_QUIET_MS = 2000;
/** A restart that somebody asked for is no fault; one that does not come to its end in this time is (decisions D-UNIT-04). */
const RESTART_MS = 10_000;
const AT_ONCE = { raiseAfterMs: 0, clearAfterMs: 0 } as const;

/** Name of the source of what concerns no resource of a site. */
export const APPLIANCE = 'lineside';
/** Name of the source of a storage that refuses changes: another alarm than little space, which may stand beside it. */
export const LEDGER = 'ledger';
const OF_APPLIANCE = { source: `System/${APPLIANCE}`, type: 'System', conditionType: '', value: '', units: [] } as const;

export const TOPICS: Readonly<Record<SystemTopic, TopicRow>> = {
  device: {
    sourceKind: 'IOModule',
    ...AT_ONCE,
    condition(site, name, read) {
      const status = read.get(IOModule, site, name)?.status;
      const value = status && DEVICE_WORDS[status.state];
      if (!value) return undefined;
      return {
        source: `IOModule/${name}`,
        type: 'Equipment',
        severity: LOST_STATES.includes(status.state) ? 'High' : 'Medium',
        message: `I/O module ${name} is ${status.state}${status.message ? `: ${status.message}` : ''}`,
        conditionType: 'DeviceHealth',
        value,
        units: unitsConcerned({ sourceKind: 'IOModule', sourceName: name }, read, site),
      };
    },
  },
  'second-master': {
    sourceKind: 'IOModule',
    ...AT_ONCE,
    condition(site, name, read) {
      const { outputs } = read.get(IOModule, site, name)?.status ?? {};
      if (!outputs?.secondMaster) return undefined;
      return {
        source: `IOModule/${name}`,
        type: 'Equipment',
        severity: 'High',
        message: `the outputs of I/O module ${name} are withheld: ${outputs.reason}`,
        conditionType: '',
        value: outputs.state,
        units: unitsConcerned({ sourceKind: 'IOModule', sourceName: name }, read, site),
      };
    },
  },
  'output-owners': {
    sourceKind: 'IOModule',
    ...AT_ONCE,
    condition(site, name, read) {
      const contested = contestedOf(read, site, name);
      if (contested.length === 0) return undefined;
      return {
        source: `IOModule/${name}`,
        type: 'Equipment',
        severity: 'High',
        message: contested.map(contestedWords).join('; '),
        conditionType: '',
        value: contested.map(({ output }) => output).join(', '),
        units: [...new Set(contested.flatMap(({ owners }) => owners.map(({ unit }) => unit)).filter((unit) => unit !== ''))],
      };
    },
  },
  'outputs-as-stepped': {
    sourceKind: 'IOModule',
    ...AT_ONCE,
    condition(site, name, read) {
      const left = read.get(IOModule, site, name)?.status.conditions.find(({ type }) => type === AS_STEPPED);
      if (!left) return undefined;
      return {
        source: `IOModule/${name}`,
        type: 'Equipment',
        severity: 'High',
        message: left.message,
        conditionType: '',
        value: left.reason,
        units: unitsConcerned({ sourceKind: 'IOModule', sourceName: name }, read, site),
      };
    },
  },
  signal: {
    sourceKind: 'ControlModule',
    raiseAfterMs: SIGNAL_LOST_MS,
    clearAfterMs: 0,
    condition(site, name, read, facts) {
      const module = read.get(ControlModule, site, name);
      const tags = module ? facts.lostTags(site, name) : [];
      if (!module || tags.length === 0) return undefined;
      // one alarm for a lost I/O module, none for each of its signals
      const lost = resolvedModuleOf(read, module)?.ioModules.some((io) => LOST_STATES.includes(read.get(IOModule, site, io)?.status.state ?? 'Pending'));
      if (lost) return undefined;
      return {
        source: `ControlModule/${name}`,
        type: 'Equipment',
        severity: 'Medium',
        message: `alarms on ${tags.map((tag) => `${name}.${tag}`).join(', ')} cannot be judged: the value is not good`,
        conditionType: 'DeviceHealth',
        value: 'OutOfSpecification',
        units: [unitOf(read, site, module.spec)],
      };
    },
  },
  program: {
    sourceKind: 'ControlProgram',
    raiseAfterMs: 0,
    clearAfterMs: PROGRAM_QUIET_MS,
    condition(site, name, read) {
      const program = read.get(ControlProgram, site, name);
      if (!program || (program.status.state !== 'Degraded' && program.status.state !== 'Error')) return undefined;
      const { state, faultedBlocks, message } = program.status;
      return {
        source: `ControlProgram/${name}`,
        type: 'Equipment',
        severity: 'High',
        message: state === 'Degraded' ? `program ${name} skips faulted blocks: ${message || faultedBlocks.join(', ')}` : `program ${name} is not loaded: ${message}`,
        conditionType: '',
        value: state === 'Degraded' ? faultedBlocks.join(', ') : state,
        units: [program.spec.unitRef],
      };
    },
  },
  runtime: {
    sourceKind: 'Unit',
    ...AT_ONCE,
    condition(site, name, read) {
      const { ready = true, message = '', epoch = 0 } = read.get(Unit, site, name)?.status.runtime ?? {};
      if (ready || epoch === 0 || message === '' || message === STARTING) return undefined;
      return {
        source: `Unit/${name}`,
        type: 'System',
        severity: 'High',
        message: `the runtime of unit ${name} is down: ${message}`,
        conditionType: '',
        value: 'Down',
        units: [name],
        ...(message === RESTART_ASKED ? { holdsForMs: RESTART_MS } : {}),
      };
    },
  },
  phase: {
    sourceKind: 'Phase',
    ...AT_ONCE,
    condition(site, name, read) {
      const phase = read.get(Phase, site, name);
      const { state, checkpoint, failure } = phase?.status ?? {};
      if (!phase || !checkpoint?.holdIncomplete || (state !== 'Holding' && state !== 'Held')) return undefined;
      return {
        source: `Phase/${name}`,
        type: 'Batch',
        severity: 'High',
        message: `phase ${name} is held, but its holding actions are incomplete${failure ? `: ${failure.message}` : ''}`,
        conditionType: '',
        value: state,
        units: [phase.spec.unitRef],
      };
    },
  },
  'nonce-store': {
    sourceKind: 'System',
    ...AT_ONCE,
    condition: (_site, _name, _read, facts) =>
      facts.nonceStoreNearlyFull()
        ? { ...OF_APPLIANCE, severity: 'High', message: 'the memory of request nonces is at 80 %; when it is full, requests that change something are refused' }
        : undefined,
  },
  storage: {
    sourceKind: 'System',
    ...AT_ONCE,
    // the refusal of LEDGER is no condition that is read: while it is so, nothing can be written (system-alarm-reconciler.ts)
    condition: (_site, _name, _read, facts) =>
      facts.storageLow() ? { ...OF_APPLIANCE, severity: 'High', message: 'the free space of the data directory is below storage.reserveBytes; batches do not start' } : undefined,
  },
  'audit-archive': {
    sourceKind: 'System',
    ...AT_ONCE,
    condition(_site, _name, _read, facts) {
      const fault = facts.archiveFault();
      if (fault === null) return undefined;
      const message = `audit records that are due cannot be archived: ${fault}; they stay in the live trail, and it is tried again every minute`;
      return { ...OF_APPLIANCE, severity: 'Medium', message };
    },
  },
  'archive-integrity': {
    sourceKind: 'System',
    ...AT_ONCE,
    condition(_site, _name, _read, facts) {
      const damage = facts.archiveDamage();
      return damage === null ? undefined : { ...OF_APPLIANCE, severity: 'High', message: `the archive of the audit trail is damaged: ${damage}` };
    },
  },
  controller: {
    sourceKind: '',
    ...AT_ONCE,
    condition(site, source, read, facts) {
      const slash = source.indexOf('/');
      const [kind, name] = [source.slice(0, slash), source.slice(slash + 1)];
      const found = commandedOf(read, site, kind, name);
      const fault = facts.lookFault(site, kind, name);
      const unreadable = found?.status.commandRejection?.rule === UNREADABLE_ORDER ? found.status.commandRejection.message : undefined;
      if (fault === null && unreadable === undefined) return undefined;
      const message = fault === null ? `${kind} ${name}: ${unreadable}` : `${kind} ${name} is not controlled: ${fault}; it is looked at again and again`;
      return { source, type: 'System', severity: 'High', message, conditionType: '', value: '', units: unitsOf(found) };
    },
  },
  'internal-fault': {
    sourceKind: 'System',
    ...AT_ONCE,
    condition(_site, _name, _read, facts) {
      const fault = facts.containedFault();
      if (fault === null) return undefined;
      const message = `faults of the product itself are met again and again and contained, last ${fault}; everything else goes on, keep the log for the supplier`;
      return { ...OF_APPLIANCE, severity: 'High', message };
    },
  },
  'stored-data': troubleRow('stored-data'),
  integrity: troubleRow('integrity'),
  'audit-gap': troubleRow('audit-gap'),
  'audit-anchors': troubleRow('audit-anchors'),
  'audit-syslog': troubleRow('audit-syslog'),
  'slow-storage': troubleRow('slow-storage'),
  checkpoint: troubleRow('checkpoint'),
  historian: troubleRow('historian'),
  'service-thread': troubleRow('service-thread'),
  backup: troubleRow('backup'),
  restored: troubleRow('restored'),
  review: troubleRow('review'),
  'admin-recovery': troubleRow('admin-recovery'),
};

function troubleRow(topic: TroubleTopic): TopicRow {
  return {
    sourceKind: 'System',
    ...AT_ONCE,
    condition(_site, _name, _read, facts) {
      const trouble = facts.trouble(topic);
      return trouble && { ...OF_APPLIANCE, ...trouble };
    },
    ended: (facts) => facts.troubleEnd(topic),
  };
}

type Commanded = Resource<{ readonly unitRef?: string }, { readonly commandRejection?: CommandRejection; readonly allocations?: readonly Allocation[] }>;

function commandedOf(read: StoreReader, site: string, kind: string, name: string): Commanded | undefined {
  const known = kind === Batch.kind ? Batch : Object.hasOwn(ROOT_KINDS, kind) ? ROOT_KINDS[kind as keyof typeof ROOT_KINDS] : undefined;
  return known && (read.get(known as Kind, site, name) as Commanded | undefined);
}

function unitsOf(found: Commanded | undefined): readonly string[] {
  if (!found) return [];
  return found.spec.unitRef ? [found.spec.unitRef] : (found.status.allocations ?? []).flatMap(({ unit }) => (unit === '' ? [] : [unit]));
}

/** What is told of a storage that refuses changes, and afterwards of the time in which it did. */
export function refusalOf(fromMs: WallMs, toMs?: WallMs): SystemCondition {
  const from = timestamp(fromMs);
  const message =
    toMs === undefined
      ? `the storage refuses changes since ${from}: nothing can be changed, acknowledged or recorded until it accepts them again; control goes on`
      : `the storage refused changes from ${from} to ${timestamp(toMs)}`;
  return { ...OF_APPLIANCE, source: `System/${LEDGER}`, severity: 'High', message };
}

const OVER: readonly string[] = ['Idle', 'Complete'];
const RECOVERED: readonly string[] = ['Idle', 'Starting', 'Running', 'Complete', 'Restarting'];

/**
 * Whether what a phase has told of itself (an exception chart that did not end well, a step that takes too long) is still
 * so: a High alarm until the phase works again, a Medium one while it works; both end with their batch.
 */
export function phaseStillTroubled(site: string, name: string, severity: string, read: StoreReader): boolean {
  const phase = read.get(Phase, site, name);
  if (!phase) return false;
  const batch = phase.spec.batchRef === '' ? undefined : read.get(Batch, site, phase.spec.batchRef);
  if (batch && isFinalBatch(batch.status.phase)) return false;
  return !(severity === 'High' ? RECOVERED : OVER).includes(phase.status.state);
}
