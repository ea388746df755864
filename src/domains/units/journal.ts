/**
 * What happened to each unit runtime, as `runtime/events` tells it (decisions Q-UNIT-07): what the worker reported, what
 * became of the worker, what was set on its modules, and scans that came too late. Kept in memory, the newest thousand of
 * a unit; what must outlive the appliance is in the audit trail and in the records of the batches.
 */
import type { WallMs } from '../../platform/base/times.js';
import type { NetworkReport, UnitOutbound } from '../../../runtime/port.js';
import { BoundedLog } from '../../platform/base/bounded-log.js';
import type { Clock } from '../../platform/base/clock.js';
import { guarded } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus } from '../control-modules/kind.js';
import { Unit } from '../plant/kind.js';
import type { UnitLink, UnitRuntimes } from '../placement/runtimes.js';
import { unitOf } from '../plant/unit-of.js';

const EVENTS_MAX = 1000;
/** Late scans are told together: a busy machine would fill the journal with them. */
const OVERRUN_LOOK_MS = 10_000;

export interface UnitEvent {
  readonly atMs: WallMs;
  readonly type: 'Normal' | 'Warning';
  /** One word of what happened. */
  readonly reason: string;
  readonly message: string;
  /** `<Kind>/<name>` of what it happened to. */
  readonly object: string;
}

type Module = Resource<ControlModuleSpec, ControlModuleStatus>;
type Told = Omit<UnitEvent, 'atMs' | 'type'> & { readonly atMs?: WallMs };

interface Journal {
  readonly events: BoundedLog<UnitEvent>;
  /** Networks by their last report, to tell a recovery from a first load. */
  readonly states: Map<string, NetworkReport['state']>;
  overruns: number;
  missed: number;
  /** Epoch whose first plan has been told. */
  epoch: number;
}

export interface JournalParts {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
  readonly log: Log;
}

export class UnitJournal {
  readonly #parts: JournalParts;
  readonly #journals = new Map<string, Journal>();
  #cancel: () => void = () => undefined;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    const { store, runtimes } = parts;
    runtimes.onMessage((link, message) => this.#take(link, message));
    runtimes.onChange((link, what) => this.#changed(link, what));
    store.watch(Unit, ({ type, resource }) => type === 'remove' && this.#journals.delete(`${resource.metadata.site}/${resource.metadata.name}`));
    store.watch(ControlModule, (event) => this.#moduleChanged(event));
  }

  /** Begins to look for late scans. */
  start(): void {
    this.#cancel = this.#parts.clock.after(OVERRUN_LOOK_MS, () => {
      for (const link of this.#parts.runtimes.links()) guarded('journal: look at late scans', () => this.#lookAtScans(link));
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  events(site: string, unit: string): BoundedLog<UnitEvent> {
    return this.#of(site, unit).events;
  }

  /** An event that no message of the worker tells of; a warning goes to the log too. */
  tell(site: string, unit: string, type: UnitEvent['type'], { atMs = this.#parts.clock.wallMs(), reason, message, object }: Told): void {
    if (unit === '') return;
    this.#of(site, unit).events.push({ atMs, type, reason, message, object });
    if (type === 'Warning') this.#parts.log.warn({ site, unit, reason, object }, message);
  }

  #of(site: string, unit: string): Journal {
    const key = `${site}/${unit}`;
    let journal = this.#journals.get(key);
    if (!journal) this.#journals.set(key, (journal = { events: new BoundedLog('unit-events', EVENTS_MAX), states: new Map(), overruns: 0, missed: 0, epoch: 0 }));
    return journal;
  }

  /** What people set on a module: its mode, the bypass of its interlocks. */
  #moduleChanged({ type, resource, before }: StoreEvent): void {
    if (type === 'remove' || !before) return;
    const [now, then] = [resource, before] as [Module, Module];
    const { site, name } = now.metadata;
    const tell = (kind: UnitEvent['type'], reason: string, message: string): void =>
      this.tell(site, unitOf(this.#parts.store, site, now.spec), kind, { reason, message, object: `ControlModule/${name}` });
    if (now.spec.mode !== then.spec.mode) tell('Normal', 'ModeChanged', `${then.spec.mode || 'Automatic'} to ${now.spec.mode || 'Automatic'}`);
    const bypass = now.status.interlockBypass;
    if (bypass === then.status.interlockBypass || !bypass) return;
    if (bypass.active) tell('Warning', 'InterlockBypassed', `${bypass.interlocks.join(', ')} until ${bypass.until} by ${bypass.by}: ${bypass.reason}`);
    else if (then.status.interlockBypass?.active) tell('Normal', 'InterlockBypassEnded', then.status.interlockBypass.interlocks.join(', '));
  }

  #changed(link: UnitLink, what: 'ready' | 'down' | 'plan'): void {
    const object = `Unit/${link.unit}`;
    if (what === 'ready') this.tell(link.site, link.unit, 'Normal', { reason: 'RuntimeReady', message: `runtime ${link.epoch} of the unit scans`, object });
    if (what === 'down') this.tell(link.site, link.unit, 'Warning', { reason: 'RuntimeDown', message: link.message, object });
  }

  #take(link: UnitLink, message: UnitOutbound): void {
    const { site, unit } = link;
    const about = (name: string): string => `Phase/${name}`;
    switch (message.type) {
      case 'plan-loaded':
        return this.#loaded(link, message.revision, message.networks);
      case 'network':
        return this.#reported(link, message);
      case 'shadow-trip':
        return this.tell(site, unit, 'Warning', {
          reason: 'InterlockShadowTrip',
          message: `interlock ${message.block} would have tripped; it is bypassed`,
          object: `ControlModule/${message.module}`,
          atMs: message.atMs,
        });
      case 'phase':
        if (message.state === message.previousState) return;
        return this.tell(site, unit, 'Normal', {
          reason: 'StateChanged',
          message: `${message.previousState} to ${message.state}${message.cause === '' ? '' : ` by ${message.cause}`}`,
          object: about(message.phase),
          atMs: message.atMs,
        });
      case 'command-result':
        if (message.accepted) return;
        return this.tell(site, unit, 'Warning', {
          reason: 'CommandRejected',
          message: `${message.command}: ${message.message ?? message.rule ?? ''}`,
          object: about(message.phase),
        });
      case 'alarm':
        return this.tell(site, unit, 'Warning', { reason: 'PhaseAlarm', message: message.message, object: about(message.phase), atMs: message.atMs });
      case 'event':
        return this.tell(site, unit, 'Normal', { reason: 'PhaseEvent', message: message.text, object: about(message.phase), atMs: message.atMs });
      default:
        return;
    }
  }

  #loaded(link: UnitLink, revision: number, networks: readonly NetworkReport[]): void {
    const journal = this.#of(link.site, link.unit);
    const first = journal.epoch !== link.epoch;
    if (first) Object.assign(journal, { epoch: link.epoch, overruns: 0, missed: 0 });
    const message = `plan ${revision} with ${networks.length} networks${first ? '' : '; unchanged blocks keep their state'}`;
    this.tell(link.site, link.unit, 'Normal', { reason: first ? 'PlanLoaded' : 'HotSwapped', message, object: `Unit/${link.unit}` });
    for (const report of networks) this.#reported(link, report);
  }

  #reported(link: UnitLink, { network, state, message, faultedBlocks }: NetworkReport): void {
    const { states } = this.#of(link.site, link.unit);
    const before = states.get(network);
    states.set(network, state);
    const object = `ControlProgram/${network}`;
    if (state === 'Degraded') this.tell(link.site, link.unit, 'Warning', { reason: 'BlockFaulted', message: `skipped in the last scan: ${faultedBlocks.join(', ')}`, object });
    else if (state === 'Error') this.tell(link.site, link.unit, 'Warning', { reason: 'NetworkError', message, object });
    else if (before !== undefined && before !== 'Running') this.tell(link.site, link.unit, 'Normal', { reason: 'Recovered', message: `no longer ${before}`, object });
  }

  /** Statistics of a worker count from its start, so a smaller number means another worker. */
  #lookAtScans(link: UnitLink): void {
    const journal = this.#of(link.site, link.unit);
    const { overruns, missed, heartbeatMonoMs } = link.statistics();
    if (heartbeatMonoMs < link.startedMonoMs) return; // nothing published since the worker began, or its new table is empty
    const more = (now: number, before: number): number => (now >= before ? now - before : now);
    const late = more(overruns, journal.overruns);
    const skipped = more(missed, journal.missed);
    Object.assign(journal, { overruns, missed });
    if (late === 0 && skipped === 0) return;
    this.tell(link.site, link.unit, 'Warning', {
      reason: 'ScanOverrun',
      message: `${late} scans took longer than their period and ${skipped} periods were skipped in the last ${OVERRUN_LOOK_MS / 1000} s`,
      object: `Unit/${link.unit}`,
    });
  }
}

/** `<site>/<unit>` of a log line that is about a unit: by its members, or as the key of the unit reconciler. */
export function unitOfLogLine({ site, unit, reconciler, name }: Readonly<Record<string, unknown>>): string | undefined {
  const about = unit ?? (reconciler === 'unit' ? name : undefined);
  return typeof site === 'string' && typeof about === 'string' ? `${site}/${about}` : undefined;
}
